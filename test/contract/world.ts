/** A chain with our router, Circle's USDC at Base Sepolia's address, and what contract tests do with them. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Abi, PublicClient, TransactionReceipt } from 'viem';
import { createPublicClient, encodeAbiParameters, encodeFunctionData, http, parseEventLogs } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import multicallArtifact from '../../contracts/artifacts/test/TestMulticall3.json' with { type: 'json' };
import walletArtifact from '../../contracts/artifacts/test/TestWallet.json' with { type: 'json' };
import type { Address } from '../../modules/kernel/money/legs.ts';
import { multicall3Abi, routerAbi, tokenAbi } from '../../platform/chain/calls/abi.ts';
import { groupBytes, itemBytes } from '../../platform/chain/gas/gas.ts';
import { deployRouterTransaction, routerAddress } from '../../platform/chain/router/split.ts';
import { testTokenAbi } from '../support/abi.ts';
import { startAnvil } from '../support/anvil.ts';
import { placeUsdc } from './usdc.ts';

export type Hex = `0x${string}`;
export const USDC: Address = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
export const MULTICALL3: Address = '0xca11bde05977b3631167028862be2a173976ca11';
/** Anvil's first unlocked account. */
export const RELAYER: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

export interface Auth {
  readonly from: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
  readonly signature: Hex;
}

export interface Group {
  readonly token: Address;
  readonly authGas: bigint;
  readonly legs: readonly Hex[];
  readonly auths: readonly Auth[];
}

export interface Payment {
  readonly from: PrivateKeyAccount;
  readonly to: Address;
  readonly value: bigint;
  /** Set where an ERC-1271 wallet pays and `from` only signs. */
  readonly payer?: Address;
  readonly nonce?: Hex;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Starts a chain with router, USDC and Multicall3 in place. */
export async function startWorld() {
  const anvil = await startAnvil();
  const client = createPublicClient({ transport: http(anvil.rpcUrl) });
  const rpc = (method: string, params: readonly unknown[]) => client.request({ method, params } as never) as Promise<never>;
  await rpc('anvil_setCode', [MULTICALL3, multicallArtifact.deployedBytecode]);
  const send = (to: Address | null, data: Hex, gas?: bigint) => sendTransaction(rpc, to, data, gas);
  const deployment = await send(deployRouterTransaction().to, deployRouterTransaction().data);
  const deploy = async (artifact: { readonly abi: unknown; readonly bytecode: string }, args: Hex = '0x') => {
    const receipt = await send(null, `${artifact.bytecode}${args.slice(2)}` as Hex);
    return (receipt.contractAddress ?? '0x').toLowerCase() as Address;
  };
  await placeUsdc(rpc, deploy, send, { address: USDC, owner: RELAYER, minter: MULTICALL3 });
  const world = { anvil, client, rpc, send, deploy, deployment, chainId: anvil.chainId, stop: anvil.stop };
  return { ...world, ...tokenCalls(client, send), ...routerCalls(client, send), deployWallet: walletOf(deploy) };
}

type Send = (to: Address | null, data: Hex, gas?: bigint) => Promise<TransactionReceipt>;

async function sendTransaction(
  rpc: (method: string, params: readonly unknown[]) => Promise<never>,
  to: Address | null,
  data: Hex,
  gas = 16_000_000n,
): Promise<TransactionReceipt> {
  const transaction = { from: RELAYER, ...(to === null ? {} : { to }), data, gas: `0x${gas.toString(16)}` };
  const hash = await rpc('eth_sendTransaction', [transaction]);
  const raw = await receiptOf(rpc, hash);
  return { ...raw, gasUsed: BigInt(raw.gasUsed), status: Number(raw.status) === 1 ? 'success' : 'reverted' };
}

async function receiptOf(
  rpc: (method: string, params: readonly unknown[]) => Promise<never>,
  hash: Hex,
): Promise<TransactionReceipt> {
  // The chain mines at once; just after a snapshot was restored it can forget to, and is told.
  for (let tries = 1; tries < 2_000; tries += 1) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as TransactionReceipt | null;
    if (receipt !== null) return receipt;
    if (tries % 200 === 0) await rpc('evm_mine', []);
    await setTimeout(5);
  }
  throw new Error(`timed out: no receipt of ${hash}`);
}

function tokenCalls(client: PublicClient, send: Send) {
  const call = (functionName: 'mint' | 'blacklist' | 'unBlacklist' | 'pause' | 'unpause', args: readonly unknown[]) =>
    encodeFunctionData({ abi: testTokenAbi as Abi, functionName, args });
  return {
    /** Mints to many accounts in one transaction. */
    mint: (accounts: readonly Address[], value: bigint) => {
      const calls = accounts.map((account) => ({ target: USDC, allowFailure: false, callData: call('mint', [account, value]) }));
      return send(MULTICALL3, encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }));
    },
    block: (account: Address) => send(USDC, call('blacklist', [account])),
    unblock: (account: Address) => send(USDC, call('unBlacklist', [account])),
    pause: () => send(USDC, call('pause', [])),
    unpause: () => send(USDC, call('unpause', [])),
    balance: (account: Address, token: Address = USDC) =>
      client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [account] }),
    isUsed: (payer: Address, nonce: Hex) =>
      client.readContract({ address: USDC, abi: tokenAbi, functionName: 'authorizationState', args: [payer, nonce] }),
    /** The signed authorization sent straight to the token, as a front-runner (or we, for a lone single-author payment) would. */
    transferDirectly: (to: Address, auth: Auth) => send(USDC, directCall(to, auth)),
  };
}

/** Call data of the token's `bytes` overload. */
export function directCall(to: Address, { from, value, validAfter, validBefore, nonce, signature }: Auth): Hex {
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const;
  return encodeFunctionData({ abi: tokenAbi, functionName: 'transferWithAuthorization', args });
}

function routerCalls(client: PublicClient, send: Send) {
  return {
    settleGroup: (group: Group, gas?: bigint) =>
      send(routerAddress, encodeFunctionData({ abi: routerAbi, functionName: 'settleGroup', args: [0n, group] }), gas),
    settleBatch: (groups: readonly Group[], gasPerGroup: readonly bigint[], gas?: bigint) =>
      send(routerAddress, batchCall(groups, gasPerGroup), gas),
    flushAll: (words: readonly Hex[], token: Address = USDC, gas?: bigint) =>
      send(routerAddress, encodeFunctionData({ abi: routerAbi, functionName: 'flushAll', args: [token, words] }), gas),
    flushAround: (words: readonly Hex[], token: Address = USDC, gas?: bigint) =>
      send(routerAddress, encodeFunctionData({ abi: routerAbi, functionName: 'flushAround', args: [token, words] }), gas),
    waitingOf: async (wallet: Address) => {
      const asked = { address: routerAddress, abi: routerAbi, functionName: 'waitingOf', args: [wallet] } as const;
      return (await client.readContract(asked)).toLowerCase() as Address;
    },
    splitOf: (words: readonly Hex[]) =>
      client.readContract({ address: routerAddress, abi: routerAbi, functionName: 'splitOf', args: [words] }),
  };
}

/** Call data of a group. */
export function bytesOf({ legs, auths }: Pick<Group, 'legs' | 'auths'>): number {
  return auths.reduce((sum, { signature }) => sum + itemBytes((signature.length - 2) / 2), groupBytes(legs.length));
}

/** Call data of a batch. */
export function batchCall(groups: readonly Group[], gasPerGroup: readonly bigint[]): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: 'settleBatch', args: [groups, gasPerGroup] });
}

function walletOf(deploy: (artifact: typeof walletArtifact, args: Hex) => Promise<Address>) {
  return (owner: Address, gasToBurn = 0n) =>
    deploy(walletArtifact, encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner, gasToBurn]));
}

/** A new account of its own key. */
export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** A random address nobody has the key of. */
export function newWallet(): Address {
  return `0x${randomBytes(20).toString('hex')}`;
}

/** Lower-case address of an account. */
export function addressOf(account: PrivateKeyAccount): Address {
  return account.address.toLowerCase() as Address;
}

/** Signs one EIP-3009 transfer of test USDC, valid for an hour. */
export async function signAuth({ from, to, value, payer, nonce }: Payment, chainId = 84532): Promise<Auth> {
  const message = {
    from: payer ?? addressOf(from),
    to,
    value,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 36_000),
    nonce: nonce ?? (`0x${randomBytes(32).toString('hex')}` as Hex),
  };
  const signature = await from.signTypedData({
    domain: { name: 'USDC', version: '2', chainId, verifyingContract: USDC },
    types: { TransferWithAuthorization: TRANSFER_FIELDS },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  return { from: message.from, value, validAfter: 0n, validBefore: message.validBefore, nonce: message.nonce, signature };
}

const TRANSFER_FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

/** Events of the router in a receipt, by name. */
export function routerEvents(receipt: TransactionReceipt) {
  return parseEventLogs({ abi: routerAbi, logs: receipt.logs }).filter((log) => log.address.toLowerCase() === routerAddress);
}

/** Token transfers in a receipt: [from, to, value]. */
export function transfers(receipt: TransactionReceipt): readonly (readonly [Address, Address, bigint])[] {
  return parseEventLogs({ abi: tokenAbi, eventName: 'Transfer', logs: receipt.logs }).map(({ args }) => [
    args.from.toLowerCase() as Address,
    args.to.toLowerCase() as Address,
    args.value,
  ]);
}
