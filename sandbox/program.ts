import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localSigner } from '../platform/chain/signature/signer.ts';
import type { Lifetime } from './lifetime.ts';
import { createLifetime } from './lifetime.ts';
import type { SandboxOptions } from './options.ts';
import { stopOnSignals } from './parts/signals.ts';
import { isHistoryOpen, lockState, stateFolders, wipePartialState, wipeState } from './parts/state.ts';
import type { Printer } from './print.ts';
import { findSecrets, openSecrets } from './secrets.ts';
import type { Shown } from './showing.ts';
import type { Topology } from './topology.ts';
import { SANDBOX } from './topology.ts';
import { startUnit } from './unit.ts';

/** While a file of this name is in the state folder, processes that end are not started again: for breaking things on purpose. */
const HOLD_FILE = 'hold';

/**
 * Runs the sandbox: parts, service, one purchase on screen, `sandbox.json`, then serves until a signal. With
 * `exit` it ends after the purchase, with `then` after that and with its status. Resolves with the status to end with; on a signal the
 * process ends from within.
 */
export async function runSandbox(
  options: SandboxOptions,
  printer: Printer,
  topology: Topology = SANDBOX,
  then?: (shown: Shown) => Promise<number>,
): Promise<number> {
  const contractFile = join(options.folder, topology.contractName);
  const release = await lockState(options.folder);
  rmSync(contractFile, { force: true });
  let giveUp: (reason: string) => void = () => undefined;
  const gaveUp = new Promise<never>((_resolve, reject) => {
    giveUp = (reason) => reject(new Error(reason));
  });
  gaveUp.catch(() => undefined);
  const holdFile = join(options.folder, HOLD_FILE);
  rmSync(holdFile, { force: true });
  const lifetime = createLifetime({ say: printer.say, giveUp, isHeld: () => existsSync(holdFile) });
  const boot = bootSandbox(options, topology, lifetime, printer);
  let ended: Promise<void> | null = null;
  const end = async (): Promise<void> => {
    rmSync(contractFile, { force: true });
    const stopped = lifetime.stop();
    await Promise.race([boot.catch(() => undefined), sleep(3_000)]);
    await stopped;
    await lifetime.lateEnds();
    rmSync(contractFile, { force: true });
    release();
  };
  const stop = (): Promise<void> => (ended ??= end());
  stopOnSignals(async (reason) => {
    printer.say(`\nstopping (${reason})`);
    await stop();
    printer.say('stopped');
  });
  try {
    const shown = await Promise.race([boot, gaveUp]);
    const status = shown && then ? await Promise.race([then(shown), gaveUp]) : null;
    if (status === null && !options.exit) {
      if (shown) printer.say('\nIt goes on serving. Ctrl-C ends it and keeps its data.');
      await gaveUp;
    }
    await stop();
    return status ?? 0;
  } catch (error) {
    // A signal in the middle of the boot makes it fail; the end is under way then, and its status is that of the signal.
    if (lifetime.isEnding) await new Promise(() => undefined);
    printer.say(`\n${error instanceof Error ? error.message : String(error)}`);
    await stop();
    return 1;
  }
}

/** Null when it was ended in the middle. */
async function bootSandbox(
  options: SandboxOptions,
  topology: Topology,
  lifetime: Lifetime,
  printer: Printer,
): Promise<Shown | null> {
  const secretsFile = join(options.folder, 'secrets.json');
  prepareFolders(options, secretsFile, printer);
  const secrets = openSecrets(secretsFile);
  const relayer = localSigner(secrets.relayerPrivateKey).address;
  // Four fifths of the program are loaded while the parts start: what they take of the processor nobody waits for.
  const [unit, { showService }] = await Promise.all([
    startUnit({ options, topology, relayer, say: printer.say, waits: printer.waits, lifetime }),
    import('./showing.ts'),
  ]);
  return lifetime.isEnding ? null : showService({ options, topology, lifetime, printer, secrets, secretsFile, unit, relayer });
}

/** Data without the secrets that belong to it cannot be used: what is left of it goes. */
function prepareFolders({ folder, fresh }: SandboxOptions, secretsFile: string, { say }: Printer): void {
  const folders = stateFolders(folder);
  if (fresh) {
    wipeState(folders, 'asked for by --fresh', say);
    rmSync(secretsFile, { force: true });
  } else if (findSecrets(secretsFile) === null) wipeState(folders, `${secretsFile} is missing or of another version`, say);
  else if (isHistoryOpen(folders)) wipeState(folders, 'the writing of its history was cut short', say);
  else wipePartialState(folders, say);
}
