import { parseTransaction } from 'viem/utils';
import type { Signer } from '../signature/signer.ts';
import type { SignedTransaction } from '../transaction.ts';
import { signTransaction } from '../transaction.ts';
import type { Fees } from './fees.ts';

/**
 * The same transaction (nonce, recipient, calldata, gas) with other fees, from its signed bytes (safety 8). Throws when
 * the bytes are not an EIP-1559 transaction of ours.
 */
export async function signReplacement(signer: Signer, raw: `0x${string}`, fees: Fees): Promise<SignedTransaction> {
  const transaction = parseTransaction(raw);
  if (transaction.type !== 'eip1559' || !transaction.to || transaction.gas === undefined) {
    throw new Error('the stored bytes are not an EIP-1559 transaction');
  }
  return signTransaction(signer, {
    chainId: transaction.chainId,
    nonce: transaction.nonce ?? 0,
    to: transaction.to,
    data: transaction.data ?? '0x',
    gasLimit: transaction.gas,
    fees,
  });
}
