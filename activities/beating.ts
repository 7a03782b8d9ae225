import { heartbeat } from '@temporalio/activity';

/** Beats every `everyMs` while the work of an activity goes on, so that the server soon notices a worker that died. */
export async function beating<T>(everyMs: number, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
