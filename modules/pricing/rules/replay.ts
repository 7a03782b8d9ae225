/** Requests that were observed, asked again by other rules: what was, and what would have been. Nothing is guessed of who comes or goes. */

/** What becomes of a request: it pays, it is told a price and does not pay, it is turned away, or it reads free. */
export type Fate = 'paid' | 'missed' | 'refused' | 'free';

/** What rules say of a request, and which of them said it; `ruleId` null: none, the site's ordinary price. */
export type Said =
  | { readonly kind: 'price'; readonly micro: bigint; readonly ruleId: string | null }
  | { readonly kind: 'free'; readonly ruleId: string | null }
  | { readonly kind: 'refuse'; readonly ruleId: string | null };

/** Requests that were alike, as they were. */
export interface SeenRequests {
  readonly host: string;
  readonly path: string;
  readonly agent: string;
  readonly was: Fate;
  /** True: turned away before any price is looked at, and so again. */
  readonly isTurnedAway: boolean;
  readonly hits: number;
  /** What they paid, or were asked for; micro-USDC. */
  readonly micro: bigint;
}

/** Requests by what became of them; every request is one of the four. Micro-USDC. */
export interface Tally {
  readonly paid: number;
  readonly missed: number;
  readonly refused: number;
  readonly free: number;
  readonly earnedMicro: bigint;
  readonly missedMicro: bigint;
}

/** The same requests, as they were and by the rules. */
export interface Replayed {
  readonly was: Tally;
  readonly byRules: Tally;
}

/** The replay of all requests, and by what they were of. */
export interface Replay extends Replayed {
  /** By path. */
  readonly pages: readonly (Replayed & { readonly host: string; readonly path: string })[];
  /** By label. */
  readonly agents: readonly (Replayed & { readonly agent: string })[];
  /** By the rule that decided; what none decided is under null. Requests turned away before are in none. */
  readonly rules: readonly (Replayed & { readonly ruleId: string | null })[];
}

const NOTHING: Tally = { paid: 0, missed: 0, refused: 0, free: 0, earnedMicro: 0n, missedMicro: 0n };

/**
 * Asks every request again. Who paid is asked the new price and pays it; who did not pay is asked it and does not; who read free and is asked a
 * price now does not pay either. So `earnedMicro` is what those who paid would have paid, and a price that drives them away earns less.
 */
export function replay<Seen extends SeenRequests>(seen: readonly Seen[], said: (request: Seen) => Said): Replay {
  const [totals, pages, agents, rules] = [new Sums(), new Sums(), new Sums(), new Sums()];
  const hosts = new Map<string, { readonly host: string; readonly path: string }>();
  for (const request of seen) {
    const { host, path, agent, was, hits, micro } = request;
    const answer = request.isTurnedAway ? null : said(request);
    const before = tallyOf(was, hits, micro);
    const after = answer === null ? tallyOf('refused', hits, 0n) : tallyBy(request, answer);
    const page = `${host}${path}`;
    hosts.set(page, { host, path });
    totals.add('', before, after);
    pages.add(page, before, after);
    agents.add(agent, before, after);
    if (answer !== null) rules.add(answer.ruleId ?? '', before, after);
  }
  const [[, all] = ['', { was: NOTHING, byRules: NOTHING }]] = totals.entries();
  return {
    ...all,
    pages: pages.entries().map(([key, sums]) => ({ host: '', path: key, ...hosts.get(key), ...sums })),
    agents: agents.entries().map(([agent, sums]) => ({ agent, ...sums })),
    rules: rules.entries().map(([ruleId, sums]) => ({ ruleId: ruleId === '' ? null : ruleId, ...sums })),
  };
}

function tallyBy({ was, hits }: SeenRequests, said: Said): Tally {
  if (said.kind === 'refuse') return tallyOf('refused', hits, 0n);
  if (said.kind === 'free') return tallyOf('free', hits, 0n);
  return tallyOf(was === 'paid' ? 'paid' : 'missed', hits, BigInt(hits) * said.micro);
}

function tallyOf(fate: Fate, hits: number, micro: bigint): Tally {
  const one = { ...NOTHING, [fate]: hits };
  return fate === 'paid' ? { ...one, earnedMicro: micro } : fate === 'missed' ? { ...one, missedMicro: micro } : one;
}

/** Tallies by key; the entries of most money that moves first, then of most requests. */
class Sums {
  readonly #sums = new Map<string, Replayed>();

  add(key: string, was: Tally, byRules: Tally): void {
    const sofar = this.#sums.get(key);
    this.#sums.set(key, sofar ? { was: plus(sofar.was, was), byRules: plus(sofar.byRules, byRules) } : { was, byRules });
  }

  entries(): (readonly [string, Replayed])[] {
    return [...this.#sums].sort(([a, x], [b, y]) => {
      const money = moved(y) - moved(x);
      if (money !== 0n) return money > 0n ? 1 : -1;
      return requestsOf(y) - requestsOf(x) || (a < b ? -1 : 1);
    });
  }
}

function plus(a: Tally, b: Tally): Tally {
  return {
    paid: a.paid + b.paid,
    missed: a.missed + b.missed,
    refused: a.refused + b.refused,
    free: a.free + b.free,
    earnedMicro: a.earnedMicro + b.earnedMicro,
    missedMicro: a.missedMicro + b.missedMicro,
  };
}

function moved({ was, byRules }: Replayed): bigint {
  const by = byRules.earnedMicro - was.earnedMicro;
  return by < 0n ? -by : by;
}

function requestsOf({ was }: Replayed): number {
  return was.paid + was.missed + was.refused + was.free;
}
