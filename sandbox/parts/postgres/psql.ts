/**
 * As much of `psql -XAtq -v ON_ERROR_STOP=1` as deploy/postgres/base-backup.sh needs, for machines without it: one session, a statement
 * a line, the first column of every row. Connects by the PG… variables.
 */
import { createInterface } from 'node:readline';
import pg from 'pg';

const client = new pg.Client();
await client.connect();
try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { rows } = await client.query({ text: line, rowMode: 'array' });
    for (const [value] of rows as unknown[][]) process.stdout.write(`${String(value ?? '')}\n`);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 3;
}
await client.end();
