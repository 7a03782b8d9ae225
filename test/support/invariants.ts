/** What must hold after every fault, compared with what the chain shows and not with our own flags (safety, invariants). */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { isSettled } from '../../modules/kernel/payment/state.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import type { Payment, PaymentRow } from '../../modules/settlement/store/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../../modules/settlement/store/payment.ts';
import { evidenceFromLogs } from '../../platform/chain/evidence/evidence.ts';
import { blockNumbers, receiptOf } from '../../platform/chain/evidence/receipts.ts';
import { readSights } from '../../platform/chain/evidence/sight.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { waitingOf } from '../../platform/chain/router/split.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { transactionCount } from '../../platform/chain/transaction.ts';
import { scaled } from './patience.ts';
import { testNetwork } from './payments.ts';
import type { TestService } from './service.ts';
import type { SettlementWorld } from './settlement.ts';

/** What a test knows that the ledger cannot. */
export interface Known {
  /** Money that authors got by other ways than payments of ours, micro by wallet. */
  readonly gifts?: ReadonlyMap<string, bigint>;
  /** How many nonces of the relayer were used elsewhere. */
  readonly outsideNonces?: number;
  /** False while bytes are meant to be unmined. */
  readonly isIdle?: boolean;
}

/** What the invariants are judged on: a settlement world, or a service as it runs. */
export interface JudgedWorld extends Pick<SettlementWorld, 'database' | 'rpc' | 'network'> {
  readonly deps: { relayersOf(network: string): readonly { readonly address: Address }[] };
}

/** How long a ledger that does not hold may rest until it is judged as it stands, ms. */
const REST_MS = 3_000;
/** What is judged, in a line: it changes with whatever is decided of a payment. */
const STAND = `select (select coalesce(sum(hashtext(concat_ws(' ', payment_id, state, tx_hash, recorded))), 0) from payment_state) as states,
  (select count(*) from leg) as legs, (select coalesce(sum(count), 0) from observation) as observations`;

/**
 * Throws what vitest throws for the first invariant that does not hold. They hold of a ledger at rest: one that is written to while it is
 * read, or within three seconds, is read again.
 */
export async function checkInvariants(world: JudgedWorld, known: Known = {}): Promise<void> {
  const stand = async (): Promise<string> => JSON.stringify(await world.database.query(STAND));
  for (;;) {
    const before = await stand();
    try {
      return await judge(world, known);
    } catch (error) {
      const until = performance.now() + REST_MS;
      while ((await stand()) === before) {
        if (performance.now() > until) throw error;
        await sleep(100);
      }
    }
  }
}

async function judge(world: JudgedWorld, known: Known): Promise<void> {
  const rows = await world.database.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from payment_state as s join payment_intake as i using (tenant_id, payment_id) where i.mode = 'live'`,
  );
  const payments = rows.map(paymentFromRow);
  await legsEqualChain(world, payments, known.gifts ?? new Map());
  await authorizationsSettleOnce(world);
  for (const payment of payments) await recordEqualsChain(world, payment);
  await observationsEqualStates(world);
  await noncesHaveNoGap(world, known);
}

/**
 * The same for a service as it runs, once it has come to rest: payments on their way and money at splits get 60 s to arrive. What test keys
 * leave undecided on purpose stays so.
 */
export async function checkService(
  service: Pick<TestService, 'database' | 'chain' | 'relayer'>,
  known: Known = {},
): Promise<void> {
  const network = testNetwork(service.chain, { blockTimeMs: 1_000 });
  const rpc = createRpc(network);
  const { database, relayer } = service;
  try {
    const underWay = async (): Promise<unknown[]> => {
      const open = await database.query(
        "select state from payment where mode = 'live' and state in ('accepted', 'broadcast', 'review')",
      );
      const splits = await database.query<{ pay_to: Address }>('select pay_to from split');
      const balances = await listBalances(
        rpc,
        network,
        splits.map((split) => split.pay_to),
      );
      return [...open, ...balances.filter((balance) => balance > 0n)];
    };
    await expect.poll(underWay, { timeout: scaled(180_000), interval: 200 }).toEqual([]);
    await checkInvariants({ database, rpc, network, deps: { relayersOf: () => [{ address: relayer }] } }, known);
  } finally {
    await rpc.close();
  }
}

/** Σ legs by payee = what the payee got on chain, and what waits for him there. */
async function legsEqualChain(world: JudgedWorld, payments: readonly Payment[], gifts: ReadonlyMap<string, bigint>) {
  const wallets = [...new Set(payments.flatMap((payment) => payment.legs.map((leg) => leg.toAddress)))];
  const legs = await world.database.query<{ to_address: string; total: string }>(
    'select to_address, sum(amount_micro) as total from leg group by 1',
  );
  const recorded = new Map(legs.map((row) => [row.to_address, BigInt(row.total)]));
  const balances: bigint[] = [];
  for (let at = 0; at < wallets.length; at += 200) {
    balances.push(...(await listBalances(world.rpc, world.network, wallets.slice(at, at + 200) as Address[])));
  }
  const places = wallets.map((wallet) => waitingOf(wallet as Address, world.network.router).payTo);
  const waiting: bigint[] = [];
  for (let at = 0; at < places.length; at += 200) {
    waiting.push(...(await listBalances(world.rpc, world.network, places.slice(at, at + 200))));
  }
  const got = wallets.map((wallet, at) => [wallet, (balances[at] ?? 0n) + (waiting[at] ?? 0n) - (gifts.get(wallet) ?? 0n)]);
  expect(wallets.map((wallet) => [wallet, recorded.get(wallet) ?? 0n])).toEqual(got);
}

async function authorizationsSettleOnce(world: JudgedWorld): Promise<void> {
  const twice = await world.database.query(
    `select payer, nonce from payment where state in ('settled', 'final') and mode = 'live'
      group by network, asset, payer, nonce having count(*) > 1`,
  );
  expect(twice).toEqual([]);
}

/** Recorded exactly when the chain shows the authorization's transfer to us, by the very log that is claimed. */
async function recordEqualsChain(world: JudgedWorld, payment: Payment): Promise<void> {
  const net = await world.database.query<{ net: string }>(
    'select coalesce(sum(micro), 0) as net from crossing where tenant_id = $1 and payment_id = $2',
    [payment.tenantId, payment.paymentId],
  );
  const ask = { payer: payment.payer, nonce: payment.nonce, hashes: [], sinceBlock: 0n };
  const { sights } = await readSights(world.rpc, world.network, [ask], { atSafe: false });
  const spending = sights[0]?.spending;
  const paid = spending?.kind === 'transfer' && spending.to === payment.payTo && spending.valueMicro === payment.amountMicro;
  expect({ state: payment.facts.state, net: BigInt(net[0]?.net ?? 0), settled: isSettled(payment.facts.state) }).toEqual({
    state: payment.facts.state,
    net: paid ? payment.amountMicro : 0n,
    settled: paid,
  });
  const { evidence } = payment.facts;
  if (!paid) return expect(evidence).toBeNull();
  const receipt = await receiptOf(world.rpc, evidence?.txHash as Hex);
  const logs = evidenceFromLogs(receipt?.logs ?? [], world.network);
  const claimed = logs.authorizations.find((entry) => entry.position === evidence?.logIndex);
  expect(claimed).toMatchObject({ payer: payment.payer, nonce: payment.nonce, to: payment.payTo, value: payment.amountMicro });
  expect(receipt?.blockNumber).toBe(evidence?.blockNumber);
}

/** One `paid` for each settled payment, one `payment-failed` for each failed one, corrections counted. */
async function observationsEqualStates(world: JudgedWorld): Promise<void> {
  const wrong = await world.database.query(
    `select payment_id, state, paid, failed from payment join lateral (
       select coalesce(sum(count) filter (where verdict = 'paid'), 0) as paid,
              coalesce(sum(count) filter (where verdict = 'payment-failed'), 0) as failed
         from observation where observation.payment_id = payment.payment_id) as seen on true
      where mode = 'live' and (paid <> (state in ('settled', 'final'))::int or failed <> (state = 'failed')::int)`,
  );
  expect(wrong).toEqual([]);
}

async function noncesHaveNoGap(world: JudgedWorld, known: Known): Promise<void> {
  for (const { address } of world.deps.relayersOf(world.network.id)) {
    const rows = await world.database.query<{ nonce: string }>(
      'select nonce from relayer_nonce where relayer = $1 order by nonce',
      [address],
    );
    const next = await world.database.query<{ next_nonce: string }>('select next_nonce from relayer where relayer.address = $1', [
      address,
    ]);
    const nonces = rows.map((row) => Number(row.nonce));
    if (known.outsideNonces === undefined) expect(nonces).toEqual(nonces.map((_, at) => at));
    const mined = await transactionCount(world.rpc, address, 'latest');
    if (known.isIdle !== false) expect(mined).toBe(Number(next[0]?.next_nonce));
  }
  expect((await blockNumbers(world.rpc)).latest).toBeGreaterThan(0n);
}
