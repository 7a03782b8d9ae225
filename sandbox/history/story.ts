/** The history as a list of moments, drawn from a seed: for one day always the same. Pure. */

import type { ObservationReport } from '../../modules/gate/use/observe.ts';
import type { CrossingKind } from '../../modules/kernel/terms.ts';
import { BROWSERS, DEMO, FREE_SLUGS, PAGES, PRICING, RAISED, READERS, UNSIGNED_SLUGS } from './cast.ts';
import { firstDayOf, HISTORY_DAYS } from './past.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** The last moment of the history lies so long before the sandbox is started. */
const LATEST_MS = 10 * MINUTE_MS;
/** Nobody has heard of the archive for so many days. */
const ARCHIVE_SILENT_DAYS = 9;
/** How much of a working day each day of the week is, Sunday first. */
const WEEKDAYS = [0.45, 1, 1.1, 1.15, 1.05, 0.95, 0.5] as const;
/** Hours of the day (UTC) at which agents come to buy. */
const VISITS = [7, 15] as const;

/** One page that is bought. */
export interface Purchase {
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly host: string;
  /** Refused: too little money is signed for, or there is none in the wallet. */
  readonly fault?: 'short' | 'empty';
}

/** One reader who comes to buy some pages. */
export interface Visit {
  readonly atMs: number;
  readonly reader: string;
  readonly purchases: readonly Purchase[];
}

/** What was read on one day. */
export interface Day {
  /** No longer part of it; of the last day, its last moment. */
  readonly untilMs: number;
  readonly reports: readonly ObservationReport[];
}

/** The whole history. */
export interface Story {
  readonly fromMs: number;
  /** When the price of the site goes up. */
  readonly raiseMs: number;
  /** Oldest first. */
  readonly days: readonly Day[];
  /** Oldest first. */
  readonly visits: readonly Visit[];
}

type Draw = () => number;

/** A day on which somebody reads. */
interface Scene {
  readonly dayMs: number;
  readonly hosts: readonly string[];
  /** 1 on a usual working day. */
  readonly busy: number;
  readonly draw: Draw;
  /** When the price goes up. */
  readonly raiseMs: number;
}

/** The history as of this moment. */
export function tellStory(nowMs: number): Story {
  const fromMs = firstDayOf(nowMs);
  const latestMs = nowMs - LATEST_MS;
  const raiseMs = fromMs + (HISTORY_DAYS - 1 - RAISED.daysAgo) * DAY_MS + 9 * HOUR_MS;
  const told = Array.from({ length: HISTORY_DAYS }, (_, index) => {
    const dayMs = fromMs + index * DAY_MS;
    const draw = drawFrom(1 + index);
    // A publication that is being found: half as much again by the end.
    const busy = (WEEKDAYS[new Date(dayMs).getUTCDay()] as number) * (1 + index / (2 * HISTORY_DAYS));
    const hosts = index < HISTORY_DAYS - ARCHIVE_SILENT_DAYS ? [DEMO.host, DEMO.archive] : [DEMO.host];
    const visits = VISITS.map((hour) => visitOf(dayMs + (hour + 5 * draw()) * HOUR_MS, busy, draw));
    const scene = { dayMs, hosts, busy, draw, raiseMs };
    const untilMs = Math.min(dayMs + DAY_MS, latestMs);
    const reports = [...agentReports(scene), ...peopleReports(scene)].filter(({ at = 0 }) => at < untilMs);
    return { untilMs, reports, visits };
  });
  const visits = told.flatMap((day) => day.visits).filter(({ atMs, purchases }) => atMs < latestMs && purchases.length > 0);
  return { fromMs, raiseMs, visits, days: told.filter(({ reports }) => reports.length > 0) };
}

function visitOf(momentMs: number, busy: number, draw: Draw): Visit {
  const reader = pick(READERS, ({ buys }) => buys, draw);
  const count = Math.round(busy * (2 + 7 * draw()));
  const slugs = shuffled(Object.keys(PAGES), draw).slice(0, count);
  const purchases = slugs.map((slug): Purchase => {
    const kind = reader.cites !== undefined && draw() < 1 / reader.cites ? 'citation' : 'read';
    return { slug, kind, host: DEMO.host };
  });
  const mishap = draw();
  const [slug = ''] = slugs;
  if (mishap < 0.08) purchases.push({ slug, kind: 'citation', host: DEMO.host, fault: 'empty' });
  else if (mishap < 0.14) purchases.push({ slug, kind: 'citation', host: DEMO.host, fault: 'short' });
  return { atMs: Math.floor(momentMs), reader: reader.name, purchases };
}

function agentReports({ dayMs, hosts, busy, draw, raiseMs }: Scene): ObservationReport[] {
  return Array.from({ length: Math.round(55 * busy) }, (): ObservationReport => {
    const reader = pick(READERS, ({ asks }) => asks, draw);
    const { slug, isUnsigned } = pageOf(draw);
    const { agent } = reader;
    const base = { resource: `https://${hostOf(hosts, draw)}${DEMO.prefix}${slug}`, slug, classifiedAs: 'agent' as const, agent };
    const at = dayMs + Math.floor(draw() * DAY_MS);
    if (isUnsigned || reader.verdict === 'served-free') return { ...base, verdict: 'served-free', at };
    // Who has bought a page reads it again now and then.
    const verdict = reader.buys > 0 && draw() < 0.25 ? 'agent-reread' : reader.verdict;
    return {
      ...base,
      verdict,
      kind: 'read',
      ...(verdict === 'denied' ? { priceMicro: readMicroAt(at, raiseMs) } : {}),
      at,
    };
  });
}

function peopleReports({ dayMs, hosts, busy, draw }: Scene): ObservationReport[] {
  return Array.from({ length: Math.round(90 * busy) }, (): ObservationReport => {
    const { slug } = pageOf(draw);
    const ua = BROWSERS[Math.floor(draw() * BROWSERS.length)] as string;
    const resource = `https://${hostOf(hosts, draw)}${DEMO.prefix}${slug}`;
    const at = dayMs + wakingHour(draw) * HOUR_MS + Math.floor(draw() * HOUR_MS);
    return { resource, slug, verdict: 'served-free', classifiedAs: 'human', agent: { ua }, at };
  });
}

/** A second before it buys, each visitor asks for its pages and is told the price, as at any gate. */
export function askedBefore({ atMs, reader, purchases }: Visit, raiseMs: number): ObservationReport[] {
  const { agent } = READERS.find(({ name }) => name === reader) as (typeof READERS)[number];
  const readMicro = readMicroAt(atMs, raiseMs);
  return purchases.map(({ slug, kind, host }) => ({
    resource: `https://${host}${DEMO.prefix}${slug}`,
    slug,
    verdict: 'denied',
    classifiedAs: 'agent',
    kind,
    priceMicro: kind === 'citation' ? readMicro * Number(PRICING.citationMultiplier) : readMicro,
    agent,
    at: atMs - 1_000,
  }));
}

function readMicroAt(ms: number, raiseMs: number): number {
  return ms < raiseMs ? 40_000 : 50_000;
}

/** The first one as a rule. */
function hostOf([main = '', archive = main]: readonly string[], draw: Draw): string {
  return draw() < 0.08 ? archive : main;
}

function pageOf(draw: Draw): { readonly slug: string; readonly isUnsigned: boolean } {
  const where = draw();
  if (where < 0.06) return { slug: UNSIGNED_SLUGS[Math.floor(draw() * UNSIGNED_SLUGS.length)] as string, isUnsigned: true };
  if (where < 0.1) return { slug: FREE_SLUGS[Math.floor(draw() * FREE_SLUGS.length)] as string, isUnsigned: true };
  return { slug: popular(Object.keys(PAGES), draw), isUnsigned: false };
}

/** The first of a list come up most. */
function popular(slugs: readonly string[], draw: Draw): string {
  return slugs[Math.floor(slugs.length * draw() ** 1.7)] as string;
}

/** People read from six in the morning to eleven at night. */
function wakingHour(draw: Draw): number {
  return 6 + Math.floor(17 * ((draw() + draw()) / 2));
}

function pick<T>(list: readonly T[], weight: (one: T) => number, draw: Draw): T {
  let left = draw() * list.reduce((sum, one) => sum + weight(one), 0);
  for (const one of list) {
    left -= weight(one);
    if (left < 0) return one;
  }
  return list.at(-1) as T;
}

/** All of them, the first ones likely to come first. */
function shuffled(slugs: readonly string[], draw: Draw): string[] {
  return slugs
    .map((slug, place) => ({ slug, rank: place / 2 + slugs.length * draw() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ slug }) => slug);
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function drawFrom(seed: number): Draw {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
