import pg from 'pg';

/**
 * Makes `svc_owner` (owns the service's databases, runs migrations) and `svc_app` (what the service connects as; no rights until
 * migrations grant some). Throws if they exist.
 */
export async function createRoles(superUrl: string, passwords: { ownerPassword: string; appPassword: string }): Promise<void> {
  await withClient(superUrl, async (client) => {
    const password = (text: string): string => client.escapeLiteral(text);
    await client.query(`CREATE ROLE svc_owner LOGIN PASSWORD ${password(passwords.ownerPassword)}`);
    await client.query(`CREATE ROLE svc_app LOGIN PASSWORD ${password(passwords.appPassword)}`);
  });
}

/**
 * Makes a database owned by `svc_owner` to which only the two roles may connect; a copy of `template`, if given, which
 * nobody may be connected to meanwhile. `superUrl` is of any other database of the cluster. Throws if it exists.
 */
export async function createDatabase(superUrl: string, name: string, template?: string): Promise<void> {
  await withClient(superUrl, async (client) => {
    const database = client.escapeIdentifier(name);
    const from = template === undefined ? '' : ` TEMPLATE ${client.escapeIdentifier(template)}`;
    await client.query(`CREATE DATABASE ${database} OWNER svc_owner${from}`);
    await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
    await client.query(`GRANT CONNECT ON DATABASE ${database} TO svc_app`);
  });
}

/** Drops a database and its open connections. Does nothing if there is none of that name. */
export async function dropDatabase(superUrl: string, name: string): Promise<void> {
  await withClient(superUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`));
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
