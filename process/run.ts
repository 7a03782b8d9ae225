import type { Log } from '../platform/telemetry/log.ts';
import { createLog } from '../platform/telemetry/log.ts';
import { ConfigError } from './config/variable.ts';
import type { Config } from './config.ts';
import { VERSION } from './version.ts';
import { reasonOf } from './whileAway.ts';

/** What a process that failed may still take to close. */
const END_MS = 1_000;

/**
 * Runs a process that serves, with its log: whatever keeps it from starting, or ends it, is one `fatal` line and status 1. What is wrong
 * with the environment is listed in it.
 */
export async function runProcess<C extends Pick<Config, 'logLevel'>>(
  name: 'api' | 'worker',
  read: () => C,
  work: (config: C, log: Log) => Promise<void>,
): Promise<void> {
  let log = createLog({ level: 'fatal', name, version: VERSION });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, `the ${name} has a defect and ends`);
    process.exit(1);
  });
  try {
    const config = read();
    log = createLog({ level: config.logLevel, name, version: VERSION });
    await work(config, log);
  } catch (error) {
    if (error instanceof ConfigError) log.fatal({ problems: error.problems }, error.message);
    else log.fatal({ err: error }, `the ${name} cannot run: ${reasonOf(error)}`);
    process.exitCode = 1;
    // What it had opened would keep it alive, doing nothing.
    setTimeout(() => process.exit(), END_MS).unref();
  }
}

/** Runs a command that ends by itself: what it rejects with is one sentence on standard error, and status 1. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = 1;
  }
}
