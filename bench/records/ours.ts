import type { Answer, BenchWindow } from './plain.ts';

interface EarningsBody {
  readonly totals: { readonly events: number; readonly reads: number; readonly grossMicroUsdc: number; readonly authors: number };
  readonly breakdown?: readonly { readonly key: string; readonly events: number; readonly grossMicroUsdc: number }[];
}

interface AuditBody {
  readonly totals: Readonly<Record<string, number>>;
  readonly byAgent: readonly { readonly agent: string; readonly hits: number }[];
}

/** An API process, and the key that asks it. */
export interface Asked {
  readonly url: string;
  readonly key: string;
}

/** Earnings over HTTP, with the newest 50 crossings, in the words of `plainEarnings`. */
export async function ourEarnings(asked: Asked, window: BenchWindow): Promise<Answer> {
  const { totals } = await ask<EarningsBody>(asked, 'earnings', window);
  return { events: totals.events, reads: totals.reads, micro: String(totals.grossMicroUsdc), authors: totals.authors };
}

/** A breakdown of earnings over HTTP, in the words of `plainEarningsBy`. */
export async function ourEarningsBy(asked: Asked, window: BenchWindow, groupBy: 'slug' | 'author'): Promise<Answer> {
  const { breakdown } = await ask<EarningsBody>(asked, 'earnings', window, `&groupBy=${groupBy}`);
  const word = (key: string): string => (groupBy === 'author' ? key.toLowerCase() : key);
  return Object.fromEntries(
    (breakdown ?? []).map(({ key, events, grossMicroUsdc }) => [word(key), `${events} ${grossMicroUsdc}`]),
  );
}

/** The audit over HTTP, with the newest 50 observations, in the words of `plainAudit`. */
export async function ourAudit(asked: Asked, window: BenchWindow): Promise<Answer> {
  const { totals, byAgent } = await ask<AuditBody>(asked, 'audit', window);
  const words = {
    observations: 'observations',
    verified: 'verifiedHits',
    denied: 'denied',
    paid: 'paid',
    'served-free': 'servedFree',
    'payment-failed': 'paymentFailed',
    missed: 'missedMicroUsdc',
    earned: 'earnedMicroUsdc',
  };
  return {
    ...Object.fromEntries(Object.entries(words).map(([word, name]) => [word, totals[name] ?? Number.NaN])),
    ...Object.fromEntries(byAgent.map(({ agent, hits }) => [`agent ${agent}`, hits])),
  };
}

async function ask<Body>({ url, key }: Asked, report: string, { fromMs, toMs }: BenchWindow, more = ''): Promise<Body> {
  const path = `/_svc/${report}?from=${fromMs}&to=${toMs}&limit=50${more}`;
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return (await answer.json()) as Body;
}
