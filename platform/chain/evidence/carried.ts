/** What the call data of a transaction of ours says of the payments that it carried: the inverse of `planBatch`. Pure. */
import { decodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import { splitAmounts } from '../../../modules/kernel/money/legs.ts';
import { payeeOfWord } from '../../../modules/kernel/money/splitPayouts.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { routerAbi, tokenAbi } from '../calls/abi.ts';

/** A payee of one payment, micro. */
export interface CarriedLeg {
  readonly toAddress: Address;
  readonly amountMicro: bigint;
}

/** A payment as it was sent. That it was sent says nothing of whether it moved: that is in the logs. */
export interface CarriedPayment {
  readonly payer: Address;
  readonly nonce: Hex;
  readonly validBefore: bigint;
  /** Who gets its value in the end. */
  readonly legs: readonly CarriedLeg[];
}

/** Payments that a transaction to the router or to the token carried; none for a flush, a void, and what is no call of ours. */
export function carriedBy(input: Hex): readonly CarriedPayment[] {
  return ofBatch(input) ?? ofTransfer(input) ?? [];
}

function ofBatch(input: Hex): readonly CarriedPayment[] | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: routerAbi, data: input });
    if (functionName !== 'settleBatch') return null;
    return args[0].flatMap(({ legs, auths }) =>
      auths.map(({ from, value, validBefore, nonce }) => {
        const payees = legs.map(payeeOfWord);
        const amounts = splitAmounts(value, payees);
        const parts = payees.map(({ wallet }, at) => ({ toAddress: wallet, amountMicro: amounts[at] ?? 0n }));
        return { payer: lower(from), nonce, validBefore, legs: parts };
      }),
    );
  } catch {
    return null; // another contract's call: a key that was used elsewhere
  }
}

function ofTransfer(input: Hex): readonly CarriedPayment[] | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: tokenAbi, data: input });
    if (functionName !== 'transferWithAuthorization') return null;
    const [from, to, value, , validBefore, nonce] = args;
    return [{ payer: lower(from), nonce, validBefore, legs: [{ toAddress: lower(to), amountMicro: value }] }];
  } catch {
    return null;
  }
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}
