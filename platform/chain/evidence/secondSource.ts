/** What the other nodes show of a spending that one node alone must not say. */
import type { Doubt, Spending } from '../../../modules/kernel/payment/sight.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { hasOthers, whereAway } from '../rpc/rpc.ts';
import { evidenceFromLogs } from './evidence.ts';
import { receiptsOfAll } from './receipts.ts';
import type { ReadReceipt, SightAsk } from './sight.ts';
import type { NonceKey } from './spending.ts';
import { spendingIn } from './spending.ts';

/** A receipt with its logs read. */
type Decoded = Pick<ReadReceipt, 'receipt' | 'evidence'>;

/** What one node showed. */
interface Shown {
  readonly found: ReadonlyMap<SightAsk, Spending>;
  readonly receipts: ReadonlyMap<string, Decoded>;
}

/**
 * Asks every URL for the transaction that is said to have spent an authorization, or to have proven one that is said to be unspent, and
 * compares logs and block hash. Two that show the same leave no doubt. A network of one URL has nobody else to ask.
 */
export async function doubtsOf(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  asks: readonly SightAsk[],
  { found, receipts }: Shown,
): Promise<ReadonlyMap<SightAsk, Doubt>> {
  if (!hasOthers(rpc)) return new Map();
  const open = asks.filter((ask) => ask.needsSecond?.(found.get(ask) ?? null));
  const readAll = async (hash: Hex): Promise<readonly Decoded[]> => {
    const all = await receiptsOfAll(rpc, hash).catch(whereAway([]));
    return all.map((receipt) => ({ receipt, evidence: evidenceFromLogs(receipt.logs, network) }));
  };
  const asked = new Map<Hex, Promise<readonly Decoded[]>>();
  const doubts = await Promise.all(
    open.map(async (ask): Promise<readonly [SightAsk, Doubt | null]> => {
      const said = [...receipts.values()].find((one) => wordOf(one, ask) !== null);
      const hash = said?.receipt.hash ?? ask.hashes[0];
      if (hash === undefined) return [ask, null];
      const others = asked.get(hash) ?? readAll(hash);
      asked.set(hash, others);
      const words = (await others).map((one) => wordOf(one, ask));
      return [ask, doubtOf(said ? wordOf(said, ask) : null, words)];
    }),
  );
  return new Map(doubts.flatMap(([ask, doubt]) => (doubt ? [[ask, doubt] as const] : [])));
}

/** Of an evidence that one node shows no more, a node that still shows it is a dispute; that none does leaves no doubt. */
function doubtOf(own: string | null, all: readonly (string | null)[]): Doubt | null {
  if (all.some((word) => word !== own)) return 'disputed';
  return own !== null && all.length < 2 ? 'unconfirmed' : null;
}

/** Where a receipt shows that an authorization went, and in which block; null where it shows nothing of it. */
function wordOf({ receipt, evidence }: Decoded, key: NonceKey): string | null {
  const spending = spendingIn(evidence, key, 0n);
  if (spending === null) return null;
  const moved = spending.kind === 'transfer' ? [spending.to, spending.valueMicro, spending.transfer.logIndex] : [];
  return [receipt.blockHash, spending.kind, ...moved].join(' ');
}
