import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('watchdog.mjs', import.meta.url));
let watchdog: ChildProcess | null = null;

/**
 * Has `pid`'s process group ended by `signal` when this process is gone, in whatever way it goes. One watchdog process serves
 * all; it is started with the first group and ends with this process. Watching a group twice keeps the last signal.
 */
export function watch(pid: number, signal: NodeJS.Signals): void {
  tell(`+ ${pid} ${signal}\n`);
}

/** Says that the group is gone, so that its number, which the system may give to others, is left alone. */
export function unwatch(pid: number): void {
  tell(`- ${pid}\n`);
}

function tell(line: string): void {
  watchdog ??= startWatchdog();
  watchdog.stdin?.write(line);
}

/** In a session of its own, without our output: neither Ctrl-C nor a closed terminal reaches it. */
function startWatchdog(): ChildProcess {
  const child = spawn(process.execPath, [SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  child.once('error', () => {});
  child.stdin?.on('error', () => {});
  child.once('exit', () => {
    if (watchdog === child) watchdog = null;
  });
  child.unref();
  const pipe = child.stdin as unknown as { unref?: () => void } | null;
  pipe?.unref?.();
  return child;
}
