import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../domain/errors.ts';

/** The query of a request as it stands there, without its `?`; empty when there is none. */
export function searchOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

/** Query parameters by name. Throws invalid_parameter when one is repeated. */
export function readQuery(search: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  if (search === '') return query;
  for (const [name, value] of new URLSearchParams(search)) {
    if (query.has(name)) throw new ServiceError('invalid_parameter', `${name} is given twice`, { parameter: name });
    query.set(name, value);
  }
  return query;
}
