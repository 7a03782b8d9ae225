/** Which accounts have code, many in one `eth_call` without a contract: a wallet with code is asked, not recovered. */
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { chainUnavailable, isEvmRefusal } from '../rpc/rpc.ts';
import { readCall } from './multicall.ts';
import { WORD_DIGITS } from './words.ts';

/**
 * Init code of 36 bytes that takes the words behind itself as addresses and returns their code sizes in place:
 * copy the words to memory; for each MLOAD, EXTCODESIZE, MSTORE; return them.
 */
const SIZES_CODE = [
  '60243803806024600039', // bytes = codesize - 36; mem = words
  '6000', // i = 0
  '5b81811015601f57', // while (i < bytes)
  '80513b8152602001600c56', //   mem[i] = extcodesize(mem[i]); i += 32
  '5b506000f3', // return mem[0 … bytes]
].join('');

/**
 * The accounts among `accounts` that have code now (EIP-7702 delegations too), as a set of lower-case addresses. Throws
 * ServiceError `chain_unavailable` in an outage.
 */
export async function findAccountsWithCode(rpc: Rpc, accounts: readonly Address[]): Promise<ReadonlySet<Address>> {
  const unique = [...new Set(accounts)];
  if (unique.length === 0) return new Set();
  const words = unique.map((account) => account.slice(2).padStart(64, '0')).join('');
  const sizes = await readCall(rpc, { data: `0x${SIZES_CODE}${words}` as Hex }).catch((error: unknown) => {
    throw isEvmRefusal(error) ? chainUnavailable(rpc.networkId) : error; // nothing of it can be refused
  });
  if (sizes.length !== 2 + WORD_DIGITS * unique.length) throw chainUnavailable(rpc.networkId);
  return new Set(unique.filter((_, at) => !/^0*$/.test(sizes.slice(2 + 64 * at, 66 + 64 * at))));
}
