import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { readDatabaseGauges } from '../../modules/operations/store/gauges.ts';
import type { ReportWindow } from '../../modules/reconciliation/store/legReport.ts';
import { correctFlushed } from '../../modules/reconciliation/use/corrections.ts';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { reconcileLegs } from '../../modules/reconciliation/use/report.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { transferCall } from '../../platform/chain/calls/tokenCalls.ts';
import { receiptOf, waitForReceipt } from '../../platform/chain/evidence/receipts.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { chooseFees } from '../../platform/chain/gas/fees.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { baseFeeOf, sendRaw, signTransaction, transactionCount } from '../../platform/chain/transaction.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { fundGas } from '../../sandbox/parts/chain-setup.ts';
import { addressOf } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, runBatches, startSettlement, termsFor } from '../support/settlement.ts';

const ALWAYS: ReportWindow = { from: null, to: null };
const strangerKey = generatePrivateKey();
let world: SettlementWorld;
let stranger: `0x${string}`;

beforeAll(async () => {
  world = await startSettlement({ runBatches: false });
  stranger = addressOf(privateKeyToAccount(strangerKey));
  await fundGas(world.chain.rpcUrl, stranger);
});
afterAll(() => world?.close());
/** Each test has a site of its own; they share the chain. */
beforeEach(async () => {
  world = { ...world, tenantId: randomUUID() };
  await world.database.query(
    "insert into tenant (tenant_id, status, plan, price_usdc) values ($1, 'active', 'studio', '0.001')",
    [world.tenantId],
  );
});

const read = () => readChain(world.deps, world.network.id);
const report = (window: ReportWindow = ALWAYS, max?: number) =>
  world.database.transaction((sql) => reconcileLegs(sql, world.tenantId, window, max), 'repeatable read read only');
const query = <T extends object>(text: string, values: readonly unknown[] = []) => world.database.query<T>(text, values);

const countWaiting = async () => (await query("select 1 from payment where state = 'accepted'")).length;

/** Settles payments in one batch. */
async function settleTogether(jobs: readonly { terms: Terms; payment: ParsedPayment }[]): Promise<string[]> {
  const receipts = Promise.all(jobs.map(({ terms, payment }) => pay(world, terms, payment)));
  await expect.poll(countWaiting).toBe(jobs.length);
  await runBatches(world.deps);
  return (await receipts).map((receipt) => receipt.settlementRef ?? '');
}

async function jobFor(authors: ReturnType<typeof newAuthors>, slug: string, priceMicro: bigint) {
  const terms = termsFor(world, authors, { slug, priceMicro });
  return { terms, payment: await paymentFor(world, await newPayer(world), terms) };
}

/** Somebody else sends the authorization straight to the token, before we do. */
async function frontRun({ payment }: { payment: ParsedPayment }): Promise<void> {
  const { rpc, network } = world;
  const nonce = await transactionCount(rpc, stranger, 'latest');
  const fees = chooseFees(network, await baseFeeOf(rpc));
  const request = { chainId: network.chainId, nonce, to: network.asset, data: transferCall(payment), gasLimit: 200_000n, fees };
  const signed = await signTransaction(localSigner(strangerKey), request);
  await sendRaw(rpc, signed.raw);
  expect((await waitForReceipt(rpc, [signed.hash], { timeoutMs: 30_000 }))?.status).toBe('success');
}

test('everything settled is matched to the micro from logs the reconciler read itself, one wallet, groups and rounding included', async () => {
  const authors = newAuthors(5n, 3n, 2n);
  await settleTogether([
    await jobFor(newAuthors(1n), 'one', 1_000n),
    await jobFor(authors, 'three', 1_001n),
    await jobFor(authors, 'three', 1_003n),
    await jobFor(authors, 'three-more', 1_007n),
    await jobFor(newAuthors(7n, 7n, 7n), 'even', 1_000n),
  ]);
  await query('delete from chain_transfer');
  const nothing = await report();
  expect(nothing.settled).toEqual({ legs: 0, micro: 0n });
  expect(new Set(nothing.exceptions.map(({ reason }) => reason))).toEqual(new Set(['missing_receipt']));
  expect(nothing.outstanding).toEqual({ legs: 13, micro: 5_011n });
  await read();
  const { recorded, settled, outstanding, exceptions } = await report();
  expect(recorded).toEqual({ events: 5, grossMicro: 5_011n });
  expect(settled).toEqual({ legs: 13, micro: 5_011n });
  expect(outstanding).toEqual({ legs: 0, micro: 0n });
  expect(exceptions).toEqual([]);
});

test('evidence that is taken away or altered shows as an exception with its reason, and reading the chain again repairs it', async () => {
  const pair = newAuthors(2n, 1n);
  const jobs = [
    await jobFor(newAuthors(1n), 'wallet', 1_000n),
    await jobFor(pair, 'split', 3_000n),
    await jobFor(pair, 'split', 1_500n),
  ];
  await settleTogether(jobs);
  await read();
  expect((await report()).exceptions).toEqual([]);
  const nonceOf = (index: number): string => jobs[index]?.payment.authorization.nonce ?? '';

  await query('delete from chain_transfer where nonce = $1', [nonceOf(0)]);
  const gone = await report();
  expect(gone.exceptions).toMatchObject([{ slug: 'wallet', micro: 1_000n, reason: 'missing_receipt' }]);
  expect(gone.outstanding).toEqual({ legs: 1, micro: 1_000n });
  expect(gone.settled).toEqual({ legs: 4, micro: 4_500n });

  const [less] = [pair[1]?.wallet];
  await query('update chain_transfer set amount_micro = amount_micro - 1 where from_address = $1 and to_address = $2', [
    jobs[1]?.terms.payTo,
    less,
  ]);
  const altered = await report();
  const ofSplit = altered.exceptions.filter(({ slug }) => slug === 'split').toSorted((a, b) => Number(b.micro - a.micro));
  expect(ofSplit.map(({ toAddress, micro, reason }) => ({ toAddress: toAddress.toLowerCase(), micro, reason }))).toEqual([
    { toAddress: less, micro: 1_000n, reason: 'amount_mismatch' },
    { toAddress: less, micro: 500n, reason: 'amount_mismatch' },
  ]);
  expect(altered.settled.micro + altered.outstanding.micro).toBe(altered.recorded.grossMicro);

  await query('update chain_transfer set amount_micro = 3999 where nonce = $1', [nonceOf(1)]);
  expect((await report()).exceptions.filter(({ reason }) => reason === 'amount_mismatch')).toHaveLength(4);

  await read();
  expect(await report()).toMatchObject({
    exceptions: [],
    outstanding: { legs: 0, micro: 0n },
    settled: { legs: 5, micro: 5_500n },
  });
});

test('a round of the sweeper whose step fails is none that ended well: only those move its age back', async () => {
  const age = async () =>
    (await readDatabaseGauges(world.database, [world.network.id, 'eip155:1'])).flatMap(({ name, value, labels }) =>
      name === 'svc.settle.sweep_age' ? [[labels?.['network'], value > 1e9 ? 'never' : value > 3_600 ? 'old' : 'new']] : [],
    );
  await sweepNetwork(world.deps, world.network.id);
  expect(await age()).toEqual([
    [world.network.id, 'new'],
    ['eip155:1', 'never'],
  ]);
  await query("update chain_cursor set swept_at = now() - interval '1 day'");
  const failing = { ...world.deps, relayersOf: () => unreachable(), rpcOf: () => unreachable() };
  await sweepNetwork(failing, world.network.id);
  expect(await age()).toContainEqual([world.network.id, 'old']);
  await sweepNetwork(world.deps, world.network.id);
  expect(await age()).toContainEqual([world.network.id, 'new']);
});

function unreachable(): never {
  throw new Error('no node answers');
}

test('front-run payments are outstanding while they lie at the split, then settled by the flush, whose rounding the ledger takes over', async () => {
  const authors = newAuthors(3n, 3n, 1n);
  const jobs: Awaited<ReturnType<typeof jobFor>>[] = [];
  for (const price of [1_001n, 1_003n, 1_006n]) jobs.push(await jobFor(authors, `front-${price}`, price));
  const receipts = Promise.allSettled(jobs.map(({ terms, payment }) => pay(world, terms, payment)));
  await expect.poll(countWaiting).toBe(3);
  for (const job of jobs) await frontRun(job);
  await runBatches(world.deps);
  await expect
    .poll(
      async () => {
        await sweepNetwork(world.deps, world.network.id);
        return query("select 1 from payment where tenant_id = $1 and state in ('settled', 'final')", [world.tenantId]);
      },
      { interval: 300 },
    )
    .toHaveLength(3);
  await receipts;
  await read();
  const lying = await report();
  expect(lying.outstanding.micro).toBe(3_010n);
  expect(new Set(lying.exceptions.map(({ reason }) => reason))).toEqual(new Set(['unsettled']));

  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  const wallets = authors.map(({ wallet }) => wallet);
  await expect.poll(() => listBalances(world.rpc, world.network, [jobs[0]?.terms.payTo ?? '0x'])).toEqual([0n]);
  await expect
    .poll(
      async () => {
        await sweepNetwork(world.deps, world.network.id);
        await read();
        await correctFlushed(world.deps, world.network.id);
        return (await report()).exceptions;
      },
      { interval: 500 },
    )
    .toEqual([]);
  const after = await report();
  expect(after.recorded).toEqual({ events: 3, grossMicro: 3_010n });
  expect(after.settled.micro).toBe(3_010n);
  const ledger = await query<{ to_address: string; micro: string }>(
    'select to_address, sum(amount_micro) as micro from leg where tenant_id = $1 group by 1',
    [world.tenantId],
  );
  const balances = await listBalances(world.rpc, world.network, wallets);
  expect(Object.fromEntries(ledger.map((row) => [row.to_address, BigInt(row.micro)]))).toEqual(
    Object.fromEntries(wallets.map((wallet, index) => [wallet, balances[index]])),
  );
  const rolled = await query<{ micro: string; events: string }>(
    "select sum(micro) as micro, sum(events) as events from crossing_day where tenant_id = $1 and dimension = 'total'",
    [world.tenantId],
  );
  expect(rolled).toEqual([{ micro: '3010', events: '3' }]);
  expect(await correctFlushed(world.deps, world.network.id)).toBe(0);
});

test('after a reorg that drops a transaction, its evidence is removed and the legs are outstanding', async () => {
  const job = await jobFor(newAuthors(1n, 1n), 'reorged', 2_000n);
  const [hash] = await settleTogether([job]);
  await read();
  expect((await report()).outstanding.micro).toBe(0n);
  const rows = await query<{ block_number: string }>('select distinct block_number from chain_transfer where tx_hash = $1', [
    hash,
  ]);
  // A block is made every second, and may be between the look at the newest one and the reorg: then it was not deep enough.
  while ((await receiptOf(world.rpc, hash as `0x${string}`)) !== null) {
    const latest = BigInt(await callChain<string>(world.chain.rpcUrl, 'eth_blockNumber', []));
    const depth = Number(latest - BigInt(rows[0]?.block_number ?? 0) + 1n);
    await callChain(world.chain.rpcUrl, 'anvil_reorg', [depth, []]);
  }
  expect((await read()).vanished).toBe(1);
  expect(await query('select 1 from chain_transfer where tx_hash = $1', [hash])).toEqual([]);
  expect((await report()).exceptions).toMatchObject([{ reason: 'missing_receipt' }, { reason: 'missing_receipt' }]);
  expect((await read()).vanished).toBe(0);
});

test('the exceptions are capped oldest first while the buckets stay exact, and a window judges only its own legs', async () => {
  await settleTogether([await jobFor(newAuthors(1n, 1n), 'a', 1_000n), await jobFor(newAuthors(1n, 1n), 'b', 1_000n)]);
  await query('delete from chain_transfer where nonce is not null');
  const capped = await report(ALWAYS, 3);
  expect(capped.truncatedExceptions).toBe(true);
  expect(capped.exceptions).toHaveLength(3);
  expect(capped.outstanding).toEqual({ legs: 4, micro: 2_000n });
  const later = await report({ from: new Date(Date.now() + 60_000), to: null });
  expect(later).toMatchObject({ recorded: { events: 0, grossMicro: 0n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});
