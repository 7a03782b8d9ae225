import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callChain } from './chain.ts';
import { takeLock } from './lock.mjs';
import { removeCluster } from './postgres/cluster.ts';
import type { Progress } from './progress.mjs';

/** The folders of one sandbox: Postgres, Temporal and chain are one unit, kept or removed together. */
export interface StateFolders {
  readonly root: string;
  readonly postgres: string;
  readonly temporal: string;
  readonly chain: string;
}

/** What makes a chain the one a database knows. */
export interface ChainFacts {
  readonly chainId: number;
  /** Hash of block 1: anvil adds another block 0 each time it loads its state, and shows any of them. Empty without blocks. */
  readonly genesisHash: string;
  /** Runtime code at the router's address; `0x` for none. */
  readonly routerCode: string;
  /** The relayer's next nonce. */
  readonly relayerNonce: number;
}

/** What the database knows of its chain. The nonce is the lowest the relayer must have: one above the highest mined. */
export interface KnownChain extends Omit<ChainFacts, 'relayerNonce'> {
  readonly minimumRelayerNonce: number;
}

/** The folders below `root` (`.sandbox`). Pure. */
export function stateFolders(root: string): StateFolders {
  return { root, postgres: join(root, 'postgres'), temporal: join(root, 'temporal'), chain: join(root, 'chain') };
}

/** Takes the sandbox for this process and returns the release. Throws at once when another living process has it. */
export async function lockState(root: string): Promise<() => void> {
  mkdirSync(root, { recursive: true });
  return takeLock(join(root, 'lock'), { waitMs: 0 }).catch((cause: Error) => {
    throw new Error(`this sandbox runs already (${cause.message}): stop it first, or use another checkout`, { cause });
  });
}

/** Removes all three and says why. None of them may run. Returns whether there was anything. */
export function wipeState(folders: StateFolders, reason: string, progress: Progress): boolean {
  const there = [folders.postgres, folders.temporal, folders.chain].some((folder) => existsSync(folder));
  removeCluster(folders.postgres);
  rmSync(folders.temporal, { recursive: true, force: true });
  rmSync(folders.chain, { recursive: true, force: true });
  if (there) progress(`starting fresh (database, workflows and chain together): ${reason}`);
  return there;
}

/**
 * Removes all three when only some are there, since what one knows of the others would be wrong. To be called before the
 * parts start. Returns whether it did.
 */
export function wipePartialState(folders: StateFolders, progress: Progress): boolean {
  const parts = [folders.postgres, folders.temporal, folders.chain];
  const missing = parts.filter((folder) => !existsSync(folder));
  if (missing.length === 0 || missing.length === parts.length) return false;
  return wipeState(folders, `${missing.join(' and ')} is missing`, progress);
}

/** While it is in the chain's folder, a history is being written or was cut short: nothing that chain and database say is certain. */
const historyFile = ({ chain }: StateFolders): string => join(chain, 'history-is-open');

/** Says that a history is written from now on. */
export function openHistory(folders: StateFolders): void {
  mkdirSync(folders.chain, { recursive: true });
  writeFileSync(historyFile(folders), '');
}

/** Says that it is written. */
export function closeHistory(folders: StateFolders): void {
  rmSync(historyFile(folders), { force: true });
}

/** True between the two, also of an earlier run. */
export function isHistoryOpen(folders: StateFolders): boolean {
  return existsSync(historyFile(folders));
}

/** Reads the facts of a running chain. Throws when it does not answer. */
export async function readChainFacts(rpcUrl: string, router: string, relayer: string): Promise<ChainFacts> {
  const [chainId, first, routerCode, nonce] = await Promise.all([
    callChain<string>(rpcUrl, 'eth_chainId', []),
    callChain<{ hash: string } | null>(rpcUrl, 'eth_getBlockByNumber', ['0x1', false]),
    callChain<string>(rpcUrl, 'eth_getCode', [router, 'latest']),
    callChain<string>(rpcUrl, 'eth_getTransactionCount', [relayer, 'latest']),
  ]);
  return { chainId: Number(chainId), genesisHash: first?.hash ?? '', routerCode, relayerNonce: Number(nonce) };
}

/** Why this chain is not the one the database knows, as a sentence; null when it is. Pure. */
export function findMismatch(chain: ChainFacts, known: KnownChain): string | null {
  if (chain.chainId !== known.chainId) return `the chain has id ${chain.chainId}, the database knows ${known.chainId}`;
  if (chain.genesisHash.toLowerCase() !== known.genesisHash.toLowerCase())
    return 'the chain was reset after the database was written';
  if (chain.routerCode.toLowerCase() !== known.routerCode.toLowerCase())
    return 'the router on the chain is not the one the database knows';
  if (chain.relayerNonce < known.minimumRelayerNonce) {
    return `the chain lacks transactions the database has seen mined (nonce ${chain.relayerNonce}, at least ${known.minimumRelayerNonce})`;
  }
  return null;
}
