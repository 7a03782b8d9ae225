import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** Where a Temporal server keeps its rows. */
export interface TemporalDatabase {
  /** Of the role, too. */
  readonly database: string;
  readonly visibility: string;
  readonly password: string;
  /** host:port of Postgres. */
  readonly address: string;
}

/** The schema of each database, as the sql tool brings it. */
const SCHEMAS = { database: 'postgresql/v12/temporal', visibility: 'postgresql/v12/visibility' } as const;

/**
 * Two databases and a role of the name `database`, with the newest schema the sql tool knows. The role gets a new password at every
 * call, so that none has to be kept: a server that runs with an older one is cut off at its next connection. A second call on
 * databases that exist updates their schema.
 */
export async function prepareTemporalDatabase(superUrl: string, database: string, sqlTool: string): Promise<TemporalDatabase> {
  const { host, hostname, port } = new URL(superUrl);
  const made = { database, visibility: `${database}_visibility`, password: randomBytes(24).toString('base64url'), address: host };
  const client = new pg.Client({ connectionString: superUrl });
  client.on('error', () => {});
  await client.connect();
  const isNew: Record<string, boolean> = {};
  try {
    const role = client.escapeIdentifier(database);
    const roles = await client.query('select 1 from pg_roles where rolname = $1', [database]);
    await client.query(
      `${roles.rowCount === 0 ? 'create' : 'alter'} role ${role} login password ${client.escapeLiteral(made.password)}`,
    );
    for (const name of [made.database, made.visibility]) {
      const known = await client.query('select 1 from pg_database where datname = $1', [name]);
      isNew[name] = known.rowCount === 0;
      if (!isNew[name]) continue;
      await client.query(`create database ${client.escapeIdentifier(name)} owner ${role}`);
      await client.query(`revoke all on database ${client.escapeIdentifier(name)} from public`);
    }
  } finally {
    await client.end();
  }
  const env = {
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: database,
    SQL_PASSWORD: made.password,
    SQL_PLUGIN: 'postgres12_pgx',
  };
  for (const store of ['database', 'visibility'] as const) {
    const tool = (...args: string[]) => run(sqlTool, ['--db', made[store], ...args], { env, timeout: 60_000 });
    if (isNew[made[store]]) await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '--schema-name', SCHEMAS[store]);
  }
  return made;
}
