import { generatePrivateKey } from 'viem/accounts';
import type { BatchItem } from '../chain/calls/calldata.ts';
import { planBatch } from '../chain/calls/calldata.ts';
import { waitForReceipt } from '../chain/evidence/receipts.ts';
import type { Network } from '../chain/network.ts';
import { baseSepoliaNetwork } from '../chain/presets.ts';
import { payToOf } from '../chain/router/split.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import { localSigner } from '../chain/signature/signer.ts';
import { sendRaw, signTransaction, transactionCount } from '../chain/transaction.ts';
import type { Address } from '../domain/money/legs.ts';
import { canonicalPayees } from '../domain/money/legs.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import { makeFigure } from './harness/figure.ts';
import { benchChain } from './harness/parts.ts';
import type { Buyer } from './settling/buyers.ts';
import { fundBuyers, newBuyer, signTransfer } from './settling/buyers.ts';

/** Sends payments in one transaction and gives the gas of each, from its receipt. */
type Pay = (payTo: PayTo, buyers: readonly Buyer[]) => Promise<number>;
type PayTo = ReturnType<typeof payToOf>;

const PRICE_MICRO = 1_001n;

/** Gas a payment, from receipts on the test token: batches of 50 beside single transactions. */
export const gasBench: Bench = {
  id: 'gas',
  title: 'Gas a payment',
  run: async ({ quick }) => {
    const key = generatePrivateKey();
    const chain = await benchChain({ relayers: [localSigner(key).address] }, { blockTimeSeconds: null });
    const network = baseSepoliaNetwork({ rpcUrls: [chain.rpcUrl], router: chain.router });
    const rpc = createRpc(network);
    try {
      const size = quick ? 5 : 50;
      const buyers = await fundBuyers(chain.rpcUrl, size);
      const pay = payer(rpc, network, key);
      const rounds = quick ? 1 : 3;
      const soloTarget = { atMost: 0.72 };
      const trioTarget = { atMost: 0.42 };
      const solo = { authors: 1, what: 'One author', target: soloTarget, id: 'gas.solo' };
      const trio = { authors: 3, what: 'Three authors, one article', target: trioTarget, id: 'gas.trio' };
      const figures = [];
      for (const { authors, what, target, id } of [solo, trio]) {
        const payTo = newPayTo(network, authors);
        for (const buyer of buyers) await pay(payTo, [buyer]);
        figures.push(
          makeFigure({
            id,
            what: `${what}, ${size} payments in a batch`,
            unit: 'gas',
            target,
            ...(id === 'gas.solo' ? { isDetail: true } : {}),
            referenceName: 'one payment in a transaction of its own',
            rounds: await alternate({
              rounds,
              sides: { ours: () => pay(payTo, buyers), reference: () => pay(payTo, buyers.slice(0, 1)) },
            }),
            notes: 'authors hold the token already, buyers have paid before; a split is deployed',
          }),
        );
      }
      return figures;
    } finally {
      await rpc.close();
      await chain.stop();
    }
  },
};

function newPayTo(network: Network, authors: number): PayTo {
  const wallets = Array.from({ length: authors }, (_, at): { wallet: Address; weight: bigint } => {
    return { wallet: newBuyer().address, weight: [5n, 3n, 2n][at] ?? 1n };
  });
  return payToOf(canonicalPayees(wallets), network.router);
}

function payer(rpc: Rpc, network: Network, key: `0x${string}`): Pay {
  return async ({ payTo, words }, buyers) => {
    const items = buyers.map((buyer, at): BatchItem => {
      const signed = signTransfer(network, buyer, payTo, PRICE_MICRO);
      return { paymentId: String(at), ...signed, payTo, words: words.length === 1 ? null : words, payerKind: 'plain' };
    });
    const plan = planBatch(items, network);
    if (plan.leftOut.length > 0) throw new Error('the batch does not take all payments');
    const nonce = await transactionCount(rpc, localSigner(key).address, 'latest');
    const fees = { maxFeePerGasWei: 5_000_000_000n, maxPriorityFeePerGasWei: 1_000_000n };
    const { to, data, gasLimit } = plan;
    const { raw, hash } = await signTransaction(localSigner(key), { chainId: network.chainId, nonce, to, data, gasLimit, fees });
    await sendRaw(rpc, raw);
    const receipt = await waitForReceipt(rpc, [hash], { timeoutMs: 10_000, pollMs: 5 });
    if (receipt?.status !== 'success') throw new Error('the transaction failed');
    return Number(receipt.gasUsed) / items.length;
  };
}
