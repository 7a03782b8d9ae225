import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey } from 'viem/accounts';
import type { Address } from '../modules/kernel/money/legs.ts';
import { planBatch } from '../platform/chain/calls/calldata.ts';
import { waitForReceipt } from '../platform/chain/evidence/receipts.ts';
import type { Rpc } from '../platform/chain/rpc/rpc.ts';
import { createRpc } from '../platform/chain/rpc/rpc.ts';
import { localSigner } from '../platform/chain/signature/signer.ts';
import { sendRaw, signTransaction, transactionCount } from '../platform/chain/transaction.ts';
import { callChain } from '../sandbox/parts/chain.ts';
import { fundGas } from '../sandbox/parts/chain-setup.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Parts, Turn, Work } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure, Rounds } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import type { Buyer } from './settling/buyers.ts';
import { fundBuyers, signTransfer } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';

const MARGIN_MS = 25;
const BLOCK_MS = 2_000;
/** Before each payment, so that what the last one leaves to do has ended: the workflow of its batch takes its first look after a second. */
const REST_MS = 1_500;

/** One idle payment over HTTP beside the chain's own wait for a transfer that was signed before. */
export const settleBench: Bench = {
  id: 'settle',
  title: 'Settling one payment',
  run: async ({ quick }) => {
    const service = await startBenchService({ workers: 1, environment: PRODUCT_INTERVALS });
    const line = createRpc({ id: 'bench', rpcUrls: [service.chain.rpcUrl] });
    try {
      const buyers = await fundBuyers(service.chain.rpcUrl, quick ? 3 : 25);
      const sides = await openSides(service, line, buyers);
      const atOnce = await measure(sides, { rounds: quick ? 1 : 5, samples: quick ? 3 : 12, phasesMs: [0] });
      const figures = [automineFigure(atOnce)];
      await callChain(service.chain.rpcUrl, 'evm_setAutomine', [false]);
      await callChain(service.chain.rpcUrl, 'evm_setIntervalMining', [BLOCK_MS / 1000]);
      const phasesMs = quick ? [500] : [100, 400, 700, 1_000, 1_300, 1_600];
      const slow = await measure(sides, { rounds: quick ? 1 : 3, samples: phasesMs.length, phasesMs });
      figures.push(
        makeFigure({
          id: 'settle.blocks',
          what: 'POST /_svc/verify when idle, p50, a block every 2 s',
          unit: 'ms',
          referenceName: 'the same transfer, signed before: sent and its receipt seen',
          rounds: slow,
          target: { atMost: 1.3 },
          notes: `sent at ${phasesMs.length} evenly spaced moments between two blocks; receipts looked for every 5 ms by the reference`,
        }),
      );
      return figures;
    } finally {
      await line.close();
      await service.stop();
    }
  },
};

/** Over the chain's own wait, in ms: a difference, so its ratio column is one too. */
function automineFigure(rounds: Rounds): Figure {
  const over = rounds.ours - rounds.reference;
  const each = rounds.ratios.map((ratio) => (ratio - 1) * rounds.reference);
  return {
    id: 'settle.automine',
    what: 'POST /_svc/verify when idle, p50, every transaction mined at once',
    unit: 'ms',
    ours: rounds.ours,
    reference: rounds.reference,
    referenceName: 'the same transfer, signed before: sent and its receipt seen',
    ratio: over,
    ...(rounds.cpu === undefined ? {} : { cpu: { ours: rounds.cpu.ours, reference: rounds.cpu.reference } }),
    target: `≤ ${MARGIN_MS} ms over the chain's own wait`,
    reached: over <= MARGIN_MS,
    rounds: rounds.ratios.length,
    spread: [Math.min(...each), Math.max(...each)],
    notes: `the ratio is the difference in ms; one caller, one payment at a time, each after a rest of ${REST_MS} ms; CPU with that of the sweeps meanwhile`,
  };
}

interface Sides {
  /** Milliseconds of one payment each; `before` runs right before the clock starts. */
  readonly ours: (before: () => Promise<void>) => Promise<number>;
  readonly reference: (before: () => Promise<void>) => Promise<number>;
  readonly untilBlock: () => Promise<void>;
  readonly parts: () => Parts;
}

async function measure(
  sides: Sides,
  load: { readonly rounds: number; readonly samples: number; readonly phasesMs: readonly number[] },
): Promise<Rounds> {
  const medianOf = async (side: Sides['ours']): Promise<Work> => {
    const times: number[] = [];
    for (let sample = 0; sample < load.samples; sample++) {
      const phaseMs = load.phasesMs[sample % load.phasesMs.length] ?? 0;
      const before = async (): Promise<void> => {
        if (phaseMs > 0) await sides.untilBlock();
        await sleep(phaseMs || REST_MS);
      };
      times.push(await side(before));
    }
    return { value: median(times), operations: load.samples };
  };
  const ofParts = (side: Sides['ours']): Promise<Turn> => withCpu(sides.parts(), () => medianOf(side));
  return alternate({
    rounds: load.rounds,
    sides: { ours: () => ofParts(sides.ours), reference: () => medianOf(sides.reference).then(({ value }) => value) },
  });
}

async function openSides(service: BenchService, line: Rpc, buyers: readonly Buyer[]): Promise<Sides> {
  const shop = await openShop(service, 12);
  const calls = [...(await prepareCalls(shop, buyers))];
  const key = generatePrivateKey();
  await fundGas(service.chain.rpcUrl, localSigner(key).address);
  const height = (): Promise<string> => callChain<string>(service.chain.rpcUrl, 'eth_blockNumber', []);
  for (const call of calls.splice(0, 5)) await buyAll(shop, [call], 1);
  return {
    ours: async (before) => {
      const call = calls.shift();
      if (!call) throw new Error('every buyer has bought every page');
      await before();
      const [time] = await buyAll(shop, [call], 1);
      return time ?? 0;
    },
    reference: async (before) => {
      const raw = await signed(service, shop, line, buyers, key);
      await before();
      const startedAt = performance.now();
      await sendRaw(line, raw.raw);
      const receipt = await waitForReceipt(line, [raw.hash], { timeoutMs: 10_000, pollMs: 5 });
      if (receipt?.status !== 'success') throw new Error('the transfer failed');
      return performance.now() - startedAt;
    },
    parts: () => service.parts(),
    untilBlock: async () => {
      const now = await height();
      while ((await height()) === now) await sleep(5);
    },
  };
}

async function signed(service: BenchService, shop: Shop, line: Rpc, buyers: readonly Buyer[], key: `0x${string}`) {
  const author = shop.authors[0] as Address;
  const transfer = signTransfer(shop.network, buyers[0] as Buyer, author, 1_000n);
  const item = { paymentId: 'reference', ...transfer, payTo: author, words: null, payerKind: 'plain' } as const;
  const { to, data, gasLimit } = planBatch([item], shop.network);
  const nonce = await transactionCount(line, localSigner(key).address, 'pending');
  const fees = { maxFeePerGasWei: 5_000_000_000n, maxPriorityFeePerGasWei: 1_000_000n };
  return signTransaction(localSigner(key), { chainId: service.chain.chainId, nonce, to, data, gasLimit, fees });
}
