/** Work beside callers that call all the time, in a process of their own of the lowest priority. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Attack } from './attacker.ts';

const ATTACKER = fileURLToPath(new URL('attacker.ts', import.meta.url));

/** Does some work from the first answer of the callers on; then ends them, and tells how often they were answered what, as JSON by status. */
export async function besideCallers<T>(attack: Attack, work: () => Promise<T>, told: (answers: string) => void): Promise<T> {
  const child = spawn('nice', ['-n', '19', process.execPath, ATTACKER], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  standBack(child.pid as number);
  child.stdin.write(`${JSON.stringify(attack)}\n`);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  try {
    await lines.next();
    return await work();
  } finally {
    child.stdin.end();
    told(String((await lines.next()).value));
    await ended;
  }
}

/**
 * Where Linux schedules sessions as groups (`sched_autogroup`), a nice value counts inside its own session alone, and a caller of the lowest
 * priority takes as much as the whole API: so the callers are a session of their own, which has the lowest priority itself.
 */
function standBack(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, '19');
  } catch {
    // No such groups here: the nice value is all it takes.
  }
}
