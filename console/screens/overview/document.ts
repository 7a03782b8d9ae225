import type { PaymentRow } from '../payments/table.ts';

/** All that the overview shows, in one question. */
export const OVERVIEW_DOCUMENT = `query overview($tenantId: ID, $window: WindowInput, $every: SeriesEvery, $timeZone: String) {
  tenant(tenantId: $tenantId) {
    earnings(window: $window, compare: true) {
      window { from to retentionClampedTo }
      lastEventAt
      totals { grossMicro events reads citations authors }
      previous { grossMicro events }
      series(every: $every, timeZone: $timeZone) { from to grossMicro events }
    }
    audit(window: $window, compare: true) {
      totals { missedMicro denied failedMicro paymentFailed agentHits paid masqueradeAttempts freeForWantOfAuthors }
      previous { missedMicro failedMicro agentHits }
      series(every: $every, timeZone: $timeZone) { from totals { missedMicro denied } }
    }
    attention { waiting { total { payments micro } } }
    settlementTimes(window: $window) { settled { p50Ms p95Ms } final { p50Ms p95Ms } }
    pages: earnings(window: $window, groupBy: SLUG) { breakdown(first: 8) { nodes { key title grossMicro events } } }
    agents(window: $window, first: 8) { nodes { agent earnedMicro missedMicro hits } }
    payments(first: 6) { nodes { paymentId slug title host state micro acceptedAt reason } }
    webhookEndpoints(first: 20) { nodes { endpointId origin enabled failuresInRow failingSince disabledReason } }
    hosts(first: 20) { nodes { host verifiedAt failingSince lastReason enforcement { attention nextAction } } }
    licencesSold(filter: { endsWithinDays: 14 }, orderBy: ENDING, first: 1) { totalCount nodes { host until } }
    anomalyRules(first: 20) { nodes { ruleId metric host threshold range phase enabled firedAt } }
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
  readonly audit: {
    readonly totals: {
      readonly missedMicro: string;
      readonly denied: number;
      readonly failedMicro: string;
      readonly paymentFailed: number;
      readonly agentHits: number;
      readonly paid: number;
      readonly masqueradeAttempts: number;
      readonly freeForWantOfAuthors: number;
    };
    readonly previous: { readonly missedMicro: string; readonly failedMicro: string; readonly agentHits: number } | null;
    readonly series: readonly {
      readonly from: number;
      readonly totals: { readonly missedMicro: string; readonly denied: number };
    }[];
  } | null;
  readonly attention: { readonly waiting: { readonly total: { readonly payments: number; readonly micro: string } } | null };
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
      readonly missedMicro: string;
      readonly hits: number;
    }[];
  } | null;
  readonly payments: { readonly nodes: readonly PaymentRow[] } | null;
  readonly webhookEndpoints: {
    readonly nodes: readonly {
      readonly endpointId: string;
      readonly origin: string;
      readonly enabled: boolean;
      readonly failuresInRow: number;
      readonly failingSince: number | null;
      readonly disabledReason: string | null;
    }[];
  } | null;
  readonly hosts: {
    readonly nodes: readonly {
      readonly host: string;
      readonly verifiedAt: number | null;
      readonly failingSince: number | null;
      readonly lastReason: string | null;
      readonly enforcement: { readonly attention: boolean; readonly nextAction: string } | null;
    }[];
  } | null;
  readonly licencesSold: {
    readonly totalCount: number | null;
    readonly nodes: readonly { readonly host: string; readonly until: number }[];
  } | null;
  readonly anomalyRules: {
    readonly nodes: readonly {
      readonly ruleId: string;
      readonly metric: string;
      readonly host: string | null;
      readonly threshold: number;
      readonly range: string;
      readonly phase: string;
      readonly enabled: boolean;
      readonly firedAt: number | null;
    }[];
  } | null;
}

interface Percentiles {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}
