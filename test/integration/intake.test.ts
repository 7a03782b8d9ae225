/** How a payment comes to its row: what is read before it, and the database transaction that writes it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { AuthorizationKey } from '../../modules/settlement/store/intake.ts';
import { listByAuthorization } from '../../modules/settlement/store/intake.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement({ runBatches: false, waitMs: 50 });
});
afterAll(() => world.close());

/** The world's database, which calls `meet` with the name of each statement that has one. */
function watched(meet: (name: string) => Promise<void>): Database {
  const { database } = world;
  const ask: Sql['query'] = async (statement, values, name) => {
    if (name !== undefined) await meet(name);
    return database.query(statement, values, name);
  };
  return { ...database, query: ask };
}

/** One payment offered for a page, by these deps. */
async function offer(
  slug: string,
  deps: Partial<SettlementWorld['settleDeps']>,
  { signature, ...named }: { readonly signature?: `0x${string}`; readonly idempotencyKey?: string } = {},
) {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payment = { ...(await paymentFor(world, await newPayer(world), terms)), ...(signature ? { signature } : {}) };
  const { tenantId } = terms;
  return settle({ ...world.settleDeps, ...deps }, { tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, ...named });
}

test('what is asked of a new payment is asked side by side: the database waits for no node, nor the node for the database', async () => {
  const both = Promise.withResolvers<void>();
  let asked = 0;
  const meet = (): Promise<void> => {
    asked += 1;
    if (asked === 2) both.resolve();
    return both.promise;
  };
  const rpc: Rpc = { ...world.rpc, request: async (...given) => meet().then(() => world.rpc.request(...given)) };
  const database = watched(async (name) => (name === 'read-admissions' ? meet() : undefined));
  await expect(offer('side-by-side', { database, rpcOf: () => rpc })).rejects.toMatchObject({ code: 'settlement_pending' });
});

test('a signature that is not the payer’s asks for no admission and looks at no nonce', async () => {
  const names: string[] = [];
  const calls: unknown[] = [];
  const request: Rpc['request'] = (...given) => {
    calls.push(given);
    return world.rpc.request(...given);
  };
  const database = watched(async (name) => void names.push(name));
  const refused = offer(
    'unsigned',
    { database, rpcOf: () => ({ ...world.rpc, request }) },
    { signature: `0x${'11'.repeat(64)}1b` },
  );
  await expect(refused).rejects.toMatchObject({ code: 'authorization_invalid' });
  expect(names).not.toContain('read-admissions');
  expect(calls).toHaveLength(1); // whether a wallet of code stands there
});

test('an authorization is never claimed without its payment, not even where the database transaction did not begin', async () => {
  const begunInVain: Database = {
    ...world.database,
    shortTransaction: async (work) => (await work(world.database))(),
  };
  const before = await claims();
  await expect(offer('no-transaction', { database: begunInVain })).rejects.toMatchObject({ code: '23503' });
  expect(await claims()).toBe(before);
});

test('an authorization is claimed once, and one that differs in network, token, payer or nonce alone is another', async () => {
  const [known] = await world.database.query<AuthorizationKey & Record<string, unknown>>(
    'select network, asset, payer, nonce from payment_intake limit 1',
  );
  if (!known) throw new Error('no payment was taken in before');
  const parts = ['network', 'asset', 'payer', 'nonce'] as const;
  const others = parts.map((part) => ({ ...known, [part]: `${known[part].slice(0, -1)}x` }));
  const found = await listByAuthorization(world.database, [known, ...others]);
  expect(found.map((payment) => payment?.nonce ?? null)).toEqual([known.nonce, null, null, null, null]);
  const digests = await world.database.query<{ digest: string }>(
    `select distinct authorization_digest(network, asset, payer, nonce)::text as digest
       from jsonb_to_recordset($1) as one (network text, asset text, payer text, nonce text)`,
    [JSON.stringify([known, ...others])],
  );
  expect(digests).toHaveLength(parts.length + 1);
  const again = world.database.query(
    `insert into authorization_claim (digest, tenant_id, payment_id)
     select digest, tenant_id, payment_id from authorization_claim where digest = authorization_digest($1, $2, $3, $4)`,
    parts.map((part) => known[part]),
  );
  await expect(again).rejects.toMatchObject({ code: '23505' });
});

test('one authorization shown for two purchases at once is one payment, and who is taken in with them is taken in with them', async () => {
  let transactions = 0;
  const database: Database = {
    ...world.database,
    shortTransaction: (work) => {
      transactions += 1;
      return world.database.shortTransaction(work);
    },
  };
  const authors = newAuthors(1n);
  const terms = ['twice-one', 'twice-two', 'beside'].map((slug) => termsFor(world, authors, { slug }));
  const [one, two, other] = terms as [(typeof terms)[0] & object, (typeof terms)[0] & object, (typeof terms)[0] & object];
  const shared = await paymentFor(world, await newPayer(world), one);
  const alone = await paymentFor(world, await newPayer(world), other);
  const ask = (page: typeof one, payment: typeof shared) =>
    settle(
      { ...world.settleDeps, database },
      { tenantId: page.tenantId, keyId: null, mode: 'live', terms: page, payment, agent: {} },
    );
  const codes = (await Promise.allSettled([ask(one, shared), ask(two, shared), ask(other, alone)])).map((result) =>
    result.status === 'rejected' ? result.reason.code : 'paid',
  );
  expect(codes.toSorted()).toEqual(['authorization_invalid', 'settlement_pending', 'settlement_pending']);
  expect(codes[2]).toBe('settlement_pending');
  expect(transactions).toBe(1);
});

test('one request key shown with two payments to two processes at once is the key of one of them', async () => {
  const named = { idempotencyKey: 'at-once' };
  const locked = Promise.withResolvers<void>();
  const second = locked.promise.then(() => offer('key-second', {}, named)).catch((error: { code: string }) => error.code);
  let isSecondDone = false;
  void second.then(() => (isSecondDone = true));
  const isSecondAtTheDoor = async (): Promise<boolean> => {
    const waiting = await world.database.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
    return isSecondDone || waiting.length > 0;
  };
  const beside: Database = {
    ...world.database,
    shortTransaction: (work) =>
      world.database.shortTransaction(async (sql) => {
        const finish = await work(sql);
        locked.resolve();
        await expect.poll(isSecondAtTheDoor).toBe(true);
        return finish;
      }),
  };
  const first = offer('key-first', { database: beside }, named).catch((error: { code: string }) => error.code);
  expect([await first, await second]).toEqual(['settlement_pending', 'invalid_parameter']);
});

test('a short transaction takes no statement after its commit, and leaves nothing when one fails', async () => {
  const { database } = world;
  const late = database.shortTransaction(async (sql) => async () => {
    await sql.query('select 1');
    return sql.query('select 2');
  });
  await expect(late).rejects.toThrow('a statement came after its commit');
  const failing = database.shortTransaction(async (sql) => {
    await sql.query("insert into payer_strike (network, payer) values ('vain', 'x')");
    return () => sql.query('select 1 / 0');
  });
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  expect(await database.query("select 1 from payer_strike where network = 'vain'")).toEqual([]);
});

test('where a transaction did not begin, what a short one sends behind its first answer is refused', async () => {
  const reached: string[] = [];
  const begunInVain = await openDatabase({ url: world.appUrl, poolSize: 1, pipelined: true });
  const connect = begunInVain.pool.connect.bind(begunInVain.pool);
  const failing = async () => {
    const client = await connect();
    const query = (text: string) => client.query(text === 'begin' ? 'begin in vain' : text);
    return { query, release: (error?: Error) => client.release(error) };
  };
  Object.assign(begunInVain.pool, { connect: failing });
  const work = begunInVain.shortTransaction(async (sql) => {
    await sql.query('select 1');
    reached.push('first');
    await sql.query("insert into payer_strike (network, payer) values ('x', 'in vain')");
    reached.push('second');
    return () => Promise.resolve();
  });
  await expect(work).rejects.toMatchObject({ code: '42601' });
  expect(reached).toEqual(['first']);
  expect(await world.database.query("select 1 from payer_strike where payer = 'in vain'")).toEqual([]);
  Object.assign(begunInVain.pool, { connect });
  await begunInVain.close();
});

async function claims(): Promise<unknown> {
  const [row] = await world.database.query('select count(*) from authorization_claim');
  return row?.['count'];
}
