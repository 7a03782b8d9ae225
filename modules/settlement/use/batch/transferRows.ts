import type { ChainEvidence } from '../../../../platform/chain/evidence/evidence.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import type { ChainTransferRow } from '../../store/transfers.ts';

/**
 * The rows that keep what the logs of mined transactions of one block prove: one for each transfer of the asset, with the nonce
 * where an authorization of its sender moved it (safety 1). Transfers of nothing are left out: USDC lets anybody call `transferFrom(split, x, 0)`, so
 * that they prove nothing and cost their sender only gas. Pure.
 */
export function transferRows(
  network: Network,
  { transfers, authorizations }: Pick<ChainEvidence, 'transfers' | 'authorizations'>,
  blockTime: Date,
): readonly ChainTransferRow[] {
  const nameOf = ({ txHash, position }: { readonly txHash: string; readonly position: number }): string =>
    `${txHash} ${position}`;
  const nonceOf = new Map(authorizations.map((entry) => [nameOf(entry), entry.nonce]));
  return transfers
    .filter(({ value }) => value > 0n)
    .map((transfer) => ({
      network: network.id,
      txHash: transfer.txHash,
      logPosition: transfer.position,
      logIndex: transfer.logIndex,
      blockNumber: transfer.blockNumber,
      blockHash: transfer.blockHash,
      blockTime,
      token: network.asset,
      from: transfer.from,
      to: transfer.to,
      amountMicro: transfer.value,
      nonce: nonceOf.get(nameOf(transfer)) ?? null,
    }));
}
