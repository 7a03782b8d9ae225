/** Nodes that alter the logs of receipts, all of them: a paid payment is not lost for good. */
import { afterEach, expect, test } from 'vitest';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { attempt, cancel, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { newWallet } from '../support/payments.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let lines: RpcProxy[] = [];
afterEach(async () => {
  try {
    for (const line of lines) line.set('eth_getTransactionReceipt', null);
    await checkInvariants(world, { isIdle: false });
  } finally {
    await world.close();
    await Promise.all(lines.map((line) => line.close()));
  }
});

/** So many URLs of one chain, of which the first `lying` give receipts whose transfers went to a stranger. */
async function start({ urls, lying }: { readonly urls: number; readonly lying: number }): Promise<void> {
  const inFront = async (url: string): Promise<readonly string[]> => {
    lines = await Promise.all(Array.from({ length: urls }, () => startRpcProxy(url)));
    return lines.map((line) => line.url);
  };
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 30, inFront });
  await mine(world, 8);
  lie(lying);
}

function lie(lying: number): void {
  for (const [at, line] of lines.entries()) {
    const stranger = newWallet().slice(2).padStart(64, '0');
    const change = (reply: string): string => {
      const answer = JSON.parse(reply) as { result: { logs: { topics: string[] }[] } | null };
      for (const { topics } of answer.result?.logs ?? [])
        if (topics.length === 3 && topics[0]?.startsWith('0xddf252ad')) topics[2] = `0x${stranger}`;
      return JSON.stringify(answer);
    };
    line.set('eth_getTransactionReceipt', at < lying ? { kind: 'alter', change } : null);
  }
}

async function buy() {
  const terms = termsFor(world, newAuthors(1n), { slug: 'page' });
  const payer = await newPayer(world, 5_000n);
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return { terms, payer, payment };
}

const alerts = async (): Promise<string[]> =>
  (await world.database.query<{ kind: string }>('select kind from operator_alert order by kind')).map(({ kind }) => kind);

test('where all nodes altered it and agree again later, the stored transfer has the payment judged again, and the same payment gets its page', async () => {
  await start({ urls: 1, lying: 1 });
  const { terms, payment } = await buy();
  await look(world, await sendAll(world));
  await mine(world, 10);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  lie(0);
  await readChain(world.deps, world.network.id);
  expect(await alerts()).toContain('evidence_conflict');
  await sweep(world, 2);
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
  expect((await attempt(world, terms, payment)).code).toBe('settled');
});

test('an authorization that two nodes show to be cancelled fails as before, and no operator is told', async () => {
  await start({ urls: 2, lying: 0 });
  const { payer, payment } = await buy();
  await cancel(world, payer, payment.authorization.nonce);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  expect(await alerts()).toEqual([]);
});

test('a node that tells of a fee that nobody signed closes no network for the day: the cost is believed up to what the bytes allowed', async () => {
  await start({ urls: 1, lying: 0 });
  const change = (reply: string): string => {
    const answer = JSON.parse(reply) as { result: { l1Fee?: string } | null };
    if (answer.result) answer.result.l1Fee = `0x${(10n ** 24n).toString(16)}`;
    return JSON.stringify(answer);
  };
  lines[0]?.set('eth_getTransactionReceipt', { kind: 'alter', change });
  const { payment } = await buy();
  await look(world, await sendAll(world));
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
  const [day] = await world.database.query<{ gas_wei: string }>('select gas_wei::text from network_gas_usage');
  expect(BigInt(day?.gas_wei ?? 0)).toBeGreaterThan(0n);
  // A million coins were told.
  expect(BigInt(day?.gas_wei ?? 0)).toBeLessThan(10n ** 18n);
});
