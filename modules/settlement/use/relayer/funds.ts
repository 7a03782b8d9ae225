import { baseFeeOf, gasBalance, transactionCount } from '../../../../platform/chain/transaction.ts';
import type { Chain, SettlementDeps } from '../deps.ts';

/** What a key can pay gas with, and where its queue stands in the node. */
export interface KeyFunds {
  readonly balanceWei: bigint;
  /** Transactions of the key, those that wait to be mined too. */
  readonly pending: number;
}

/** What the chain says of fees and keys, asked while payments are examined. */
export interface Funds {
  readonly baseFeeWei: Promise<bigint>;
  of(address: `0x${string}`): Promise<KeyFunds>;
}

/**
 * Begins to read what a claim will need: the base fee, and what the first relayer key has; the others are read when it comes to them.
 * An outage is thrown where the value that could not be read is awaited.
 */
export function openFunds({ deps, network, rpc }: Chain<SettlementDeps>): Funds {
  const baseFeeWei = baseFeeOf(rpc);
  const read = async (address: `0x${string}`): Promise<KeyFunds> => {
    const [balanceWei, pending] = await Promise.all([gasBalance(rpc, address), transactionCount(rpc, address, 'pending')]);
    return { balanceWei, pending };
  };
  const [first] = deps.relayersOf(network.id);
  const ofFirst = first && read(first.address);
  // Nobody may come to await them: the choice can end before.
  for (const begun of [baseFeeWei, ofFirst]) begun?.catch(() => undefined);
  return { baseFeeWei, of: (address) => (address === first?.address && ofFirst ? ofFirst : read(address)) };
}
