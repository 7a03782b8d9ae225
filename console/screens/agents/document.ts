import type { VisitorClass } from '../pages/crawlerEffect.ts';
import type { WhatIf } from './whatIf.ts';

/** Who reads, pays, is refused and pretends; of one agent its days and newest requests. */
export const AGENTS_DOCUMENT = `query agents($tenantId: ID, $window: WindowInput, $every: SeriesEvery, $timeZone: String, $orderBy: AgentOrder, $agent: String,
  $agentName: String, $seen: ObservationFilter, $price: String!, $asksPrice: Boolean!, $after: String) {
  tenant(tenantId: $tenantId) {
    audit(window: $window, compare: true, agent: $agent, agentName: $agentName) {
      totals { observations agentHits peopleHits verifiedHits paid servedFree conversion unanswered unansweredMicro earnedMicro verifiedEarnedMicro paymentFailed failedMicro masqueradeAttempts }
      previous { agentHits paid unanswered masqueradeAttempts earnedMicro unansweredMicro }
      series(every: $every, timeZone: $timeZone) { from totals { agentHits paid unanswered } }
    }
    agents(window: $window, orderBy: $orderBy, first: 25, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes {
        agent visitorClass ownWords { operator purpose }
        hits verifiedHits paid servedFree unanswered paymentFailed masqueradeAttempts earnedMicro unansweredMicro failedMicro
      }
    }
    whatIf(window: $window, priceUsdc: $price) @include(if: $asksPrice) {
      readMicro
      totals { paid unanswered blocked earnedMicro unansweredMicro ifPaidMicro ifDeniedMicro ifBlockedMicro }
    }
    observations(filter: $seen, first: 12) {
      nodes { observationId at agent agentUa slug title host verdict verified verifiedAgent sigInvalid classifyReason reason micro }
    }
  }
}`;

/** What an agent did in the window. */
export interface AgentSums {
  readonly hits: number;
  readonly verifiedHits: number;
  readonly paid: number;
  readonly servedFree: number;
  readonly unanswered: number;
  readonly paymentFailed: number;
  readonly masqueradeAttempts: number;
  readonly earnedMicro: string;
  readonly unansweredMicro: string;
  readonly failedMicro: string;
}

/** An agent of the window. */
export interface Agent extends AgentSums {
  readonly agent: string;
  readonly visitorClass: VisitorClass;
  /** Of itself; nobody vouches for it. */
  readonly ownWords: { readonly operator: string | null; readonly purpose: string | null } | null;
}

/** The names inside `other`. Asked on its own, since it reads every request of the window under that label. */
export const OTHERS_DOCUMENT = `query otherAgents($tenantId: ID, $window: WindowInput) {
  tenant(tenantId: $tenantId) {
    otherAgents(window: $window) {
      agents { name isCut hits verifiedHits paid servedFree unanswered paymentFailed masqueradeAttempts earnedMicro unansweredMicro failedMicro }
      rest { hits }
      restNames
    }
  }
}`;

/** Requests under one text; it is whatever a stranger sent. */
export interface OtherAgent extends AgentSums {
  readonly name: string;
  readonly isCut: boolean;
}

/** The answer of `OTHERS_DOCUMENT`. */
export interface Others {
  readonly agents: readonly OtherAgent[];
  readonly rest: { readonly hits: number };
  readonly restNames: number;
}

/** A request as it was observed. */
export interface Observation {
  readonly observationId: string;
  readonly at: number;
  readonly agent: string;
  readonly agentUa: string | null;
  readonly slug: string;
  readonly title: string | null;
  readonly host: string;
  readonly verdict: string;
  readonly verified: boolean | null;
  readonly verifiedAgent: string | null;
  /** Not who it says: by its signature, or by its address where `classifyReason` is `masquerade`. */
  readonly sigInvalid: boolean | null;
  readonly classifyReason: string | null;
  readonly reason: string | null;
  readonly micro: string | null;
}

/** The answer of `AGENTS_DOCUMENT`. */
export interface Agents {
  readonly audit: {
    readonly totals: Omit<AgentSums, 'hits'> & {
      readonly observations: number;
      readonly agentHits: number;
      readonly peopleHits: number;
      /** Which part of the requests that were told a price paid it, 0 … 1. */
      readonly conversion: number | null;
      /** Of `earnedMicro`, what verified agents paid. */
      readonly verifiedEarnedMicro: string;
    };
    readonly previous: {
      readonly agentHits: number;
      readonly paid: number;
      readonly unanswered: number;
      readonly masqueradeAttempts: number;
      readonly earnedMicro: string;
      readonly unansweredMicro: string;
    } | null;
    readonly series: readonly {
      readonly from: number;
      readonly totals: { readonly agentHits: number; readonly paid: number; readonly unanswered: number };
    }[];
  } | null;
  readonly agents: {
    readonly nodes: readonly Agent[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  } | null;
  readonly whatIf?: WhatIf | null;
  readonly observations: { readonly nodes: readonly Observation[] } | null;
}
