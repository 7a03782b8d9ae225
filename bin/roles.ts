/**
 * `node bin/roles.ts <folder> < <file with the superuser's address>`: makes the database `svc` and its two roles on a Postgres of
 * yours, with the passwords that `bin/secrets.ts` put into the folder, and writes their addresses into `database_url` and
 * `database_owner_url`. A second call gives the roles these passwords again and leaves the database as it is. In containers
 * deploy/postgres/init.sh does it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { explained } from '../db/outage.ts';
import { runCommand } from '../process/run.ts';

const DATABASE = 'svc';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("usage: node bin/roles.ts <folder> < <file with the superuser's address>\n");
  process.exit(2);
}
await runCommand(async () => {
  const superuser = new URL(readFileSync(0, 'utf8').trim());
  const client = new pg.Client({ connectionString: superuser.href });
  await client.connect().catch((error: unknown) => Promise.reject(explained(error)));
  try {
    await makeRole(client, superuser, {
      role: 'svc_owner',
      passwordFile: 'database_owner_password',
      addressFile: 'database_owner_url',
    });
    await makeRole(client, superuser, { role: 'svc_app', passwordFile: 'database_app_password', addressFile: 'database_url' });
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    // Of a managed Postgres nobody is superuser, and a database is given only to a role that one is a member of.
    await client.query('grant svc_owner to current_user');
    if (rowCount === 0) await client.query(`create database ${DATABASE} owner svc_owner`);
    await client.query(`revoke all on database ${DATABASE} from public`);
    await client.query(`grant connect on database ${DATABASE} to svc_app`);
  } finally {
    await client.end();
  }
  process.stdout.write(`${superuser.host} has the database ${DATABASE} and the roles svc_owner and svc_app\n`);
});

/** A role that may sign in, and its address for this server, parameters (such as sslmode) included. */
async function makeRole(
  client: pg.Client,
  superuser: URL,
  { role, passwordFile, addressFile }: { readonly role: string; readonly passwordFile: string; readonly addressFile: string },
): Promise<void> {
  const password = readFileSync(join(folder as string, passwordFile), 'utf8').trim();
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  const verb = rowCount === 0 ? 'create' : 'alter';
  await client.query(`${verb} role ${role} login password ${client.escapeLiteral(password)}`);
  const address = new URL(superuser.href);
  Object.assign(address, { username: role, password, pathname: `/${DATABASE}` });
  writeFileSync(join(folder as string, addressFile), address.href);
}
