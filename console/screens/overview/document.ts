import type { Host } from '../hosts/documents.ts';
import type { PaymentRow } from '../payments/table.ts';
import type { Rule } from '../settings/documents.ts';
import type { Endpoint } from '../webhooks/documents.ts';

/** All that the overview shows, in one question. */
export const OVERVIEW_DOCUMENT = `query overview($tenantId: ID, $window: WindowInput, $before: WindowInput, $hasBefore: Boolean!, $every: SeriesEvery, $timeZone: String) {
  tenant(tenantId: $tenantId) {
    earnings(window: $window, compare: true) {
      window { from to retentionClampedTo }
      lastEventAt
      totals { grossMicro events reads citations authors }
      previous { grossMicro events }
      series(every: $every, timeZone: $timeZone) { from to grossMicro events }
    }
    former: earnings(window: $before) @include(if: $hasBefore) {
      window { retentionClampedTo }
      series(every: $every, timeZone: $timeZone) { grossMicro }
    }
    audit(window: $window, compare: true) {
      totals { unansweredMicro unanswered failedMicro paymentFailed agentHits paid masqueradeAttempts freeForWantOfAuthors }
      previous { unansweredMicro failedMicro agentHits }
      series(every: $every, timeZone: $timeZone) { from totals { unansweredMicro unanswered } }
    }
    attention {
      since
      waiting { total { payments micro } }
      failingEndpoints { origin enabled failuresInRow failingSince pausedUntil disabledReason }
      hosts { host verifiedAt failingSince lastReason failedOpenAt enforcement { nextAction recordToFix } } hostCount
      licencesEnding { until } licencesEndingCount
      rules { metric range threshold host }
      raisedPrice { stored { priceUsdc } charged { priceUsdc } }
    }
    settlementTimes(window: $window) { settled { p50Ms p95Ms } final { p50Ms p95Ms } }
    pages: earnings(window: $window, groupBy: SLUG) { breakdown(first: 8) { nodes { key title grossMicro events } } }
    agents(window: $window, first: 8) { nodes { agent earnedMicro unansweredMicro hits } }
    payments(first: 6) { nodes { paymentId mode slug title host state micro acceptedAt reason crossings { sequence recordedAt } } }
  }
}`;

/** Its answer. */
export interface Overview {
  readonly earnings: {
    readonly window: { readonly from: number; readonly to: number | null; readonly retentionClampedTo: number | null };
    readonly lastEventAt: number | null;
    readonly totals: {
      readonly grossMicro: string;
      readonly events: number;
      readonly reads: number;
      readonly citations: number;
      readonly authors: number;
    };
    readonly previous: { readonly grossMicro: string; readonly events: number } | null;
    readonly series: readonly {
      readonly from: number;
      readonly to: number | null;
      readonly grossMicro: string;
      readonly events: number;
    }[];
  } | null;
  /** The window before, by the same buckets; left out where there is none. */
  readonly former?: {
    readonly window: { readonly retentionClampedTo: number | null };
    readonly series: readonly { readonly grossMicro: string }[];
  } | null;
  readonly audit: {
    readonly totals: {
      readonly unansweredMicro: string;
      readonly unanswered: number;
      readonly failedMicro: string;
      readonly paymentFailed: number;
      readonly agentHits: number;
      readonly paid: number;
      readonly masqueradeAttempts: number;
      readonly freeForWantOfAuthors: number;
    };
    readonly previous: { readonly unansweredMicro: string; readonly failedMicro: string; readonly agentHits: number } | null;
    readonly series: readonly {
      readonly from: number;
      readonly totals: { readonly unansweredMicro: string; readonly unanswered: number };
    }[];
  } | null;
  readonly attention: ToLookAt;
  readonly settlementTimes: { readonly settled: Percentiles; readonly final: Percentiles } | null;
  readonly pages: {
    readonly breakdown: {
      readonly nodes: readonly {
        readonly key: string;
        readonly title: string | null;
        readonly grossMicro: string;
        readonly events: number;
      }[];
    } | null;
  } | null;
  readonly agents: {
    readonly nodes: readonly {
      readonly agent: string;
      readonly earnedMicro: string;
      readonly unansweredMicro: string;
      readonly hits: number;
    }[];
  } | null;
  readonly payments: { readonly nodes: readonly PaymentRow[] } | null;
}

/** What needs a look, as the API decides it. */
interface ToLookAt {
  /** How far back it looks; epoch ms. */
  readonly since: number;
  readonly waiting: { readonly total: { readonly payments: number; readonly micro: string } } | null;
  readonly failingEndpoints:
    | readonly Pick<Endpoint, 'origin' | 'enabled' | 'failuresInRow' | 'failingSince' | 'pausedUntil' | 'disabledReason'>[]
    | null;
  readonly hosts:
    | readonly (Pick<Host, 'host' | 'verifiedAt' | 'failingSince' | 'lastReason'> & {
        readonly failedOpenAt: number | null;
        readonly enforcement: { readonly nextAction: string; readonly recordToFix: string | null };
      })[]
    | null;
  readonly hostCount: number | null;
  readonly licencesEnding: readonly { readonly until: number }[] | null;
  readonly licencesEndingCount: number | null;
  readonly rules: readonly Pick<Rule, 'metric' | 'range' | 'threshold' | 'host'>[] | null;
  readonly raisedPrice: { readonly stored: Price; readonly charged: Price } | null;
}

interface Price {
  readonly priceUsdc: string;
}

interface Percentiles {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}
