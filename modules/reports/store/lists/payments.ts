import { sql as text } from 'kysely';
import type { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import { isInStates, toldFinalAt, toldState } from '../../../../db/paymentStates.ts';
import { sameText } from '../../../../db/sameText.ts';
import type { RowOf } from '../../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../../db/shown.ts';
import { anyOf, run, tables } from '../../../../db/statement.ts';
import type { PaymentState } from '../../../kernel/payment/state.ts';
import { PAYMENT_STATES } from '../../../kernel/payment/state.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isBetween, isWithin, timeOf, timeOrNull } from '../../../paging/store/source.ts';
import { ownFee } from '../batches.ts';

/** Which payments. */
export interface PaymentFilter {
  readonly id?: string;
  readonly host?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly kind?: CrossingKind | null | undefined;
  readonly payer?: string | null | undefined;
  readonly purpose?: string | null | undefined;
  readonly mode?: string | null | undefined;
  readonly states?: readonly string[] | null | undefined;
  readonly reason?: string | null | undefined;
  readonly txHash?: string | null | undefined;
  /** A wallet that one of the legs pays. */
  readonly author?: string | null | undefined;
  /** The author's id, as one of the legs names it. */
  readonly authorId?: string | null | undefined;
  /** Exactly the User-Agent it came with. */
  readonly agentUa?: string | null | undefined;
  readonly minMicro?: bigint | null | undefined;
  readonly maxMicro?: bigint | null | undefined;
  readonly window?: Span;
}

/** By the hash of the payer, too: the index holds no more of it. */
function isOfPayer(binder: Binder, payer: string | null | undefined): readonly string[] {
  if (payer === undefined || payer === null) return [];
  const asked = binder.bind(payer);
  return [sameText('p.payer', asked)];
}

const PAYMENT = both(
  columnsOf('ledger.payment p', [
    'paymentId',
    'mode',
    'settler',
    'network',
    'asset',
    'payer',
    'payTo',
    'nonce',
    'validAfter',
    'validBefore',
    'payerKind',
    'x402Version',
    'host',
    'slug',
    'resource',
    'kind',
    'purpose',
    'amountMicro',
    'batchId',
    'attempts',
    'reason',
    'rawReason',
    'sentence',
    'successorId',
    'txHash',
    'logPosition',
    'blockNumber',
    'blockTime',
    'acceptedAt',
    'decidedAt',
    'reviewClosedAt',
  ]),
  workedOut<{ readonly agentUa: string | null; readonly state: PaymentState; readonly finalAt: Date | null }>(
    `p.agent ->> 'ua' as "agentUa", ${toldState('p')} as state, ${toldFinalAt('p')} as "finalAt"`,
  ),
);
/**
 * A payment as analysts see it: its state, what it buys, its evidence; never its signature. What a person closed the review of is still under
 * review.
 */
export type PaymentRow = RowOf<typeof PAYMENT>;

/** Payments of a site. */
export const PAYMENTS: Source<PaymentRow, PaymentFilter> = {
  columns: PAYMENT,
  from: 'ledger.payment p',
  tenant: 'p.tenant_id',
  id: { column: 'p.payment_id', type: 'uuid' },
  orderings: {
    NEWEST: { column: 'p.accepted_at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'p.accepted_at', type: 'timestamptz', direction: 'asc' },
    LARGEST: { column: 'p.amount_micro', type: 'bigint', direction: 'desc' },
    SMALLEST: { column: 'p.amount_micro', type: 'bigint', direction: 'asc' },
  },
  keys: { id: { column: 'p.payment_id', type: 'uuid' } },
  where: (binder, filter) => [
    ...equals(binder, 'p.payment_id', filter.id),
    ...equals(binder, 'p.host', filter.host),
    ...equals(binder, 'p.slug', filter.slug),
    ...equals(binder, 'p.kind', filter.kind),
    ...isOfPayer(binder, filter.payer),
    ...equals(binder, 'p.purpose', filter.purpose),
    ...equals(binder, 'p.mode', filter.mode),
    ...isInOneOf(filter.states),
    ...equals(binder, 'p.reason', filter.reason),
    ...equals(binder, 'p.tx_hash', filter.txHash),
    ...equals(binder, "p.agent ->> 'ua'", filter.agentUa),
    ...hasLeg(binder, { toAddress: filter.author }),
    ...hasLeg(binder, { authorId: filter.authorId }),
    ...isBetween(binder, 'p.amount_micro', filter.minMicro, filter.maxMicro),
    ...isWithin(binder, 'p.accepted_at', filter.window),
  ],
};

/** True of a payment `p` with a leg that has this value, where one is given. */
function hasLeg(binder: Binder, leg: Readonly<Record<string, string | null | undefined>>): string[] {
  const isAsked = Object.values(leg).some((value) => value !== undefined && value !== null);
  return isAsked ? [`p.legs @> ${binder.bind(JSON.stringify([leg]))}::jsonb`] : [];
}

/** As constants, which the partial indexes want; what is no state is in no payment. */
function isInOneOf(states: readonly string[] | null | undefined): string[] {
  if (states === undefined || states === null) return [];
  const known = PAYMENT_STATES.filter((state) => states.includes(state));
  return [known.length === 0 ? 'false' : isInStates('p', known)];
}

/** The batch a payment went out in. A batch holds payments of several sites; nothing of theirs is in here. */
export interface BatchRow {
  readonly batchId: string;
  readonly network: string;
  readonly relayer: string;
  readonly workflowId: string | null;
  readonly nonce: bigint;
  readonly state: 'open' | 'mined' | 'safe';
  readonly createdAtMs: number;
  readonly closedAtMs: number | null;
  /** Hashes of everything signed for it, the first attempt first. */
  readonly txHashes: readonly string[];
  /** How many payments it was signed with, of whatever site. */
  readonly payments: number;
  readonly gasUsed: bigint | null;
  /** What it cost, wei, and the site's part of that; null until it is mined. */
  readonly feeWei: bigint | null;
  readonly ownFeeWei: bigint | null;
}

/** Batches by their ids, as far as they hold a payment of the tenant. */
export async function listBatches(sql: Sql, tenantId: string, ids: readonly string[]): Promise<Map<string, BatchRow>> {
  const rows = await run(
    sql,
    tables
      .selectFrom(['settlement_batch as b', 'tenant as own'])
      .select(['b.batchId', 'b.network', 'b.relayer', 'b.workflowId', 'b.nonce', 'b.state', 'b.createdAt', 'b.closedAt'])
      .select(['b.gasUsed', 'b.gasWei', text.raw<string | null>(`${ownFee('own.tenant_id')}::text`).as('ownWei')])
      .select(({ selectFrom }) => [
        text<number>`cardinality(b.payment_ids)`.as('payments'),
        text<
          readonly string[]
        >`array(${selectFrom('relayer_transaction as t').select('t.txHash').whereRef('t.batchId', '=', 'b.batchId').orderBy('t.attempt')})`.as(
          'txHashes',
        ),
      ])
      .where('own.tenantId', '=', tenantId)
      .where('b.batchId', '=', anyOf(ids))
      .where(text<boolean>`own.tenant_id = any (b.tenant_ids)`),
  );
  const amount = (wei: string | null): bigint | null => (wei === null ? null : BigInt(wei));
  return new Map(
    rows.map(({ createdAt, closedAt, gasUsed, gasWei, ownWei, ...row }) => [
      row.batchId,
      {
        ...row,
        nonce: BigInt(row.nonce),
        createdAtMs: timeOf(createdAt),
        closedAtMs: timeOrNull(closedAt),
        gasUsed: amount(gasUsed),
        feeWei: amount(gasWei),
        ownFeeWei: amount(ownWei),
      },
    ]),
  );
}
