import type { LegRole } from '../money/legs.ts';
import { formatUsdc, microToJson } from '../money/money.ts';
import type { CrossingKind } from '../pricing/terms.ts';
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

/** A leg as `settlement.completed` shows it. `authorId` is absent where several authors share a wallet. */
export interface SettlementLeg {
  readonly toAddress: string;
  readonly amountMicro: number;
  readonly role: LegRole;
  readonly authorId?: string;
  readonly settlementRef: string | null;
  readonly settlementRefKind: SettlementRefKind;
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

/** `data` of `settlement.completed`, profile `summary`: how many legs the event announces. */
export interface SettlementSummary {
  readonly tenant: string;
  readonly announced: number;
}

/** The two shapes of one event's data; both are stored with the event and never change. */
export interface EventData {
  readonly detailed: object;
  readonly summary: object;
}

/** Most crossings in one event: what is beyond goes into a further event of the same window, so that bodies stay small. */
export const MAX_CROSSINGS_IN_EVENT = 1000;

/** A reference's kind by its form; test-mode output is `mock` whatever it looks like. */
export function settlementRefKind(ref: string | null, mode: 'live' | 'mock'): SettlementRefKind {
  if (ref === null) return 'none';
  if (mode === 'mock') return 'mock';
  return /^0x[0-9a-f]{64}$/i.test(ref) ? 'txHash' : 'transferId';
}

/**
 * The data of one `settlement.completed`. Negative corrections are legs like others, so that the events of a host always add
 * up to its ledger; only crossings that settled (not their corrections) of kind citation count in `citations.settled`.
 * Throws RangeError when a sum leaves the range of JSON integers.
 */
export function buildSettlementData(
  place: { readonly tenantId: string; readonly host: string; readonly window: EventWindow },
  crossings: readonly UnannouncedCrossing[],
): { readonly detailed: SettlementDetails; readonly summary: SettlementSummary } {
  const legs = crossings.flatMap(showLegs);
  const grossMicro = crossings.flatMap(({ legs: own }) => own).reduce((sum, leg) => sum + leg.amountMicro, 0n);
  const refs = new Set(crossings.map(({ settlementRef }) => settlementRef).filter((ref) => ref !== null));
  const settled = crossings.filter(({ kind, isCorrection }) => kind === 'citation' && !isCorrection).length;
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
    summary: { tenant: place.tenantId, announced: legs.length },
  };
}

function showLegs(crossing: UnannouncedCrossing): SettlementLeg[] {
  const { settlementRef, settlementRefKind: kind } = crossing;
  return crossing.legs.map(({ toAddress, amountMicro, role, authorId }) => ({
    toAddress,
    amountMicro: microToJson(amountMicro),
    role,
    ...(authorId === null ? {} : { authorId }),
    settlementRef,
    settlementRefKind: kind,
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
