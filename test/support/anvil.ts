/** One anvil chain for tests: a free port of 127.0.0.1, ended by `stop()`, and at the latest with this process. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** How a chain behaves; every option left out keeps anvil's default, except the chain id (84532) and the gas limit. */
export interface AnvilOptions {
  readonly chainId?: number;
  /** Seconds between blocks; without it every transaction makes its own block. */
  readonly blockTimeSeconds?: number;
  /** With a block time: transactions also make blocks at once. */
  readonly mixedMining?: boolean;
  readonly slotsInAnEpoch?: number;
  /** Refuse transactions above 16,777,216 gas (EIP-7825), as networks do; on unless false. */
  readonly enableTxGasLimit?: boolean;
  /** File the chain is loaded from and saved to. */
  readonly statePath?: string;
  readonly stateIntervalSeconds?: number;
  /** Port to use; a free one chosen by the system when left out. */
  readonly port?: number;
}

/** A running chain. */
export interface Anvil {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly pid: number;
  /** Ends the chain and resolves when it has gone; a second call does the same. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 5_000;

/** Starts a chain and resolves when it listens. Rejects when anvil is not installed for this platform or does not start. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 84532;
  const child = spawn(anvilBinary(), flags(options, chainId), { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    process.removeListener('exit', kill);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const timer = setTimeout(kill, STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  try {
    const address = await listening(child);
    return { rpcUrl: `http://${address}`, chainId, pid: child.pid ?? 0, stop };
  } catch (error) {
    kill();
    throw error;
  }
}

function flags(options: AnvilOptions, chainId: number): readonly string[] {
  const list = ['--host', '127.0.0.1', '--port', String(options.port ?? 0), '--chain-id', String(chainId)];
  if (options.blockTimeSeconds !== undefined) list.push('--block-time', String(options.blockTimeSeconds));
  if (options.mixedMining === true) list.push('--mixed-mining');
  if (options.slotsInAnEpoch !== undefined) list.push('--slots-in-an-epoch', String(options.slotsInAnEpoch));
  if (options.enableTxGasLimit !== false) list.push('--enable-tx-gas-limit');
  if (options.statePath !== undefined) list.push('--state', options.statePath);
  if (options.stateIntervalSeconds !== undefined) list.push('--state-interval', String(options.stateIntervalSeconds));
  return list;
}

/** The native program, not its wrapper, so that `pid` is the chain's own. */
function anvilBinary(): string {
  const fromHere = createRequire(import.meta.url);
  const fromWrapper = createRequire(join(dirname(fromHere.resolve('@foundry-rs/anvil/package.json')), 'package.json'));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const manifest = fromWrapper.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`);
  return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('anvil did not listen in time')), START_TIMEOUT_MS);
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error(`anvil did not start: ${reason}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`exit code ${code}: ${text.slice(-500)}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (text.length < 20_000) text += chunk.toString();
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (text.length < 20_000) text += chunk.toString();
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(text)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}
