/** Many pages, a few at a time. A batch that was cut goes on where it was: what was paid for is not paid for again. */
import type { AgentErrorDetails } from '../errors.ts';
import { AgentError } from '../errors.ts';
import type { Wallet } from '../paying/client.ts';
import type { PayingOptions } from '../paying/fetch.ts';
import type { Pace, ReadPage } from './page.ts';
import { readPage } from './page.ts';

const AT_ONCE = 4;
/** A page that was paid for is not paid for again within a day. */
const ONCE_WITHIN_MS = 24 * 3_600_000;
/** What no other page of the batch would fare better with. */
const ENDING = ['stopped', 'envelope_unreadable', 'ledger_unreadable', 'ledger_locked', 'no_key', 'key_unreadable'];

/** What became of one page. */
export type Outcome = { readonly url: string } & (
  | { readonly ok: true; readonly page: ReadPage }
  | { readonly ok: false; readonly code: string; readonly says: string; readonly details: AgentErrorDetails }
);

/**
 * Reads pages, each address once, and tells each as it is done. `keep` has the text written down before the page counts as done. Never rejects;
 * after a failure that concerns all of them, the rest is not asked.
 */
export async function readPages(
  wallet: Wallet,
  urls: readonly string[],
  options: PayingOptions & Pace & { readonly keep?: (page: ReadPage) => void },
  tell: (outcome: Outcome, done: number, all: number) => void = () => undefined,
): Promise<readonly Outcome[]> {
  const waiting = [...new Set(urls)];
  const all = waiting.length;
  const outcomes: Outcome[] = [];
  let ending: AgentError | null = null;
  const work = async (): Promise<void> => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      const outcome: Outcome = ending ? failureOf(url, ending) : await one(wallet, url, options);
      if (!outcome.ok && ENDING.includes(outcome.code))
        ending = new AgentError(outcome.code as AgentError['code'], outcome.says, outcome.details);
      outcomes.push(outcome);
      tell(outcome, outcomes.length, all);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function one(wallet: Wallet, url: string, options: Parameters<typeof readPages>[2]): Promise<Outcome> {
  try {
    const page = await readPage(wallet, url, { ...options, onceWithinMs: ONCE_WITHIN_MS });
    options.keep?.(page);
    return { url, ok: true, page };
  } catch (error) {
    return failureOf(url, error);
  }
}

function failureOf(url: string, error: unknown): Outcome {
  if (error instanceof AgentError) return { url, ok: false, code: error.code, says: error.message, details: error.details };
  return { url, ok: false, code: 'site_failed', says: 'The request to the site failed.', details: {} };
}
