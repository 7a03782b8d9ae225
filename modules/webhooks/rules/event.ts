import type { LegRole } from '../../kernel/money/legs.ts';
import { formatUsdc, microToJson } from '../../kernel/money/money.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { EventWindow } from './window.ts';

/** The two event types. */
export const EVENT_TYPES = ['settlement.completed', 'anomaly.detected'] as const;
/** One of the two. */
export type EventType = (typeof EVENT_TYPES)[number];

/** How much of an event an endpoint gets: everything, or a count. */
export type Profile = 'detailed' | 'summary';

/** What a settlement reference is. */
export type SettlementRefKind = 'txHash' | 'transferId' | 'mock' | 'none';

/** A crossing no event has announced yet, with its legs in ledger order. A correction has negative amounts. */
export interface UnannouncedCrossing {
  readonly crossingId: string;
  /** The payment, which its receipt is about. */
  readonly paymentId: string;
  /** The transaction that a correction takes back, where an event named it or the payment still does. */
  readonly reverses: string | null;
  readonly kind: CrossingKind;
  readonly isCorrection: boolean;
  readonly settlementRef: string | null;
  readonly settlementRefKind: SettlementRefKind;
  readonly legs: readonly {
    readonly ordinal: number;
    readonly toAddress: string;
    readonly amountMicro: bigint;
    readonly role: LegRole;
    readonly authorId: string | null;
  }[];
}

/**
 * A leg as `settlement.completed` shows it. `authorId` is absent where several authors share a wallet, `reverses` on a leg that takes none
 * back or whose transaction nobody was told.
 */
export interface SettlementLeg {
  readonly toAddress: string;
  readonly amountMicro: number;
  readonly role: LegRole;
  readonly authorId?: string;
  readonly settlementRef: string | null;
  readonly settlementRefKind: SettlementRefKind;
  /** The sale: a leg and the one that takes it back have the same. */
  readonly receiptId: string;
  readonly reverses?: string;
}

/** `data` of `settlement.completed`, profile `detailed`. `gross.microUsdc` = Σ legs. */
export interface SettlementDetails {
  readonly tenant: string;
  readonly host: string;
  readonly window: EventWindow;
  readonly citations: { readonly settled: number };
  readonly gross: { readonly microUsdc: number; readonly usdc: string };
  readonly legs: readonly SettlementLeg[];
  readonly settlementRefs: readonly string[];
}

/** `data` of `settlement.completed`, profile `summary`: how many legs settled, less those taken back, and never below 0. */
export interface SettlementSummary {
  readonly tenant: string;
  readonly announced: number;
}

/** The two shapes of one event's data; both are stored with the event and never change. */
export interface EventData {
  readonly detailed: object;
  readonly summary: object;
}

/** Most crossings that are read at once to be announced. */
export const MAX_CROSSINGS_AT_ONCE = 1000;
/** Most bytes of one event's data: common receivers read 100 KiB, and the envelope needs a few hundred bytes of them. */
export const MAX_EVENT_BYTES = 96_000;

/** A reference's kind by its form; test-mode output is `mock` whatever it looks like. */
export function settlementRefKind(ref: string | null, mode: 'live' | 'mock'): SettlementRefKind {
  if (ref === null) return 'none';
  if (mode === 'mock') return 'mock';
  return /^0x[0-9a-f]{64}$/i.test(ref) ? 'txHash' : 'transferId';
}

/**
 * The data of one `settlement.completed`. Negative corrections are legs like others, so that the events of a host always add
 * up to its ledger; citations that were taken back are taken off `citations.settled`, which is never below 0.
 * Throws RangeError when a sum leaves the range of JSON integers.
 */
export function buildSettlementData(
  place: { readonly tenantId: string; readonly host: string; readonly window: EventWindow },
  crossings: readonly UnannouncedCrossing[],
): { readonly detailed: SettlementDetails; readonly summary: SettlementSummary } {
  const legs = crossings.flatMap(showLegs);
  const grossMicro = crossings.flatMap(({ legs: own }) => own).reduce((sum, leg) => sum + leg.amountMicro, 0n);
  const refs = new Set(crossings.map(({ settlementRef }) => settlementRef).filter((ref) => ref !== null));
  const citations = crossings.filter(({ kind }) => kind === 'citation');
  const settled = netOf(citations, () => 1);
  return {
    detailed: {
      tenant: place.tenantId,
      host: place.host,
      window: { toMs: place.window.toMs, spanMs: place.window.spanMs },
      citations: { settled },
      gross: { microUsdc: microToJson(grossMicro), usdc: formatUsdc(grossMicro) },
      legs,
      settlementRefs: [...refs],
    },
    summary: { tenant: place.tenantId, announced: netOf(crossings, ({ legs: own }) => own.length) },
  };
}

/**
 * Divides crossings among events so that each event's data has at most `maxBytes`; a crossing is never divided, since its legs belong together.
 */
export function splitByBytes(
  crossings: readonly UnannouncedCrossing[],
  maxBytes = MAX_EVENT_BYTES,
): readonly (readonly UnannouncedCrossing[])[] {
  const parts: UnannouncedCrossing[][] = [];
  let room = 0;
  for (const crossing of crossings) {
    const bytes = new TextEncoder().encode(JSON.stringify([showLegs(crossing), crossing.settlementRef])).length;
    if (bytes > room) {
      parts.push([]);
      room = maxBytes - PLACE_BYTES;
    }
    parts.at(-1)?.push(crossing);
    room -= bytes;
  }
  return parts;
}

/** What an event's data has beside legs and references: a site, a host of at most 253 characters, a window and sums. */
const PLACE_BYTES = 1_000;

/** A count of what settled less what was taken back; what earlier events announced is not taken back here. */
function netOf(crossings: readonly UnannouncedCrossing[], count: (crossing: UnannouncedCrossing) => number): number {
  const net = crossings.reduce((sum, crossing) => sum + (crossing.isCorrection ? -count(crossing) : count(crossing)), 0);
  return Math.max(0, net);
}

function showLegs(crossing: UnannouncedCrossing): SettlementLeg[] {
  const { settlementRef, settlementRefKind: kind, paymentId: receiptId, reverses } = crossing;
  return crossing.legs.map(({ toAddress, amountMicro, role, authorId }) => ({
    toAddress,
    amountMicro: microToJson(amountMicro),
    role,
    ...(authorId === null ? {} : { authorId }),
    settlementRef,
    settlementRefKind: kind,
    receiptId,
    ...(crossing.isCorrection && reverses !== null ? { reverses } : {}),
  }));
}

/**
 * What a settlement event's id is the hash of: its place, its window and its members. Members belong to one event only, so no
 * two events have the same text, and making the same event again gives the same id.
 */
export function settlementEventKey(
  place: { readonly tenantId: string; readonly host: string; readonly window: EventWindow },
  crossings: readonly { readonly crossingId: string }[],
): string {
  const members = crossings.map(({ crossingId }) => crossingId).sort();
  return JSON.stringify(['settlement.completed', place.tenantId, place.host, place.window.toMs, members]);
}
