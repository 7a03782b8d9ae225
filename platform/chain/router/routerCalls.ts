/** Call data of the router, packed by hand (words.ts). A property test compares it with a general encoder. */
import { encodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../../modules/kernel/x402/payload.ts';
import { routerAbi } from '../calls/abi.ts';
import { addressWord, bytesWords, listWords, numberWord, wholeWord } from '../calls/words.ts';

/** The router's view of a group: signed payments of one token to one split. */
export interface RouterGroup {
  readonly token: Address;
  readonly authGas: bigint;
  readonly legs: readonly Hex[];
  readonly auths: readonly { readonly authorization: Authorization; readonly signature: Hex }[];
}

const NO_GROUP = { token: `0x${'0'.repeat(40)}`, authGas: 0n, legs: [], auths: [] } as const;
const BATCH = selectorOf(encodeFunctionData({ abi: routerAbi, functionName: 'settleBatch', args: [[], []] }));
const GROUP = selectorOf(encodeFunctionData({ abi: routerAbi, functionName: 'settleGroup', args: [0n, NO_GROUP] }));
/** Where what follows two words begins. */
const AFTER_TWO = numberWord(2 * 32);
/** Where the legs of a group begin, and the signature of a payment: after the words before them. */
const LEGS_AT = numberWord(4 * 32);
const SIGNATURE_AT = numberWord(6 * 32);

/** `settleBatch(groups, gasPerGroup)`. */
export function settleBatchCall(groups: readonly RouterGroup[], gasPerGroup: readonly bigint[]): Hex {
  const list = listWords(groups.map(groupWords));
  const gas = `${numberWord(gasPerGroup.length)}${gasPerGroup.map(numberWord).join('')}`;
  return `${BATCH}${AFTER_TWO}${numberWord(2 * 32 + list.length / 2)}${list}${gas}`;
}

/** `settleGroup(index, group)`. */
export function settleGroupCall(index: number, group: RouterGroup): Hex {
  return `${GROUP}${numberWord(index)}${AFTER_TWO}${groupWords(group)}`;
}

function groupWords({ token, authGas, legs, auths }: RouterGroup): string {
  const words = `${numberWord(legs.length)}${legs.map(wholeWord).join('')}`;
  const head = `${addressWord(token)}${numberWord(authGas)}${LEGS_AT}${numberWord(4 * 32 + words.length / 2)}`;
  return `${head}${words}${listWords(auths.map(authWords))}`;
}

/** Its recipient is the group's. */
function authWords({ authorization, signature }: RouterGroup['auths'][number]): string {
  const { from, value, validAfter, validBefore, nonce } = authorization;
  const times = `${numberWord(value)}${numberWord(validAfter)}${numberWord(validBefore)}`;
  return `${addressWord(from)}${times}${wholeWord(nonce)}${SIGNATURE_AT}${bytesWords(signature)}`;
}

function selectorOf(data: Hex): Hex {
  return data.slice(0, 10) as Hex;
}
