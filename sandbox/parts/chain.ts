import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { choosePort } from './ports.ts';
import { onFreePort, releasePort } from './ports.ts';
import type { PartProcess } from './processes.ts';
import { startProcess, untilReady } from './processes.ts';

/** Where a chain is kept and how it runs. */
export interface ChainOptions {
  /** Keeps log, cache and (with `keep`) the state. */
  readonly folder: string;
  /** The port to try first (0: any), then the next free one. */
  readonly port?: number;
  /** 84532 (Base Sepolia) unless told, so that x402 clients know the network. */
  readonly chainId?: number;
  /** Load the state of an earlier run, write it every second and at the end. */
  readonly keep?: boolean;
  /** Seconds between blocks that need no transaction; 1 unless told. Null: a block for each transaction, and no other. */
  readonly blockTimeSeconds?: number | null;
  /** Epoch seconds of the first block of a chain that begins; now unless told. One that is kept goes on where it was. */
  readonly beginsAt?: number;
  /** How a port is chosen; by trying what is free unless told. */
  readonly choosePort?: typeof choosePort;
}

/** A running chain. */
export interface Chain {
  readonly rpcUrl: string;
  readonly port: number;
  readonly chainId: number;
  readonly process: PartProcess;
  /** Ends it, its state written. A second call waits for the first. */
  stop(): Promise<void>;
}

/** Thrown for a state file cut short: the chain cannot go on from it. */
export class ChainStateUnreadable extends Error {}

/**
 * Starts an anvil on 127.0.0.1 that behaves like a network: a block a second even when idle, and at once for a transaction;
 * `safe` is one block behind `latest`, `finalized` two; transactions above 16,777,216 gas are refused (EIP-7825; hardfork Osaka).
 * Throws `ChainStateUnreadable` for a broken state file, and an `Error` with anvil's own words if it does not start.
 */
export async function startChain(options: ChainOptions): Promise<Chain> {
  const chainId = options.chainId ?? 84_532;
  mkdirSync(options.folder, { recursive: true });
  const stateFile = join(options.folder, 'state.json');
  if (options.keep === true) checkState(stateFile);
  const start = (port: number): Promise<Chain> => startOn(port, options, chainId, stateFile);
  return onFreePort(options.port ?? 0, start, options.choosePort);
}

async function startOn(port: number, options: ChainOptions, chainId: number, stateFile: string): Promise<Chain> {
  const boundFile = join(options.folder, 'bound.json');
  rmSync(boundFile, { force: true });
  const process = await startProcess({
    name: 'anvil',
    command: anvilProgram(),
    args: [...flags(options, chainId, port, stateFile), '--config-out', boundFile],
    logFile: join(options.folder, 'anvil.log'),
  });
  void process.exited.then(() => releasePort(port));
  const rpcUrl = `http://127.0.0.1:${port}`;
  const probe = async (): Promise<void> => {
    // Written once anvil has bound the port: before that another process there might answer.
    if (!existsSync(boundFile)) throw new Error('anvil has not bound its port');
    await callChain(rpcUrl, 'eth_chainId', []);
  };
  try {
    await untilReady(process, probe, 180_000);
  } catch (error) {
    await process.stop();
    throw error;
  }
  return { rpcUrl, port, chainId, process, stop: () => process.stop() };
}

function flags(options: ChainOptions, chainId: number, port: number, stateFile: string): string[] {
  const blockTime = options.blockTimeSeconds === undefined ? 1 : options.blockTimeSeconds;
  return [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--chain-id',
    String(chainId),
    '--quiet',
    '--hardfork',
    'osaka',
    '--enable-tx-gas-limit',
    '--slots-in-an-epoch',
    '1',
    '--cache-path',
    join(options.folder, 'cache'),
    ...(blockTime === null ? [] : ['--block-time', String(blockTime), '--mixed-mining']),
    ...(options.beginsAt === undefined ? [] : ['--timestamp', String(options.beginsAt)]),
    ...(options.keep === true ? ['--state', stateFile, '--state-interval', '1'] : []),
  ];
}

function checkState(file: string): void {
  if (!existsSync(file)) return;
  try {
    JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new ChainStateUnreadable(`the chain's state in ${file} is cut short`, { cause });
  }
}

/** anvil's own program from its platform package, not the wrapper around it, so that a signal reaches it. */
export function anvilProgram(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  const here = createRequire(import.meta.url);
  try {
    const manifest = createRequire(here.resolve('@foundry-rs/anvil/package.json')).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch (cause) {
    throw new Error(`no chain node: the package ${name} is not installed (run npm ci with optional packages)`, { cause });
  }
}

/** One JSON-RPC call to a local node. Throws an `Error` with the node's message, or when nobody answers within 10 s. */
export async function callChain<T>(rpcUrl: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  });
  const answer = (await response.json()) as { result?: T; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result as T;
}
