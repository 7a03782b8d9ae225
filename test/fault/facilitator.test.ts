import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createOfficial } from '../../bench/settling/official.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { Hex, ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { findBatch } from '../../modules/settlement/store/relayer.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { confirmWithFacilitator } from '../../modules/settlement/use/rails/facilitator/confirm.ts';
import { railFor } from '../../modules/settlement/use/rails/rails.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { fundGas } from '../../sandbox/parts/chain-setup.ts';
import type { SettleBody, TestFacilitator } from '../support/facilitator.ts';
import { clientOf, playOfficial, startFacilitator } from '../support/facilitator.ts';
import { attempt, attemptUntilDecided, mine, spend, stateOf, submitAlone } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let server: TestFacilitator;
let signer: Hex;
beforeAll(async () => {
  server = await startFacilitator();
  const facilitator = clientOf({ url: server.url });
  world = await startSettlement({ automine: true, waitMs: 2_000, network: { settler: 'facilitator' }, facilitator });
  signer = generatePrivateKey();
  await fundGas(world.chain.rpcUrl, localSigner(signer).address);
  await mine(world, 5);
});
afterAll(async () => {
  await server.stop();
  await world.close();
});
afterEach(() => checkInvariants(world));

const submit = ({ paymentPayload: { payload } }: SettleBody): Promise<Hex> => {
  const { authorization: a, signature } = payload;
  const [value, validAfter, validBefore] = [BigInt(a.value), BigInt(a.validAfter), BigInt(a.validBefore)];
  const lower = { from: a.from.toLowerCase() as Hex, to: a.to.toLowerCase() as Hex };
  return submitAlone(world, { authorization: { ...a, ...lower, value, validAfter, validBefore }, signature });
};

const purchase = async (slug: string, ...weights: bigint[]) => {
  const terms = termsFor(world, newAuthors(...(weights.length === 0 ? [1n] : weights)), { slug });
  const payer = await newPayer(world);
  return { terms, payer, payment: await paymentFor(world, payer, terms) };
};

const paid = async (terms: Terms, payment: ParsedPayment): Promise<SettleReceipt> => {
  const { code, receipt } = await attemptUntilDecided(world, terms, payment);
  if (!receipt) throw new Error(`the payment ended ${code}`);
  return receipt;
};

const askedFor = (payment: ParsedPayment): number => server.asked.get(payment.authorization.nonce) ?? 0;

const ask = async (payment: ParsedPayment): Promise<void> => {
  await world.database.query(
    `update facilitator_submission s set due_at = now() from payment p
      where p.tenant_id = s.tenant_id and p.payment_id = s.payment_id and p.nonce = $1`,
    [payment.authorization.nonce],
  );
};

/** Sweeps until the payment is in this state; one that is settled may be final in the same round. */
const sweepUntil = async (payment: ParsedPayment, state: string): Promise<void> => {
  const reached = async (): Promise<boolean> => {
    const now = (await stateOf(world, payment))?.state;
    return now === state || (state === 'settled' && now === 'final');
  };
  for (let round = 0; round < 100 && !(await reached()); round += 1) {
    await mine(world);
    await sweepNetwork(world.deps, world.network.id);
    await sleep(50);
  }
  expect([await reached(), (await stateOf(world, payment))?.state]).toEqual([true, expect.anything()]);
};

test('the official facilitator moves the money, asked once; the receipt names its transaction, and a repeat is the same answer', async () => {
  server.settle = playOfficial(createOfficial(world.chain.rpcUrl, signer));
  const { terms, payment } = await purchase('official');
  const receipt = await paid(terms, payment);
  expect(receipt.settlementRefKind).toBe('txHash');
  expect(receipt.chargedMicro).toBe(1_000n);
  expect(await pay(world, terms, payment)).toEqual(receipt);
  expect(askedFor(payment)).toBe(1);
  const [row] = await world.database.query<{ settler: string }>('select settler from payment where nonce = $1', [
    payment.authorization.nonce,
  ]);
  expect(row?.settler).toBe('facilitator');
});

test('a payment that a facilitator was handed, and that is configured no more, is decided by the chain, and its batch ends', async () => {
  const network = { settler: 'facilitator' } as const;
  const idle = await startSettlement({ automine: true, runBatches: false, waitMs: 50, network, facilitator: clientOf(server) });
  try {
    await mine(idle, 5);
    const terms = termsFor(idle, newAuthors(1n), { slug: 'gone' });
    const payment = await paymentFor(idle, await newPayer(idle), terms);
    expect((await attempt(idle, terms, payment)).code).toBe('settlement_pending');
    const batchId = randomUUID();
    await railFor(idle.network).claim(idle.deps, { network: idle.network.id, batchId, workflowId: null });
    expect(await stateOf(idle, payment)).toMatchObject({ state: 'broadcast' });
    const without = { ...idle.deps, facilitatorOf: () => null };
    expect(await confirmWithFacilitator(without, batchId, { timeoutMs: 0 })).toMatchObject({ undecided: 1 });
    await submitAlone(idle, payment);
    expect(await confirmWithFacilitator(without, batchId, { timeoutMs: 0 })).toMatchObject({ undecided: 0 });
    expect(await stateOf(idle, payment)).toMatchObject({ state: 'settled' });
    expect(await findBatch(idle.database, batchId)).toMatchObject({ state: 'safe' });
    const closedAt = () => idle.database.query('select closed_at from settlement_batch where batch_id = $1', [batchId]);
    const before = await closedAt();
    expect(await confirmWithFacilitator(without, batchId, { timeoutMs: 0 })).toMatchObject({ undecided: 0 });
    expect(await closedAt()).toEqual(before);
    await checkInvariants(idle);
  } finally {
    await idle.close();
  }
});

test('several authors: the facilitator pays the split, our relayer pays it out; without a relayer the payment is refused before its row', async () => {
  server.settle = playOfficial(createOfficial(world.chain.rpcUrl, signer));
  const { terms, payment } = await purchase('trio', 5n, 3n, 2n);
  await paid(terms, payment);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([1_000n]);
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await mine(world);
  const wallets = terms.legs.map((leg) => leg.toAddress);
  expect(await listBalances(world.rpc, world.network, wallets)).toEqual([500n, 300n, 200n]);
  await world.database.query("update relayer set paused_reason = 'test'");
  const other = await purchase('trio-alone', 1n, 1n);
  expect((await attempt(world, other.terms, other.payment)).code).toBe('payee_blocked');
  expect(await stateOf(world, other.payment)).toBeNull();
  await world.database.query('update relayer set paused_reason = null');
});

test('success with a hash that is absent, foreign, or of another payment settles nothing; the chain decides later', async () => {
  const first = await purchase('lie-1');
  server.settle = async (body) => ({ json: { success: true, transaction: await submit(body), network: 'eip155:84532' } });
  const { settlementRef } = await paid(first.terms, first.payment);
  for (const transaction of [settlementRef, `0x${'ab'.repeat(32)}`, '', 7]) {
    server.settle = () => ({ json: { success: true, transaction, network: 'eip155:84532' } });
    const { terms, payment } = await purchase(`lie ${transaction}`);
    const answer = pay(world, terms, payment);
    await expect(answer).rejects.toMatchObject({ code: 'settlement_pending' });
    expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast', tx_hash: null });
    server.settle = async (body) => ({ json: { success: true, transaction: await submit(body) } });
    await ask(payment);
    await sweepUntil(payment, 'settled');
    expect((await paid(terms, payment)).chargedMicro).toBe(1_000n);
  }
});

test('whatever it says or does not say, a transfer on the chain settles the payment, once', async () => {
  const answers: TestFacilitator['settle'][] = [
    () => ({ json: { success: false, errorReason: 'insufficient_funds', transaction: '' } }),
    () => ({ status: 500, json: { success: false, errorReason: 'settlement_pending', transaction: '' } }),
    () => ({ status: 502, json: 'bad gateway' }),
    () => ({ status: 200, json: '<html>' }),
    () => 'silence',
  ];
  for (const [index, answer] of answers.entries()) {
    server.settle = async (body) => {
      await submit(body);
      return answer(body);
    };
    const { terms, payment } = await purchase(`says-${index}`);
    expect((await paid(terms, payment)).chargedMicro).toBe(1_000n);
    expect(askedFor(payment)).toBe(1);
  }
});

test('a fault of its own decides nothing: the same authorization is handed over again until it settles, and pays once', async () => {
  let down = 2;
  server.settle = async (body) => {
    if (down-- > 0) return { status: 503, json: {} };
    return { json: { success: true, transaction: await submit(body) } };
  };
  const { terms, payment, payer } = await purchase('down');
  expect((await paid(terms, payment)).chargedMicro).toBe(1_000n);
  expect(askedFor(payment)).toBe(3);
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
});

test('a refusal that the chain confirms fails with the reason of the chain', async () => {
  const { terms, payment, payer } = await purchase('emptied');
  server.settle = async () => {
    await spend(world, addressOf(payer), newWallet(), 1_000_000n);
    return { json: { success: false, errorReason: 'unexpected_settle_error', transaction: '' } };
  };
  expect((await attemptUntilDecided(world, terms, payment)).code).toBe('insufficient_funds');
  expect(askedFor(payment)).toBe(1);
});

test('a refusal that the chain does not confirm is asked again, then mapped; a transfer after it still counts', async () => {
  const { terms, payment } = await purchase('refused');
  let held: SettleBody | null = null;
  server.settle = (body) => {
    held = body;
    return { json: { success: false, errorReason: 'invalid_exact_evm_payload_authorization_from_address_kyt', transaction: '' } };
  };
  expect((await attemptUntilDecided(world, terms, payment)).code).toBe('authorization_invalid');
  expect(askedFor(payment)).toBe(3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  await submit(held as unknown as SettleBody);
  await sweepUntil(payment, 'settled');
  expect((await paid(terms, payment)).chargedMicro).toBe(1_000n);
});

test('once an answer was lost, no number of refusals fails the payment: what was sent still settles, and no second one is charged', async () => {
  for (const errorReason of ['unexpected_settle_error', 'duplicate_settlement']) {
    const { terms, payment, payer } = await purchase(`lost-${errorReason}`);
    let held: SettleBody | null = null;
    server.settle = (body) => {
      const isFirst = held === null;
      held = body;
      return isFirst && errorReason !== 'duplicate_settlement'
        ? { status: 502, json: {} }
        : { json: { success: false, errorReason, transaction: '' } };
    };
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    for (let round = 0; round < 200 && askedFor(payment) < 6; round += 1) {
      await ask(payment);
      await sweepNetwork(world.deps, world.network.id);
      await sleep(20);
    }
    expect(askedFor(payment)).toBeGreaterThanOrEqual(6);
    const again = await paymentFor(world, payer, terms);
    expect((await attempt(world, terms, again)).code).toBe('settlement_pending');
    expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
    expect(await stateOf(world, again)).toMatchObject({ state: 'held' });
    await submit(held as unknown as SettleBody);
    await sweepUntil(payment, 'final');
    const receipt = await paid(terms, payment);
    expect(await paid(terms, again)).toEqual(receipt);
    expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
  }
});

test('a payment that a facilitator leaves undecided keeps no other money at its split from being paid out', async () => {
  let left: SettleBody | null = null;
  server.settle = (body) => {
    left = body;
    return { status: 503, json: {} };
  };
  const first = await purchase('left-open', 3n, 1n);
  expect((await attempt(world, first.terms, first.payment)).code).toBe('settlement_pending');
  server.settle = async (body) => {
    const isFirst = body.paymentPayload.payload.authorization.nonce === first.payment.authorization.nonce;
    if (isFirst) left = body;
    return isFirst ? { status: 503, json: {} } : { json: { success: true, transaction: await submit(body) } };
  };
  const payer = await newPayer(world);
  await paid(first.terms, await paymentFor(world, payer, first.terms));
  expect(await stateOf(world, first.payment)).toMatchObject({ state: 'broadcast' });
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await mine(world);
  const wallets = first.terms.legs.map((leg) => leg.toAddress);
  expect(await listBalances(world.rpc, world.network, [first.terms.payTo, ...wallets])).toEqual([0n, 750n, 250n]);
  // Nothing stays undecided: what settles it in a later test would lie at the split there.
  await submit(left as unknown as SettleBody);
  await sweepUntil(first.payment, 'final');
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await mine(world);
  expect(await listBalances(world.rpc, world.network, [first.terms.payTo, ...wallets])).toEqual([0n, 1_500n, 500n]);
});

test('payments that a facilitator leaves undecided for long keep nobody else from buying', async () => {
  await world.database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, nonce, created_at)
     select uuidv7(), $1, 'facilitator', 'facilitator', 0, now() - interval '5 minutes' from generate_series(1, 500)`,
    [world.network.id],
  );
  server.settle = async (body) => ({ json: { success: true, transaction: await submit(body) } });
  const { terms, payment } = await purchase('beside-old-ones');
  expect((await paid(terms, payment)).chargedMicro).toBe(1_000n);
  await world.database.query("update settlement_batch set state = 'safe' where created_at < now() - interval '4 minutes'");
});

test('/supported is compared at boot: another network is refused, a server that is away is waited for', async () => {
  const facilitator = clientOf({ url: server.url, token: 'of-ours' });
  expect(await facilitator.checkSupport(world.network)).toBe(true);
  expect(server.authorizations.at(-1)).toBe('Bearer of-ours');
  await expect(facilitator.checkSupport({ id: 'eip155:1' })).rejects.toThrow('eip155:1');
  expect(await clientOf({ url: 'http://127.0.0.1:1' }).checkSupport(world.network)).toBeNull();
});
