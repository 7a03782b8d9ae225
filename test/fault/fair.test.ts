/** What one payer or one site can cost the relayer and the others, on a real chain. */
import { randomBytes, randomUUID } from 'node:crypto';
import { encodeDeployData, parseAbi } from 'viem';
import { afterEach, expect, test } from 'vitest';
import walletArtifact from '../../contracts/artifacts/test/TestWallet.json' with { type: 'json' };
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex, ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { parsePayment } from '../../modules/kernel/x402/payload.ts';
import { openFlights } from '../../modules/settlement/use/batch/flights.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { attempt, chainCall, claimAndSend, look, mine, sendAll, stateOf } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { scaled } from '../support/patience.ts';
import { addressOf, newAccount, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';
import { query } from '../support/sql.ts';

const walletAbi = parseAbi(['constructor(address owner, uint256 gasToBurn)']);
/** Accepts every signature. */
const YES_CODE = '0x631626ba7e60e01b60005260206000f3';
/** Accepts every signature in `eth_call`, and burns all its gas in a transaction. */
const BURNING_CODE = `0x3215600b57fe00000000005b7f1626ba7e${'00'.repeat(28)}60005260206000f3`;

let world: SettlementWorld;
afterEach(async () => {
  try {
    await checkInvariants(world);
  } finally {
    await world.close();
  }
});
const start = async (): Promise<void> => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 10 });
  await mine(world, 5);
};

/** A wallet of this code, with money. */
async function walletOf(code: string, amountMicro: bigint): Promise<Address> {
  const wallet = newWallet();
  await chainCall(world, 'anvil_setCode', wallet, code);
  await world.fund(wallet, amountMicro);
  return wallet;
}

async function honestWallet(owner: string): Promise<Address> {
  const data = encodeDeployData({ abi: walletAbi, bytecode: walletArtifact.bytecode as Hex, args: [owner as Hex, 0n] });
  const [from] = await chainCall<string[]>(world, 'eth_accounts');
  const hash = await chainCall<Hex>(world, 'eth_sendTransaction', { from, data });
  let receipt: { contractAddress: Address } | null = null;
  while (!receipt) receipt = await chainCall(world, 'eth_getTransactionReceipt', hash);
  await world.fund(receipt.contractAddress, 10_000n);
  return receipt.contractAddress;
}

/** Sends and looks until nothing waits that can be sent; the receipts of the batches, in order. */
async function sendEverything(): Promise<readonly { readonly status: string; readonly gas: number }[]> {
  const receipts = [];
  for (let round = 0; round < 40; round += 1) {
    const batchId = await sendAll(world);
    const [sent] = await world.database.query<{ tx_hash: Hex }>('select tx_hash from relayer_transaction where batch_id = $1', [
      batchId,
    ]);
    if (!sent) return receipts;
    await look(world, batchId);
    const receipt = await chainCall<{ status: string; gasUsed: string }>(world, 'eth_getTransactionReceipt', sent.tx_hash);
    receipts.push({ status: receipt.status, gas: Number(receipt.gasUsed) });
  }
  throw new Error('batches do not end');
}

const strikes = async (payer: string) =>
  (await world.database.query<{ strikes: number }>('select strikes from payer_strike where payer = $1', [payer]))[0]?.strikes ??
  0;

test('a signature of 4 KiB is malformed, and with the longest that is taken every batch is mined and an innocent buyer beside them pays', async () => {
  await start();
  const authors = newAuthors(2n, 1n);
  const signer = newAccount();
  const text = (bytes: number) => {
    const signature = `0x${'11'.repeat(bytes)}`;
    const authorization = {
      from: newWallet(),
      to: newWallet(),
      value: '1',
      validAfter: '0',
      validBefore: '1',
      nonce: `0x${'11'.repeat(32)}`,
    };
    return JSON.stringify({ x402Version: 1, scheme: 'exact', network: 'base', payload: { signature, authorization } });
  };
  expect(parsePayment(text(4_096))).toMatchObject({ ok: false, reason: 'malformed_payment' });
  expect(parsePayment(text(1_536))).toMatchObject({ ok: true });
  const payments = [];
  for (let page = 0; page < 22; page += 1) {
    const terms = termsFor(world, authors, { slug: `page${page}` });
    const from = await walletOf(YES_CODE, 1_000n);
    const signed = await paymentFor(world, signer, terms, { from });
    const payment = { ...signed, signature: `0x${randomBytes(1_536).toString('hex')}` as Hex };
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    payments.push(payment);
  }
  const owner = newAccount();
  const terms = termsFor(world, authors, { slug: 'page0' });
  const innocent = await paymentFor(world, owner, terms, { from: await honestWallet(addressOf(owner)) });
  expect((await attempt(world, terms, innocent)).code).toBe('settlement_pending');
  const receipts = await sendEverything();
  expect(receipts.map(({ status }) => status)).toEqual(receipts.map(() => '0x1'));
  for (const payment of [...payments, innocent]) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a wallet of code with money for one of ninety payments costs no more than five failed ones an hour, and is refused from then on', async () => {
  await start();
  const evil = await walletOf(BURNING_CODE, 1_000n);
  const signer = newAccount();
  const authors = newAuthors(1n);
  const codes: string[] = [];
  let gas = 0;
  for (let page = 0; page < 90; page += 1) {
    const terms = termsFor(world, authors, { slug: `page${page}` });
    codes.push((await attempt(world, terms, await paymentFor(world, signer, terms, { from: evil }))).code);
    if (page % 10 === 9) for (const receipt of await sendEverything()) gas += receipt.gas;
  }
  const ends = new Set(codes);
  expect([...ends].sort()).toEqual(['payer_limited', 'settlement_pending']);
  // Five items of 250,000 gas and what each takes beside its cap.
  expect(gas).toBeLessThan(5 * 330_000);
  expect(await strikes(evil)).toBeLessThanOrEqual(5);
  expect(await world.database.query("select 1 as one from payment where state in ('accepted', 'broadcast')")).toEqual([]);
});

test('rows of a wallet of code that were taken in before its strikes are not sent after them, and never more than three at once', async () => {
  await start();
  const evil = await walletOf(BURNING_CODE, 90_000n);
  const signer = newAccount();
  const authors = newAuthors(1n);
  for (let page = 0; page < 30; page += 1) {
    const terms = termsFor(world, authors, { slug: `page${page}` });
    const payment = await paymentFor(world, signer, terms, { from: evil });
    // Hidden from admission, as if several API processes had let them in at once.
    await world.database.query("update test.payment set payer_kind = 'plain'");
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  }
  await world.database.query("update test.payment set payer_kind = 'contract'");
  let gas = 0;
  for (const receipt of await sendEverything()) gas += receipt.gas;
  const [sent] = await world.database.query<{ most: number }>('select max(batch_size)::int as most from payment');
  expect(sent?.most).toBeLessThanOrEqual(3);
  expect(gas).toBeLessThan(5 * 330_000);
  expect(await strikes(evil)).toBe(5);
  const refused = await world.database.query<{ count: number }>(
    "select count(*)::int as count from payment where raw_reason = 'payer_struck' and state = 'failed'",
  );
  expect(refused[0]?.count).toBeGreaterThan(0);
});

test('a strike is written with the decision it belongs to, and what must wait for its payer starts no batch after batch', async () => {
  await start();
  const evil = await walletOf(BURNING_CODE, 90_000n);
  const signer = newAccount();
  for (let page = 0; page < 3; page += 1) {
    const terms = termsFor(world, newAuthors(1n), { slug: `page${page}` });
    await attempt(world, terms, await paymentFor(world, signer, terms, { from: evil }));
  }
  const terms = termsFor(world, newAuthors(1n), { slug: 'page3' });
  const fourth = await paymentFor(world, signer, terms, { from: evil });
  expect((await attempt(world, terms, fourth)).code).toBe('payer_limited');
  await world.database.query("update test.payment set payer_kind = 'plain'");
  expect((await attempt(world, terms, fourth)).code).toBe('settlement_pending');
  await world.database.query("update test.payment set payer_kind = 'contract'");
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  const again = { network: world.network.id, batchId: randomUUID() };
  expect(await claimAndSend(world.deps, again)).toEqual({ kind: 'busy', others: 'later' });
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world);
  // A process that dies right after its decisions has counted them.
  const { database } = world;
  const query: typeof database.query = (statement, ...rest) =>
    statement.includes('payer_strike') ? Promise.reject(new Error('died')) : database.query(statement, ...rest);
  await look(world, batchId, { ...world.deps, database: { ...database, query } });
  expect(await strikes(evil)).toBe(3);
});

test('what waits for its payer goes out as soon as others of it have landed, without a sweep or a notification', async () => {
  await start();
  const wallet = await walletOf(YES_CODE, 10_000n);
  const signer = newAccount();
  const payments: ParsedPayment[] = [];
  for (let page = 0; page < 4; page += 1) {
    const terms = termsFor(world, newAuthors(1n), { slug: `page${page}` });
    const payment = await paymentFor(world, signer, terms, { from: wallet });
    // Hidden from admission, as if two API processes had let them in at once.
    await world.database.query("update test.payment set payer_kind = 'plain'");
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    payments.push(payment);
  }
  await world.database.query("update test.payment set payer_kind = 'contract'");
  const flights = openFlights(world.deps, async () => true);
  flights.wake(world.network.id);
  const states = async () => (await Promise.all(payments.map((payment) => stateOf(world, payment)))).map((row) => row?.state);
  await expect.poll(states, { timeout: scaled(20_000) }).toEqual(payments.map(() => 'settled'));
  await flights.close();
});

test('a wallet of code is sent no more payments than its money pays, counted one after the other', async () => {
  await start();
  const wallet = await walletOf(YES_CODE, 2_500n);
  const signer = newAccount();
  const payments = [];
  for (let page = 0; page < 3; page += 1) {
    const terms = termsFor(world, newAuthors(1n), { slug: `page${page}` });
    const payment = await paymentFor(world, signer, terms, { from: wallet });
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    payments.push(payment);
  }
  expect(await sendEverything()).toHaveLength(1);
  const states = await Promise.all(payments.map((payment) => stateOf(world, payment)));
  expect(states.map((row) => row?.state).sort()).toEqual(['failed', 'settled', 'settled']);
  expect(states.find((row) => row?.state === 'failed')).toMatchObject({ reason: 'insufficient_funds' });
  expect(await strikes(wallet)).toBe(0);
});

test('a site with 420 payments of fifty authors keeps another waiting for no batch, and is itself refused with 503 beyond its share', async () => {
  await start();
  const payers = [await newPayer(world, 10_000_000n), await newPayer(world, 10_000_000n)];
  const codes: string[] = [];
  for (let page = 0; page < 420; page += 1) {
    const terms = termsFor(world, newAuthors(...Array.from({ length: 50 }, () => 1n)), {
      slug: `page${page}`,
      priceMicro: 1_000n,
    });
    const payer = payers[page % payers.length] ?? newAccount();
    codes.push((await attempt(world, terms, await paymentFor(world, payer, terms))).code);
  }
  const refused = codes.filter((code) => code === 'overloaded').length;
  expect(refused).toBeGreaterThan(300);
  // As if far more had been let in before an outage: the other site does not pay for that.
  await query(world.ownerUrl, "update test.payment set planned_gas = 10 * planned_gas where state = 'accepted'");
  const other = randomUUID();
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [other]);
  const terms = { ...termsFor(world, newAuthors(1n), { slug: 'honest' }), tenantId: other };
  const honest = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, honest)).code).toBe('settlement_pending');
  const batchId = randomUUID();
  const sent = await claimAndSend(world.deps, { network: world.network.id, batchId });
  await look(world, batchId);
  expect(await stateOf(world, honest)).toMatchObject({ state: 'settled' });
  expect(sent.others).toBe('now');
  expect((await sendEverything()).every(({ status }) => status === '0x1')).toBe(true);
  expect(await world.database.query("select 1 as one from payment where state = 'accepted'")).toEqual([]);
});

test('a site whose batches fill the queue keeps the last place from no other: its sale is sent at once, though nothing was mined', async () => {
  await start();
  const [payer, buyer] = [await newPayer(world, 10_000_000n), await newPayer(world)];
  await chainCall(world, 'evm_setAutomine', false);
  for (let made = 0; made < 8; made += 1) {
    const terms = termsFor(world, newAuthors(1n), { slug: `busy-${made}` });
    await attempt(world, terms, await paymentFor(world, payer, terms));
    await sendAll(world);
  }
  const unmined = () => world.database.query("select 1 as one from settlement_batch where state = 'open'");
  expect(await unmined()).toHaveLength(3);
  const other = randomUUID();
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [other]);
  const terms = { ...termsFor(world, newAuthors(1n), { slug: 'newcomer' }), tenantId: other };
  const newcomer = await paymentFor(world, buyer, terms);
  await attempt(world, terms, newcomer);
  const batchId = await sendAll(world);
  expect(await unmined()).toHaveLength(4);
  expect(await stateOf(world, newcomer)).toMatchObject({ state: 'broadcast' });
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world);
  await look(world, batchId);
  expect(await stateOf(world, newcomer)).toMatchObject({ state: 'settled' });
  await sweepNetwork(world.deps, world.network.id);
  await sendEverything();
});
