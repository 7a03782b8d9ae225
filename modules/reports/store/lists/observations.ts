import type { RowOf } from '../../../../db/shown.ts';
import { columnsOf } from '../../../../db/shown.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isBetween, isOneOf, isWithin } from '../../../paging/store/source.ts';
import { AGENT_NAME } from '../audit/observations.ts';
import { tallyObservations } from './tally.ts';

/** Which observations. */
export interface ObservationFilter {
  readonly id?: string;
  readonly host?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly kind?: CrossingKind | null | undefined;
  readonly verdicts?: readonly string[] | null | undefined;
  readonly classifiedAs?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly agent?: string | null | undefined;
  /** The name it gave, exactly: its verified host, else its User-Agent, else `unknown`. */
  readonly agentName?: string | null | undefined;
  readonly verified?: boolean | null | undefined;
  readonly sigInvalid?: boolean | null | undefined;
  readonly minMicro?: bigint | null | undefined;
  readonly maxMicro?: bigint | null | undefined;
  /** Observations are kept by day: a list always has a window with an end. */
  readonly window: Span;
}

const OBSERVATION = columnsOf('observation o', [
  'observationId',
  'paymentId',
  'host',
  'slug',
  'kind',
  'verdict',
  'classifiedAs',
  'reason',
  'agent',
  'agentUa',
  'classifyReason',
  'verified',
  'verifiedAgent',
  'sigInvalid',
  'micro',
  'at',
]);
/** An observation as analysts see it. */
export type ObservationRow = RowOf<typeof OBSERVATION>;

/** Observations of a site that stand. */
export const OBSERVATIONS: Source<ObservationRow, ObservationFilter> = {
  columns: OBSERVATION,
  from: 'observation o',
  tenant: 'o.tenant_id',
  id: { column: 'o.observation_id', type: 'uuid' },
  orderings: {
    NEWEST: { column: 'o.at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'o.at', type: 'timestamptz', direction: 'asc' },
  },
  // What is observed of a payment has the time at which it was presented.
  keys: {
    payment: {
      column: 'o.payment_id',
      type: 'uuid',
      time: { column: 'o.at', knownBy: 'ledger.payment_intake', key: 'payment_id' },
    },
  },
  where: (binder, filter) => [
    ...equals(binder, 'o.observation_id', filter.id),
    ...equals(binder, 'o.host', filter.host),
    ...equals(binder, 'o.slug', filter.slug),
    ...equals(binder, 'o.kind', filter.kind),
    ...isOneOf(binder, 'o.verdict', filter.verdicts),
    ...equals(binder, 'o.classified_as', filter.classifiedAs),
    ...equals(binder, 'o.reason', filter.reason),
    ...equals(binder, 'o.agent', filter.agent),
    ...equals(binder, AGENT_NAME, filter.agentName),
    ...equals(binder, 'coalesce(o.verified, false)', filter.verified),
    ...equals(binder, 'coalesce(o.sig_invalid, false)', filter.sigInvalid),
    ...isBetween(binder, 'coalesce(o.micro, 0)', filter.minMicro, filter.maxMicro),
    ...isWithin(binder, 'o.at', filter.window),
    `o.count = 1 and not exists (
       select 1 from observation k where k.tenant_id = o.tenant_id and k.at = o.at and k.payment_id = o.payment_id
         and k.verdict = o.verdict and k.count = -1 and k.observation_id > o.observation_id
         and ${isWithin(binder, 'k.at', filter.window).join(' and ')})`,
  ],
  tally: tallyObservations,
};
