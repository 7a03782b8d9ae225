/** Load and preloads for faults on running processes. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestSite } from './service.ts';

/** Reports sent one after another by several senders at once, until told to stop. */
export interface ReportLoad {
  /** Slugs of the reports that were answered 202. */
  readonly acknowledged: ReadonlySet<string>;
  /** Status of every answer that was not 202; 0 for a lost connection. */
  readonly refusals: readonly number[];
  stop(): Promise<void>;
}

/** Starts it; each report has a slug of its own. */
export function startReports(baseUrl: string, site: TestSite, senders = 8): ReportLoad {
  const acknowledged = new Set<string>();
  const refusals: number[] = [];
  let isOver = false;
  const send = async (): Promise<void> => {
    while (!isOver) {
      const slug = randomBytes(9).toString('base64url');
      const body = { resource: `https://${site.host}/articles/${slug}`, slug, verdict: 'denied', classifiedAs: 'agent' };
      const status = await fetch(`${baseUrl}/_svc/observe`, {
        method: 'POST',
        headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        },
        () => 0,
      );
      if (status === 202) acknowledged.add(slug);
      else {
        refusals.push(status);
        await sleep(50);
      }
    }
  };
  const ended = Array.from({ length: senders }, send);
  return {
    acknowledged,
    refusals,
    stop: async () => {
      isOver = true;
      await Promise.all(ended);
    },
  };
}

/** A program that runs before a process's own. */
function preload(source: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(source).toString('base64')}` };
}

/** The environment of a process whose clock is wrong by that much. */
export function wrongClock(offsetMs: number): Readonly<Record<string, string>> {
  return preload(`
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...args) { if (args.length === 0) super(Right.now() + ${offsetMs}); else super(...args); }
      static now() { return Right.now() + ${offsetMs}; }
    };`);
}

/** The environment of a process whose event loop stands still for that long at every SIGUSR2. */
export function blockable(ms: number): Readonly<Record<string, string>> {
  return preload(`process.on('SIGUSR2', () => { const end = Date.now() + ${ms}; while (Date.now() < end); });`);
}
