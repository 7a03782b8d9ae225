import type { Database, DatabaseOptions } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';

/** The tables' owner (DATABASE_OWNER_URL, undefined where it is not set), and what a command wants it for, as a refusal says it. */
export interface OwnerAsked extends Pick<DatabaseOptions, 'statementTimeoutMs'> {
  readonly url: string | undefined;
  readonly what: string;
}

/** Does work as the tables' owner, whose connection it closes. Throws invalid_parameter where nobody says who that is. */
export async function withOwner<T>({ url, what, ...options }: OwnerAsked, work: (owner: Database) => Promise<T>): Promise<T> {
  if (url === undefined) throw new ServiceError('invalid_parameter', `DATABASE_OWNER_URL must be set ${what}`);
  const owner = await openDatabase({ ...options, url, poolSize: 1, applicationName: 'svc admin' });
  try {
    return await work(owner);
  } finally {
    await owner.close();
  }
}
