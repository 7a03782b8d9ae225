/** What is refused before it costs anything, who carries the load, and what keeps one payment from harming another. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { concat, getContractAddress } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import artifact from '../../contracts/artifacts/SplitRouter.json' with { type: 'json' };
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { addRelayer, retireRelayer } from '../../modules/operations/use/relayers.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { deployRouterTransaction, deterministicDeployer, payToOf } from '../../platform/chain/router/split.ts';
import { transactionCount } from '../../platform/chain/transaction.ts';
import { attempt, chainCall, look, mine, sendAll, stateOf, strangerCalls, submitAlone, sweep } from '../support/faults.ts';
import type { Known } from '../support/invariants.ts';
import { checkInvariants } from '../support/invariants.ts';
import { newAccount, signPayment } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let known: Known;
const start = async (options: Parameters<typeof startSettlement>[0] = {}): Promise<void> => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, ...options });
  await mine(world, 5);
};
beforeEach(() => {
  known = {};
});
afterEach(async () => {
  try {
    await checkInvariants(world, known);
  } finally {
    await world.close();
  }
});

const offer = (slug: string, ...weights: bigint[]) =>
  termsFor(world, newAuthors(...(weights.length > 0 ? weights : [1n])), { slug });
const taken = async (terms: Terms) => {
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
};
const refusalOf = async (terms: Terms) => {
  const payment = await paymentFor(world, await newPayer(world), terms);
  const error: unknown = await pay(world, terms, payment).catch((cause: unknown) => cause);
  expect(await stateOf(world, payment)).toBeNull();
  expect(await world.database.query('select 1 as one from observation where slug = $1', [terms.slug])).toEqual([]);
  return { error, payment };
};
const alerts = async (kind: string) =>
  (await world.database.query('select tenant_id from operator_alert where kind = $1', [kind])).length;

test('when more wait than can be sent in ten seconds, the next is refused with Retry-After, without a row, until there is room', async () => {
  // Blocks of six seconds, one batch at a time: a second batch ahead is more than ten seconds of waiting.
  await start({ network: { blockTimeMs: 6_000 }, settings: { inFlightLimit: 1 } });
  await taken(offer('first'));
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', true);
  await world.database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, nonce) values (uuidv7(), $1, 'elsewhere', 'settle', 0)`,
    [world.network.id],
  );
  const terms = offer('too-many');
  const { error, payment } = await refusalOf(terms);
  expect(error instanceof ServiceError && error.kind).toBe('unavailable');
  expect(error).toMatchObject({ code: 'overloaded', details: { retryAfterSeconds: 10 } });
  await world.database.query("update settlement_batch set state = 'safe' where relayer = 'elsewhere'");
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, batchId);
  await look(world, batchId);
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a site that has used its gas of the day is refused with 503 and the operator told once; what was taken in settles', async () => {
  await start({ settings: { gasBudgetWeiPerDay: 1n } });
  const before = await taken(offer('within-budget', 2n, 1n));
  await look(world, await sendAll(world));
  expect(await stateOf(world, before)).toMatchObject({ state: 'settled' });
  for (const slug of ['over-budget-1', 'over-budget-2']) {
    const { error } = await refusalOf(offer(slug));
    expect(error).toMatchObject({ code: 'gas_budget_spent', details: { retryAfterSeconds: 3600 } });
  }
  expect(await alerts('gas_budget_spent')).toBe(1);
  const other = crypto.randomUUID();
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [other]);
  const payment = await taken({ ...offer('another-site'), tenantId: other });
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('two relayer keys share the load: when the first has no room the second sends, each with nonces of its own', async () => {
  await start({ relayers: 2, settings: { inFlightLimit: 1 } });
  const [terms, payer] = [offer('key-2'), await newPayer(world)];
  const first = await taken(offer('key-1', 1n, 1n));
  await chainCall(world, 'evm_setAutomine', false);
  const one = await sendAll(world);
  const second = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, second)).code).toBe('settlement_pending');
  const two = await sendAll(world);
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world);
  for (const batchId of [one, two]) await look(world, batchId);
  for (const payment of [first, second]) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  const counts = world.deps.relayersOf(world.network.id).map(({ address }) => transactionCount(world.rpc, address, 'latest'));
  expect(await Promise.all(counts)).toEqual([1, 1]);
});

test('with every relayer key retired a payment is refused before its row; one taken in before goes out once a key is at work', async () => {
  await start();
  const network = world.network.id;
  const [terms, late] = [offer('before-retiring'), offer('while-retired')];
  const before = await taken(terms);
  const address = world.deps.relayersOf(network)[0]?.address ?? '';
  expect((await retireRelayer(world.deps, { actor: operatorNamed('ops'), network, address })).pausedReason).toBe('retired');
  const { error, payment } = await refusalOf(late);
  expect(error).toMatchObject({ code: 'overloaded', details: { retryAfterSeconds: 30 } });
  await addRelayer(world.deps, { actor: operatorNamed('ops'), network, address });
  expect((await attempt(world, late, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  for (const one of [before, payment]) expect(await stateOf(world, one)).toMatchObject({ state: 'settled' });
});

test('a payment to a split of an older router goes through that router, and what a stranger leaves at one is paid out', async () => {
  await start();
  const salt: Hex = `0x${'11'.repeat(32)}`;
  const bytecode = artifact.bytecode as Hex;
  const older = getContractAddress({ opcode: 'CREATE2', from: deterministicDeployer, salt, bytecode }).toLowerCase() as Address;
  await strangerCalls(world, [{ to: deployRouterTransaction().to, data: concat([salt, bytecode]) }]);
  const olderTerms = (slug: string): Terms => {
    const authors = newAuthors(3n, 2n);
    const terms = termsFor(world, authors, { slug });
    const { payTo, words } = payToOf(authors, older);
    return { ...terms, payTo, legWords: words, router: older };
  };
  const [aimed, left] = [olderTerms('older'), olderTerms('older-front-run')];
  const [payment, submitted, current] = [await taken(aimed), await taken(left), await taken(offer('newer', 1n, 1n))];
  await submitAlone(world, submitted);
  for (let round = 0; round < 3; round += 1) await look(world, await sendAll(world)).catch(() => undefined);
  for (const one of [payment, submitted, current]) expect(await stateOf(world, one)).toMatchObject({ state: 'settled' });
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await sweep(world, 2);
  for (const { legs } of [aimed, left]) {
    const wallets = legs.map((leg) => leg.toAddress);
    expect(await listBalances(world.rpc, world.network, wallets)).toEqual(legs.map((leg) => leg.amountMicro));
  }
});

test('dust at a split costs no flush its gas, and is paid out once it adds up to the lowest price', async () => {
  await start();
  const terms = offer('dust', 1n, 1n);
  await taken(terms);
  await look(world, await sendAll(world));
  await world.fund(terms.payTo, 998n);
  for (let round = 0; round < 3; round += 1) expect(await flushSplits(world.deps, world.network.id)).toBe(0);
  expect(await world.database.query("select 1 as one from settlement_batch where kind = 'flush'")).toEqual([]);
  await world.fund(terms.payTo, 2n);
  known = { gifts: new Map(terms.legs.map((leg) => [leg.toAddress, 500n])) };
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await sweep(world, 2);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([0n]);
});

test('what is looked at last is asked for nobody who did not sign or holds too little, and what a stranger without money signs is no observation', async () => {
  await start();
  const terms = offer('last-look');
  let looks = 0;
  const lastLook = (): Promise<null> => {
    looks += 1;
    return Promise.resolve(null);
  };
  const codeOf = (payment: Awaited<ReturnType<typeof paymentFor>>): Promise<unknown> =>
    pay(world, terms, payment, { lastLook }).then(
      () => 'settled',
      (error: ServiceError) => error.code,
    );
  const written = async () =>
    (await world.database.query('select reason from observation where slug = $1', [terms.slug])).map(({ reason }) => reason);
  const [rich, poor] = [await newPayer(world), await newPayer(world, terms.priceMicro - 1n)];
  const signed = await paymentFor(world, rich, terms);
  const { signature } = await signPayment(world.network, newAccount(), signed.authorization);
  expect(await codeOf({ ...signed, signature }), 'made up').toBe('authorization_invalid');
  expect(await codeOf(await paymentFor(world, rich, terms, { value: terms.priceMicro - 1n }))).toBe('authorization_invalid');
  expect([looks, await written()]).toEqual([0, []]);
  expect(await codeOf(await paymentFor(world, poor, terms))).toBe('insufficient_funds');
  expect([looks, await written()]).toEqual([0, []]);
  expect(await codeOf(signed)).toBe('settlement_pending');
  expect(looks).toBe(1);
  expect(await codeOf(signed), 'the same again is known').toBe('settlement_pending');
  expect(looks).toBe(1);
  const refused = await paymentFor(world, rich, terms);
  const no = (): Promise<never> => Promise.reject(new ServiceError('not_found', 'absent'));
  await expect(pay(world, terms, refused, { lastLook: no })).rejects.toMatchObject({ code: 'not_found' });
  expect(await stateOf(world, refused)).toBeNull();
});

test('a payment that its payer cannot cover leaves nothing but what the site’s gate was shown, and its keys stay free; keys belong to what is taken with them', async () => {
  await start();
  const terms = offer('not-covered');
  const keyId = randomUUID();
  const present = async (payment: Awaited<ReturnType<typeof paymentFor>>, idempotencyKey: string): Promise<unknown> =>
    pay(world, terms, payment, { keyId, idempotencyKey }).then(
      () => 'settled',
      (error: ServiceError) => error.code,
    );
  const paymentIdentifier = `pay_${'7'.repeat(28)}`;
  const written = async () => {
    const [row] = await world.database.query(
      `select (select count(*)::int from idempotency_key) as keys, (select count(*)::int from payment_intake) as payments,
              (select count(*)::int from authorization_claim) as claims, (select count(*)::int from observation) as observations`,
    );
    return row;
  };
  const poor = await paymentFor(world, await newPayer(world, terms.priceMicro - 1n), terms);
  expect(await present({ ...poor, paymentIdentifier }, 'one')).toBe('insufficient_funds');
  expect(await written()).toEqual({ keys: 0, payments: 0, claims: 0, observations: 1 });
  const first = { ...(await paymentFor(world, await newPayer(world), terms)), paymentIdentifier };
  expect(await present(first, 'one')).toBe('settlement_pending');
  expect(await written()).toEqual({ keys: 2, payments: 1, claims: 1, observations: 1 });
  expect(await present(first, 'one')).toBe('settlement_pending');
  expect(await present(first, 'two'), 'shown again, whatever it is called').toBe('settlement_pending');
  expect(await present(await paymentFor(world, await newPayer(world), terms), 'one')).toBe('invalid_parameter');
  expect(await written()).toEqual({ keys: 2, payments: 1, claims: 1, observations: 1 });
  const [left, right] = [await newPayer(world), await newPayer(world)];
  const both = await Promise.all(
    [await paymentFor(world, left, terms), await paymentFor(world, right, terms)].map((payment) => present(payment, 'three')),
  );
  expect(both.toSorted(), 'at once').toEqual(['invalid_parameter', 'settlement_pending']);
});

test('one payment that the ledger refuses keeps no other of its batch from being recorded, and is recorded once it can be', async () => {
  await start();
  const payments = [await taken(offer('sound-1')), await taken(offer('poisoned')), await taken(offer('sound-2', 1n, 1n))];
  const owner = new pg.Client({ connectionString: world.ownerUrl });
  await owner.connect();
  await owner.query("alter table crossing add constraint poison check (slug <> 'poisoned') not valid");
  const batchId = await sendAll(world);
  await look(world, batchId);
  const states = [];
  for (const payment of payments) states.push((await stateOf(world, payment))?.state);
  expect(states).toEqual(['settled', 'broadcast', 'settled']);
  expect(await alerts('payment_unrecorded')).toBe(1);
  await owner.query('alter table crossing drop constraint poison');
  await owner.end();
  await sweep(world, 2);
  for (const payment of payments) expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
});

test('a settled payment shown with another signature gets no licence, though its nonce and terms are public', async () => {
  await start();
  const terms = offer('public-calldata');
  const payment = await taken(terms);
  await look(world, await sendAll(world));
  expect((await attempt(world, terms, payment)).code).toBe('settled');
  const thief = newAccount();
  const { signature } = await signPayment(world.network, thief, payment.authorization);
  expect((await attempt(world, terms, { ...payment, signature })).code).toBe('authorization_invalid');
  expect((await attempt(world, terms, payment)).code).toBe('settled');
});
