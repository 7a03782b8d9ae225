import { afterEach, expect, test } from 'vitest';
import { listWatched } from '../../modules/settlement/store/sweep.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { watchAuthorizations } from '../../modules/settlement/use/watch/watch.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { attempt, mine, sendAll, spend, stateOf, submitAlone } from '../support/faults.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';
import { query } from '../support/sql.ts';

let world: SettlementWorld;
let calls = 0;
afterEach(() => world.close());

async function start(): Promise<void> {
  const wrap = (rpc: Rpc): Rpc => ({
    ...rpc,
    request: (method, params, options) => {
      calls += 1;
      return rpc.request(method, params, options);
    },
  });
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 20, wrap });
  await mine(world, 5);
}

/** A payment of a payer whose money left after it was taken in, refused before it was sent, and as many more rows like it, past their time. */
async function flood(count: number): Promise<void> {
  const terms = termsFor(world, newAuthors(1n), { slug: 'flood' });
  const payer = await newPayer(world, terms.priceMicro);
  const broke = await paymentFor(world, payer, terms);
  await attempt(world, terms, broke);
  await spend(world, addressOf(payer), newWallet(), terms.priceMicro);
  await sendAll(world);
  expect(await stateOf(world, broke)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  const columns = await world.database.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_schema = 'public' and table_name = 'payment' order by ordinal_position",
  );
  const other: Readonly<Record<string, string>> = {
    payment_id: 'gen_random_uuid()',
    nonce: "'0x' || encode(sha256(n::text::bytea), 'hex')",
    valid_before: 'extract(epoch from now())::bigint - 30',
    checked_at: 'null',
  };
  const names = columns.map(({ name }) => name);
  await world.database.query(
    `insert into test.payment (${names.join(', ')}) select ${names.map((name) => other[name] ?? name).join(', ')}
       from (select * from payment where nonce = $2) one, generate_series(1, $1) n`,
    [count, broke.authorization.nonce],
  );
}

test('a thousand refusals of throw-away payers cost a round of the sweeper tens of calls to the node, not thousands', async () => {
  await start();
  await flood(1_000);
  await mine(world, 3);
  calls = 0;
  await sweepNetwork(world.deps, world.network.id);
  expect(calls).toBeLessThan(60);
});

test('refusals that cost nobody anything keep no sent payment from its turn, and a fresh row does not come before an older one', async () => {
  await start();
  const terms = termsFor(world, newAuthors(1n), { slug: 'sent' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  await attempt(world, terms, payment);
  const batchId = await sendAll(world);
  await world.database.query(
    "update test.payment set state = 'failed', reason = 'settlement_failed', batch_id = $2, tx_hash = null where nonce = $1",
    [payment.authorization.nonce, batchId],
  );
  await flood(50);
  await world.database.query('update test.payment set checked_at = now() where nonce = $1', [payment.authorization.nonce]);
  const watched = await listWatched(world.database, world.network.id, 10, 0);
  expect(watched.map(({ nonce }) => nonce)).toContain(payment.authorization.nonce);
  const old = await paymentFor(world, await newPayer(world), terms);
  await attempt(world, terms, old);
  await query(
    world.ownerUrl,
    "update test.payment set state = 'failed', reason = 'settlement_failed', accepted_at = now() - interval '1 hour', checked_at = now() - interval '1 minute' where nonce = $1",
    [old.authorization.nonce],
  );
  const [first] = (await listWatched(world.database, world.network.id, 10, 0)).filter(({ facts }) => facts.batchId === null);
  expect(first?.nonce).toBe(old.authorization.nonce);
});

test('among a flood of unused authorizations, the one that a stranger submitted is settled in the same round', async () => {
  await start();
  const terms = termsFor(world, newAuthors(1n), { slug: 'late' });
  const late = await paymentFor(world, await newPayer(world), terms);
  await attempt(world, terms, late);
  await world.database.query("update test.payment set state = 'failed', reason = 'settlement_failed' where nonce = $1", [
    late.authorization.nonce,
  ]);
  await flood(300);
  await submitAlone(world, late);
  await sweepNetwork(world.deps, world.network.id);
  expect(await stateOf(world, late)).toMatchObject({ state: 'settled' });
});

test('a step whose time is spent stops between two rounds, and goes on with the others in the next sweep', async () => {
  await start();
  await flood(450);
  const lookedAt = async () => {
    const rows = await world.database.query<{ n: number }>(
      'select count(*)::int as n from payment where checked_at is not null and valid_before < extract(epoch from now())',
    );
    return rows[0]?.n;
  };
  let rounds = 0;
  await watchAuthorizations(world.deps, world.network.id, { isSpent: () => rounds++ > 0 });
  expect(await lookedAt()).toBe(200);
  await watchAuthorizations(world.deps, world.network.id);
  expect(await lookedAt()).toBe(450);
});
