import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../db/database.ts';
import type { Outbound } from '../../../../platform/outbound/outbound.ts';
import { registeredDomain } from '../../../../platform/outbound/publicSuffix.ts';
import type { Log } from '../../../kernel/log.ts';
import type { AgentCard } from '../../rules/webbotauth/card.ts';
import type { KeySource } from '../../rules/webbotauth/source.ts';
import type { UnverifiedReason } from '../../rules/webbotauth/verdict.ts';
import { findDirectory, storeCard, storeDirectory } from '../../store/agentDirectories.ts';
import type { AgentKey, PublicJwk } from './keys.ts';
import { importAgentKey } from './keys.ts';
import type { NewDirectories } from './newDirectories.ts';
import { openNewDirectories } from './newDirectories.ts';
import { readDirectory, readOwnCard } from './readDirectory.ts';

/** A key of an agent, with what it says of itself; or why there is none. */
export type FoundKey =
  | { readonly ok: true; readonly key: AgentKey; readonly card: AgentCard; readonly freshUntilMs: number }
  | { readonly ok: false; readonly reason: UnverifiedReason; readonly retryAfterSeconds: number };

/** The directories of agents. */
export interface Directories {
  /** The key of this thumbprint at this source, from memory alone; undefined: ask `find`. */
  peek(source: KeySource, keyid: string): FoundKey | undefined;
  /** The same, from the copies all processes share, else from the directory itself. Never rejects; calls at once share one look. */
  find(source: KeySource, keyid: string, tenantId: string): Promise<FoundKey>;
  /** Resolves when no look is under way. */
  settled(): Promise<void>;
}

/** What directories are read with. */
export interface DirectoriesOptions {
  readonly database: Database;
  readonly outbound: Pick<Outbound, 'send' | 'checkUrl'>;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
  readonly newDirectories?: NewDirectories;
}

interface Held {
  readonly keys: ReadonlyMap<string, AgentKey>;
  /** When the directory last answered; -Infinity: never. */
  readonly readAtMs: number;
  readonly freshUntilMs: number;
  readonly card: AgentCard;
  readonly cardAtMs: number;
  /** Since then it fails; it is not asked again before `retryAtMs`. */
  readonly failure: { readonly reason: UnverifiedReason; readonly retryAtMs: number; readonly count: number } | null;
}

const MOST_HELD = 20_000;
/** Keys in memory, of all directories together: a directory brings up to 50. */
const MOST_KEYS_HELD = 20_000;
/** Looks at once, and those of one site: directories that hang hold up nobody else's for long. */
const MOST_FLIGHTS = 64;
const MOST_FLIGHTS_OF_ONE = 8;
/** A key that is not there may be new: so often a fresh directory is asked again because of it. */
const REREAD_MS = 60_000;
/** For how long keys are good while their directory fails; an outage takes no key away. */
const STALE_MS = 7 * 86_400_000;
const FIRST_PAUSE_MS = 10_000;
const MOST_PAUSE_MS = 300_000;
const CARD_MS = 86_400_000;
const NO_CARD: AgentCard = { operator: null, purpose: null };
const NEVER: Held = {
  keys: new Map(),
  readAtMs: Number.NEGATIVE_INFINITY,
  freshUntilMs: Number.NEGATIVE_INFINITY,
  card: NO_CARD,
  cardAtMs: Number.NEGATIVE_INFINITY,
  failure: null,
};

/** Opens them; memory is this process's, the copies behind it are everybody's and outlive a restart. */
export function openDirectories(options: DirectoriesOptions): Directories {
  return new CachedDirectories(options);
}

class CachedDirectories implements Directories {
  readonly #options: DirectoriesOptions;
  readonly #new: NewDirectories;
  readonly #held = new LRUCache<string, Held>({
    max: MOST_HELD,
    maxSize: MOST_KEYS_HELD,
    sizeCalculation: ({ keys }) => 1 + keys.size,
  });
  readonly #flightsOf = new Map<string, number>();
  readonly #flights = new Map<string, Promise<FoundKey | null>>();
  readonly #cards = new Set<Promise<void>>();

  constructor(options: DirectoriesOptions) {
    this.#options = options;
    this.#new = options.newDirectories ?? openNewDirectories(options.clock);
  }

  peek(source: KeySource, keyid: string): FoundKey | undefined {
    const held = this.#held.get(source.address);
    return held && !this.#isDue(held, keyid) ? this.#answer(held, keyid) : undefined;
  }

  async find(source: KeySource, keyid: string, tenantId: string): Promise<FoundKey> {
    if (!this.#options.outbound.checkUrl(source.address).ok) return refused('agent_refused', MOST_PAUSE_MS);
    const running = this.#flights.get(source.address);
    const own = this.#flightsOf.get(tenantId) ?? 0;
    if (running === undefined && (this.#flights.size >= MOST_FLIGHTS || own >= MOST_FLIGHTS_OF_ONE)) {
      return this.#orBusy(source, keyid, 1_000);
    }
    const refusal = await (running ?? this.#start(source, keyid, tenantId));
    return refusal ?? this.#answer(this.#held.get(source.address) ?? NEVER, keyid);
  }

  #start(source: KeySource, keyid: string, tenantId: string): Promise<FoundKey | null> {
    const count = (change: number): void => {
      const left = (this.#flightsOf.get(tenantId) ?? 0) + change;
      if (left > 0) this.#flightsOf.set(tenantId, left);
      else this.#flightsOf.delete(tenantId);
    };
    count(1);
    const flight = this.#load(source, keyid, tenantId).finally(() => {
      count(-1);
      this.#flights.delete(source.address);
    });
    this.#flights.set(source.address, flight);
    return flight;
  }

  async settled(): Promise<void> {
    while (this.#flights.size + this.#cards.size > 0) await Promise.allSettled([...this.#flights.values(), ...this.#cards]);
  }

  /** Sees to it that memory holds what is known; the answer that everybody gets who waits, where nothing could be asked. */
  async #load(source: KeySource, keyid: string, tenantId: string): Promise<FoundKey | null> {
    const nowMs = this.#options.clock();
    const known = await this.#copyOf(source);
    if (known !== NEVER) this.#held.set(source.address, known);
    if (!this.#isDue(known, keyid)) return null;
    if (known === NEVER) {
      const waitMs = this.#new.count(tenantId, registeredDomain(source.host));
      if (waitMs > 0) return refused('busy', waitMs);
    }
    const answer = await readDirectory(this.#options.outbound, source, nowMs);
    if (!answer.ok) {
      const count = (known.failure?.count ?? 0) + 1;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), MOST_PAUSE_MS);
      this.#held.set(source.address, { ...known, failure: { reason: answer.reason, retryAtMs: nowMs + pauseMs, count } });
      return null;
    }
    const [readAt, freshUntil] = [new Date(nowMs), new Date(nowMs + answer.lifeMs)];
    const { card, cardAtMs } = known;
    const held = { card, cardAtMs, readAtMs: nowMs, freshUntilMs: nowMs + answer.lifeMs, failure: null };
    this.#held.set(source.address, { ...held, keys: await imported(answer.keys) });
    await this.#kept(() => storeDirectory(this.#options.database, source, { keys: answer.keys, readAt, freshUntil }));
    if (nowMs - cardAtMs >= CARD_MS) this.#lookForCard(source, answer.card);
    return null;
  }

  /** What is known: memory, or the copy where that is newer. A database that is away has none. */
  async #copyOf({ address }: KeySource): Promise<Held> {
    const held = this.#held.get(address) ?? NEVER;
    const copy = await findDirectory<PublicJwk>(this.#options.database, address).catch((error: unknown) => {
      this.#options.log.warn({ error: String(error) }, 'a directory of an agent was not looked up');
      return null;
    });
    if (!copy || copy.readAt.getTime() <= held.readAtMs) return held;
    const { readAt, freshUntil, card, cardAt } = copy;
    const times = { readAtMs: readAt.getTime(), freshUntilMs: freshUntil.getTime() };
    return {
      ...times,
      keys: await imported(copy.keys),
      card,
      cardAtMs: cardAt?.getTime() ?? Number.NEGATIVE_INFINITY,
      failure: null,
    };
  }

  /** Beside the answer: nobody waits for what decides nothing. */
  #lookForCard(source: KeySource, shown: AgentCard): void {
    const { outbound, clock, database } = this.#options;
    const work = readOwnCard(outbound, source, shown)
      .then(async (card) => {
        const nowMs = clock();
        const held = this.#held.get(source.address);
        if (held) this.#held.set(source.address, { ...held, card, cardAtMs: nowMs });
        await this.#kept(() => storeCard(database, source.address, card, new Date(nowMs)));
      })
      .finally(() => this.#cards.delete(work));
    this.#cards.add(work);
  }

  async #kept(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, 'a directory of an agent was not kept');
    }
  }

  #isDue({ keys, readAtMs, freshUntilMs, failure }: Held, keyid: string): boolean {
    const nowMs = this.#options.clock();
    if (failure && nowMs < failure.retryAtMs) return false;
    return nowMs >= freshUntilMs || (!keys.has(keyid) && nowMs >= readAtMs + REREAD_MS);
  }

  #answer({ keys, readAtMs, freshUntilMs, card, failure }: Held, keyid: string): FoundKey {
    const nowMs = this.#options.clock();
    const key = nowMs < readAtMs + STALE_MS ? keys.get(keyid) : undefined;
    if (key) return { ok: true, key, card, freshUntilMs: Math.max(freshUntilMs, failure?.retryAtMs ?? 0) };
    if (failure) return refused(failure.reason, failure.retryAtMs - nowMs);
    return refused('key_unknown', readAtMs + REREAD_MS - nowMs);
  }

  #orBusy(source: KeySource, keyid: string, waitMs: number): FoundKey {
    const held = this.#held.get(source.address);
    const known = held && this.#answer(held, keyid);
    return known?.ok ? known : refused('busy', waitMs);
  }
}

function refused(reason: UnverifiedReason, waitMs: number): FoundKey {
  const seconds = Math.ceil(waitMs / 1_000);
  return { ok: false, reason, retryAfterSeconds: Number.isFinite(seconds) ? Math.max(seconds, 1) : 60 };
}

/** The keys that can be used; one that is no key is none. */
async function imported(keys: ReadonlyMap<string, PublicJwk>): Promise<ReadonlyMap<string, AgentKey>> {
  const all = await Promise.all(
    [...keys].map(async ([keyid, jwk]) => [keyid, await importAgentKey(jwk).catch(() => null)] as const),
  );
  return new Map(all.flatMap(([keyid, key]) => (key === null ? [] : [[keyid, key] as const])));
}
