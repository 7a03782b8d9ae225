import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { forgetWhatEnded } from '../../services/operations/forget.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

test('the nightly round forgets used proofs, scopes, request keys and strikes that ended, keeps the others, and finds nothing again', async () => {
  const tenantId = await insertTenant(database);
  for (const age of ['-3 days', '1 minute']) {
    await database.query('insert into used_proof (tenant_id, jti, nonce, expires_at) values ($1, $2, $3, now() + $4::interval)', [
      tenantId,
      randomUUID(),
      'nonce',
      age,
    ]);
    await database.query(
      `insert into idempotency_key (tenant_id, key, request_hash, created_at) values ($1, $2, 'hash', now() + $3::interval)`,
      [tenantId, randomUUID(), age],
    );
  }
  await database.query(
    `insert into payer_strike (network, payer, last_at) values ('eip155:84532', 'old', now() - interval '3 hours'),
       ('eip155:84532', 'new', now())`,
  );
  const deps = { database, clock: Date.now };
  expect(await forgetWhatEnded(deps)).toBe(3);
  expect(await forgetWhatEnded(deps)).toBe(0);
  const [left] = await database.query(
    `select (select count(*)::int from used_proof) as proofs, (select count(*)::int from idempotency_key) as keys,
       (select array_agg(payer) from payer_strike) as strikes`,
  );
  expect(left).toEqual({ proofs: 1, keys: 1, strikes: ['new'] });
});
