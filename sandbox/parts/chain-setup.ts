import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, parseAbi, toHex } from 'viem/utils';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { deployRouterTransaction, routerAddress } from '../../platform/chain/router/split.ts';
import { callChain } from './chain.ts';

/** Base Sepolia's USDC, where our test token is placed. */
export const USDC_ADDRESS: Address = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
/** Multicall3 has this address on every network. */
export const MULTICALL_ADDRESS: Address = '0xca11bde05977b3631167028862be2a173976ca11';
/** The test token lets anybody mint. */
const MINT_ABI = parseAbi(['function mint(address to, uint256 value)']);

/** What to put on a local chain. */
export interface ChainSetup {
  readonly rpcUrl: string;
  /** Where the token is placed: Base Sepolia's USDC unless told. */
  readonly usdc?: Address;
  /** Addresses that pay gas; each gets `gasWei`. */
  readonly relayers?: readonly Address[];
  /** 100 ether unless told. */
  readonly gasWei?: bigint;
  /** Test USDC to hand out, in micro. */
  readonly mint?: readonly { readonly to: Address; readonly amountMicro: bigint }[];
}

/** What is where after the setup. */
export interface PreparedChain {
  readonly usdc: Address;
  readonly router: Address;
  readonly multicall: Address;
}

/**
 * Makes a local chain ready to settle on: test USDC (EIP-712 domain `USDC`/`2`) and Multicall3 at the addresses real clients
 * know, the router by the deterministic deployer, gas for the relayers, USDC for payers. Needs anvil's own methods.
 * A second call leaves what is there as it is, sets the relayers' gas anew and mints again: mint on a new chain only.
 */
export async function prepareChain(setup: ChainSetup): Promise<PreparedChain> {
  const { rpcUrl, usdc = USDC_ADDRESS } = setup;
  await placeContracts(rpcUrl, usdc);
  if ((await codeAt(rpcUrl, routerAddress)) === '0x') await sendFromFaucet(rpcUrl, deployRouterTransaction());
  for (const relayer of setup.relayers ?? []) await fundGas(rpcUrl, relayer, setup.gasWei);
  for (const { to, amountMicro } of setup.mint ?? []) await mintUsdc(rpcUrl, to, amountMicro, usdc);
  return { usdc, router: routerAddress, multicall: MULTICALL_ADDRESS };
}

/** What real chains have before we come: USDC and Multicall3. A second call changes nothing. */
export async function placeContracts(rpcUrl: string, usdc = USDC_ADDRESS): Promise<void> {
  await placeCode(rpcUrl, usdc, 'TestUSDC');
  await placeCode(rpcUrl, MULTICALL_ADDRESS, 'TestMulticall3');
}

/** Sets an account's ether; 100 ether unless told. */
export async function fundGas(rpcUrl: string, account: Address, wei = 100n * 10n ** 18n): Promise<void> {
  await callChain(rpcUrl, 'anvil_setBalance', [account, toHex(wei)]);
}

/** Mints test USDC and waits until it is mined. Every call mints again. */
export async function mintUsdc(rpcUrl: string, to: Address, amountMicro: bigint, usdc: Address = USDC_ADDRESS): Promise<void> {
  const data = encodeFunctionData({ abi: MINT_ABI, functionName: 'mint', args: [to, amountMicro] });
  await sendFromFaucet(rpcUrl, { to: usdc, data });
}

async function placeCode(rpcUrl: string, address: Address, artifact: string): Promise<void> {
  const file = new URL(`../../contracts/artifacts/test/${artifact}.json`, import.meta.url);
  const { deployedBytecode } = JSON.parse(readFileSync(file, 'utf8')) as { deployedBytecode: string };
  if ((await codeAt(rpcUrl, address)) === '0x') await callChain(rpcUrl, 'anvil_setCode', [address, deployedBytecode]);
}

function codeAt(rpcUrl: string, address: Address): Promise<string> {
  return callChain<string>(rpcUrl, 'eth_getCode', [address, 'latest']);
}

/** Sends from anvil's last unlocked account, which is nobody else's, and waits for the receipt. Throws if it failed. */
async function sendFromFaucet(rpcUrl: string, transaction: { to: string; data: string }): Promise<void> {
  const [faucet] = (await callChain<string[]>(rpcUrl, 'eth_accounts', [])).slice(-1);
  const hash = await callChain<string>(rpcUrl, 'eth_sendTransaction', [{ from: faucet, ...transaction }]);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const receipt = await callChain<{ status: string } | null>(rpcUrl, 'eth_getTransactionReceipt', [hash]);
    if (receipt?.status === '0x1') return;
    if (receipt !== null) throw new Error(`the setup transaction ${hash} failed on chain`);
    await sleep(50);
  }
  throw new Error(`the setup transaction ${hash} was not mined within 10 s`);
}
