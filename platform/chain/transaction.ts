/** The relayer's transactions: signed here, sent as stored bytes, and what a node's answer to them means. */
import { serializeTransaction } from 'viem/utils';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { keccak256 } from './calls/keccak.ts';
import type { Fees } from './gas/fees.ts';
import type { Rpc } from './rpc/rpc.ts';
import { askNode, RpcError } from './rpc/rpc.ts';
import type { Signer } from './signature/signer.ts';

/** Signed bytes and their hash: both are stored before anything is sent. */
export interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: Hex;
}

/** A transaction to sign; its value is always 0, the relayer moves no money of its own. */
export interface TransactionRequest {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly fees: Fees;
}

/**
 * Signs an EIP-1559 transaction. A key of this process is deterministic (RFC 6979): the same request gives the same bytes; a remote one
 * may give others each time. Throws SignerError.
 */
export async function signTransaction(signer: Signer, request: TransactionRequest): Promise<SignedTransaction> {
  const { chainId, nonce, to, data, gasLimit: gas, fees } = request;
  const transaction = {
    ...({ type: 'eip1559', chainId, nonce, to, data, gas, value: 0n } as const),
    maxFeePerGas: fees.maxFeePerGasWei,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGasWei,
  };
  const signature = await signer.sign(hashOf(serializeTransaction(transaction)));
  const raw = serializeTransaction(transaction, signature);
  return { raw, hash: hashOf(raw) };
}

function hashOf(bytes: Hex): Hex {
  return `0x${keccak256(Buffer.from(bytes.slice(2), 'hex')).toString('hex')}`;
}

/** Signs a transfer of nothing to the relayer itself: fills a nonce whose transaction no node will take (safety 8). */
export function signSelfTransfer(
  signer: Signer,
  request: Pick<TransactionRequest, 'chainId' | 'nonce' | 'fees'>,
): Promise<SignedTransaction> {
  return signTransaction(signer, { ...request, to: signer.address, data: '0x', gasLimit: 21_000n });
}

/**
 * What a node made of signed bytes. `known` and `nonce_too_low` are no failures: look for the receipt. `refused` will never be
 * taken; `relayer_broke` once there is gas money; `unavailable` says nothing at all (it may have been taken).
 */
export interface SendOutcome {
  readonly kind: 'accepted' | 'known' | 'nonce_too_low' | 'replacement_underpriced' | 'refused' | 'relayer_broke' | 'unavailable';
  readonly detail: string;
}

/** Messages of the nodes in use (geth, op-geth, reth, nethermind, erigon, anvil); the first that fits wins. */
const ANSWERS: readonly (readonly [RegExp, SendOutcome['kind']])[] = [
  [/already known|already imported|known transaction|alreadyknown|already exists/i, 'known'],
  [/nonce (?:is )?too low|nonce.*already (?:used|been used)|oldnonce|nonce.*lower than/i, 'nonce_too_low'],
  [/replacement|underpriced.*replac|feetoolowtocompete/i, 'replacement_underpriced'],
  [/insufficient funds|insufficient balance|insufficientfunds/i, 'relayer_broke'],
  [/underpriced|fee ?cap.*(?:less than|below|lower)|max fee per gas less than|base fee|feetoolow/i, 'replacement_underpriced'],
  [/nonce (?:is )?too high|noncegap|txpool is full|pool.*full|limit exceeded|timeout|rate|busy|syncing/i, 'unavailable'],
  [
    /gas limit|intrinsic gas|gas.*(?:exceeds|too (?:low|high))|oversized|invalid|chain ?id|tip above|priority fee.*higher|initcode|rlp|decode|type not supported|sender|exceeds/i,
    'refused',
  ],
];

/**
 * Sends signed bytes to every node. Never throws; the same bytes may be sent any number of times. What no rule knows is `unavailable`:
 * calling a transaction refused that a node holds would free its nonce for another one.
 */
export async function sendRaw(rpc: Rpc, raw: Hex): Promise<SendOutcome> {
  try {
    return { kind: 'accepted', detail: await rpc.request<Hex>('eth_sendRawTransaction', [raw]) };
  } catch (error) {
    if (!(error instanceof RpcError))
      return { kind: 'unavailable', detail: error instanceof Error ? error.message : 'no answer' };
    const outcomes = [error, ...error.besides].map(({ message }): SendOutcome => {
      return { kind: ANSWERS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unavailable', detail: message };
    });
    // Refused by one and held by another is not refused.
    return (outcomes.find(({ kind }) => kind !== 'refused') ?? outcomes[0]) as SendOutcome;
  }
}

/** The base fee of the newest block in wei; 0 on a chain without one. */
export async function baseFeeOf(rpc: Rpc): Promise<bigint> {
  const block = await askNode<{ baseFeePerGas?: Hex } | null>(rpc, 'eth_getBlockByNumber', ['latest', false]);
  return BigInt(block?.baseFeePerGas ?? 0);
}

/** Transactions of an account: mined (`latest`: the next nonce to be mined) or with those waiting (`pending`). */
export async function transactionCount(rpc: Rpc, address: Address, tag: 'latest' | 'pending'): Promise<number> {
  return Number(await askNode<Hex>(rpc, 'eth_getTransactionCount', [address, tag]));
}

/** Wei an account holds for gas. */
export async function gasBalance(rpc: Rpc, address: Address): Promise<bigint> {
  return BigInt(await askNode<Hex>(rpc, 'eth_getBalance', [address, 'latest']));
}
