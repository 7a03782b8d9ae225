import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MessagePort } from 'node:worker_threads';
import type { Log } from '../../modules/kernel/log.ts';
import type { Engine } from '../request/engine.ts';
import type { FromThread, ToThread } from './messages.ts';

const RESOLUTION_MS = 20;
const DELAY_EVERY_MS = 5_000;
const NANOSECONDS_PER_MS = 1e6;

/** Answers what comes through a port, as it comes; `end` is called once when the other side wants no more. */
export function serve(port: MessagePort, ask: Engine, end: () => Promise<void>): void {
  const tell = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  loop.enable();
  const timer = setInterval(() => {
    tell({ kind: 'delay', ms: Math.max(0, loop.max / NANOSECONDS_PER_MS - RESOLUTION_MS) });
    loop.reset();
  }, DELAY_EVERY_MS);
  port.on('message', async (message: ToThread) => {
    if (message === null) {
      clearInterval(timer);
      await end();
      port.close();
      return;
    }
    const answer = await ask(message.call);
    tell({ kind: 'answer', id: message.id, answer }, [answer.body.buffer]);
  });
  tell({ kind: 'ready' });
}

/** A log whose lines are written by the other side; of an error its stack alone is taken across. */
export function logThrough(port: MessagePort): Log {
  const write = (level: 'info' | 'warn' | 'error') => (fields: Record<string, unknown>, message: string) => {
    const plain = Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? (value.stack ?? String(value)) : String(value),
    ]);
    port.postMessage({ kind: 'log', level, fields: Object.fromEntries(plain), message } satisfies FromThread);
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
