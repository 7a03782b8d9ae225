import type { Worker } from 'node:worker_threads';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Log } from '../../modules/kernel/log.ts';
import type { Metrics } from '../../modules/kernel/metrics.ts';
import { GRACE_MS, PENALTY_MS, QUERY_LIMIT_MS } from '../limits/limits.ts';
import { limitRefusal } from '../limits/refusal.ts';
import type { Answer } from '../request/answer.ts';
import { failedAnswer } from '../request/answer.ts';
import { siteOf } from '../request/context.ts';
import type { Call, Engine } from '../request/engine.ts';
import type { FromThread, ToThread } from './messages.ts';

/** A thread that answers questions. */
export interface QueryThread {
  /** Rejects with `throttled` for a site whose query ended the thread a moment ago, and with `overloaded` when no thread can be had. */
  readonly ask: Engine;
  /** Lets the thread close what it holds, and ends it. */
  close(): Promise<void>;
}

/** What a thread is hosted with. */
export interface ThreadOptions {
  /** Starts a thread that runs `serve`. */
  readonly start: () => Worker;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'count' | 'record'> | undefined;
  /** How long a question may keep the thread; what is later than that was not ended by its own budget. */
  readonly limitMs?: number;
}

/** Why a question has no answer: the thread ended because of it, or beside it. */
type Ended = 'time' | 'memory' | 'beside';

interface Thread {
  readonly worker: Worker;
  readonly ready: Promise<void>;
  readonly waiting: Map<number, (answer: Answer | Ended) => void>;
  /** Why it was ended by us; what else ends it is its memory or a defect. */
  ending: 'time' | 'closed' | null;
}

const BOOT_LIMIT_MS = 60_000;
const CLOSE_LIMIT_MS = 2_000;

/**
 * Hosts the thread that questions are executed in. A query that keeps it too long, or takes its memory, ends it: nothing else stops
 * JavaScript that runs. Its caller is told, and has to wait for a while with further questions; those that were with it in the thread
 * are asked once more, one after another, in a fresh one. Resolves when the first thread takes questions; rejects when it cannot.
 */
export async function openQueryThread(options: ThreadOptions): Promise<QueryThread> {
  const host = new Host(options);
  await host.open();
  return host;
}

class Host implements QueryThread {
  readonly #options: ThreadOptions;
  readonly #penalties = new Map<string, number>();
  #thread: Thread | null = null;
  #isClosed = false;
  #lastId = 0;
  /** The end of questions that are asked once more, each alone. */
  #calm: Promise<unknown> = Promise.resolve();

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await this.#running().ready;
  }

  readonly ask: Engine = async (call) => {
    this.#requireNoPenalty(call);
    await this.#calm;
    const first = await this.#send(call);
    if (first !== 'beside') return this.#answer(call, first);
    const again = this.#calm.then(async () => this.#answer(call, await this.#send(call)));
    this.#calm = again.catch(() => undefined);
    return await again;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    if (!thread) return;
    thread.ending = 'closed';
    const ended = new Promise((resolve) => thread.worker.once('exit', resolve));
    thread.worker.postMessage(null satisfies ToThread);
    const timer = setTimeout(() => void thread.worker.terminate(), CLOSE_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  }

  #answer(call: Call, result: Answer | Ended): Answer {
    if (typeof result === 'object') return result;
    if (result === 'beside') throw unavailable();
    this.#penalties.set(siteOf(call), Date.now() + PENALTY_MS);
    const what = result === 'time' ? 'time' : 'memory';
    const sentence = `this query needs more ${what} than one query may use: ask for shorter pages, fewer lists or a shorter window`;
    return failedAnswer([limitRefusal(result, sentence)]);
  }

  #requireNoPenalty(call: Call): void {
    const nowMs = Date.now();
    for (const [site, untilMs] of this.#penalties) if (untilMs <= nowMs) this.#penalties.delete(site);
    const untilMs = this.#penalties.get(siteOf(call));
    if (untilMs === undefined) return;
    const retryAfterSeconds = Math.ceil((untilMs - nowMs) / 1_000);
    throw new ServiceError('throttled', 'one of your queries exceeded its limits; wait a moment', { retryAfterSeconds });
  }

  async #send(call: Call): Promise<Answer | Ended> {
    this.#requireNoPenalty(call); // another question of its site may have ended the thread while it waited
    const thread = this.#running();
    await thread.ready.catch(() => {
      throw unavailable();
    });
    if (this.#thread !== thread) return 'beside';
    const id = ++this.#lastId;
    const limitMs = this.#options.limitMs ?? QUERY_LIMIT_MS + GRACE_MS;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        thread.ending ??= 'time';
        void thread.worker.terminate();
      }, limitMs);
      const done = (answer: Answer | Ended): void => {
        clearTimeout(timer);
        thread.waiting.delete(id);
        resolve(answer);
      };
      thread.waiting.set(id, done);
      thread.worker.postMessage({ id, call } satisfies ToThread);
    });
  }

  #running(): Thread {
    if (this.#isClosed) throw unavailable();
    this.#thread ??= this.#start();
    return this.#thread;
  }

  #start(): Thread {
    const worker = this.#options.start();
    let failure: Error | null = null;
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => void worker.terminate(), BOOT_LIMIT_MS);
      worker.on('message', (message: FromThread) => {
        if (message.kind !== 'ready') return this.#heard(thread, message);
        clearTimeout(timer);
        resolve();
      });
      worker.on('error', (error: Error) => {
        failure = error;
      });
      worker.once('exit', () => {
        clearTimeout(timer);
        this.#ended(thread, failure);
        reject(failure ?? new Error('the thread ended before it took questions'));
      });
    });
    ready.catch(() => undefined); // those who await it get the error
    const thread: Thread = { worker, ready, waiting: new Map(), ending: null };
    return thread;
  }

  #heard(thread: Thread, message: Exclude<FromThread, { kind: 'ready' }>): void {
    if (message.kind === 'answer') thread.waiting.get(message.id)?.(message.answer);
    else if (message.kind === 'delay') this.#options.metrics?.record('svc.graphql.loop_delay', message.ms);
    else this.#options.log[message.level](message.fields, message.message);
  }

  /** Fails what waits. A question that was alone in a thread took its time or memory; of several it is not known which did. */
  #ended(thread: Thread, failure: Error | null): void {
    if (this.#thread === thread) this.#thread = null;
    const isMemory = (failure as { code?: string } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const reason = thread.ending ?? (isMemory ? 'memory' : 'defect');
    const fate = (reason === 'memory' || reason === 'time') && thread.waiting.size === 1 ? reason : 'beside';
    if (reason !== 'closed') {
      this.#options.metrics?.count('svc.graphql.restarts', 1, { reason });
      this.#options.log.error({ reason, err: failure, questions: thread.waiting.size }, 'the thread of GraphQL has ended');
    }
    for (const done of [...thread.waiting.values()]) done(fate);
  }
}

function unavailable(): ServiceError {
  return new ServiceError('overloaded', 'queries cannot be answered right now; try again', { retryAfterSeconds: 2 });
}
