/**
 * The payments an operator looks for. Every statement reads indexes and answers no more than its limit; a search by payer, time or state
 * over all sites reads up to that many for each site, and one by a state without an index of its own goes through a site's payments
 * until it has them.
 */
import type { QueryResultRow } from 'pg';
import type { Sql } from '../../../../db/database.ts';
import { isInStates, toldState } from '../../../../db/paymentStates.ts';
import { sameText } from '../../../../db/sameText.ts';
import { acrossSites, run } from '../../../../db/statement.ts';
import type { PaymentState } from '../../../kernel/payment/state.ts';
import { isSettled, OPEN_STATES } from '../../../kernel/payment/state.ts';
import type { Page, Place } from '../../../paging/store/page.ts';

/** A payment as it is listed; `payment show` takes its id. */
export interface FoundPayment extends Place {
  readonly paymentId: string;
  readonly tenantId: string;
  readonly state: PaymentState;
  readonly reason: string | null;
  readonly reviewClosedAt: Date | null;
  readonly network: string;
  readonly payer: string;
  readonly amountMicro: string;
  readonly kind: string;
  readonly resource: string;
  readonly settlementRef: string | null;
  readonly batchId: string | null;
}

/** Which payments; members left out are null. Times are those of acceptance, `until` itself is not in. */
export interface PaymentWanted {
  readonly tenantId: string | null;
  /** Lower case. */
  readonly payer: string | null;
  readonly state: PaymentState | null;
  readonly since: Date | null;
  readonly until: Date | null;
}

const COLUMNS = `s.accepted_at as at, s.payment_id as id, s.payment_id as "paymentId", s.tenant_id as "tenantId",
  ${toldState('s')} as state, s.reason,
  s.review_closed_at as "reviewClosedAt", s.network, s.payer, i.amount_micro::text as "amountMicro", i.kind, i.resource,
  s.tx_hash as "settlementRef", s.batch_id as "batchId"`;
const BOTH =
  'ledger.payment_state as s join ledger.payment_intake as i on i.tenant_id = s.tenant_id and i.payment_id = s.payment_id';
const newest = (by: 's' | 'i'): string => `order by ${by}.accepted_at desc, ${by}.payment_id desc limit $1`;

type Row = FoundPayment & QueryResultRow;

/** Payments, the newest first, gathered site by site: each site's index gives a page at most. Open ones are few, and read as they are. */
export async function findPayments(sql: Sql, page: Page, wanted: PaymentWanted): Promise<FoundPayment[]> {
  const { limit, after } = page;
  const { tenantId, payer, state, since, until } = wanted;
  const values: unknown[] = [limit];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  // Whose index is read, that of the few that are not settled or that of a site's newest: its own columns name times and ids.
  const by = state !== null && !isSettled(state) ? 's' : 'i';
  const tests = [
    ...(state === null ? [] : [isInStates('s', [state])]),
    ...(payer === null ? [] : [sameText(`${by}.payer`, bind(payer, 'text'))]),
    ...(since === null ? [] : [`${by}.accepted_at >= ${bind(since, 'timestamptz')}`]),
    ...(until === null ? [] : [`${by}.accepted_at < ${bind(until, 'timestamptz')}`]),
    ...(after === null
      ? []
      : [`(${by}.accepted_at, ${by}.payment_id) < (${bind(after.at, 'timestamptz')}, ${bind(after.id, 'uuid')})`]),
  ];
  const tenant = tenantId === null ? null : bind(tenantId, 'uuid');
  if (state !== null && OPEN_STATES.includes(state)) {
    const all = [...tests, ...(tenant === null ? [] : [`s.tenant_id = ${tenant}`])];
    return sql.query<Row>(`select ${COLUMNS} from ${BOTH} where ${all.join(' and ')} ${newest(by)}`, values);
  }
  return sql.query<Row>(
    `select found.* from tenant as t cross join lateral (
       select ${COLUMNS} from ${BOTH} where ${[`${by}.tenant_id = t.tenant_id`, ...tests].join(' and ')} ${newest(by)}) as found
      ${tenant === null ? '' : `where t.tenant_id = ${tenant}`} order by found.at desc, found.id desc limit $1`,
    values,
  );
}

/**
 * Payments of one transaction of a chain, or of one id of a facilitator: those it proves, those its batch carries, those whose
 * authorization it used. A batch holds a few hundred at most.
 */
export async function findPaymentsOfTransaction(sql: Sql, page: Page, txHash: string): Promise<FoundPayment[]> {
  const cursors = acrossSites('the operator').selectFrom('chain_cursor').select('network');
  const known = await run(
    sql,
    cursors.union((every) => every.selectFrom('relayer').select('network')),
  );
  // A list for a join (db/PLANS.md).
  return sql.query<Row>(
    `with found as (
       select c.tenant_id, c.payment_id from transfer_claim as c where c.network = any ($5::text[]) and c.tx_hash = $2
       union
       select s.tenant_id, s.payment_id from relayer_transaction as r join settlement_batch as b using (batch_id)
           cross join lateral unnest(b.tenant_ids, b.payment_ids) as carried (tenant_id, payment_id)
           join ledger.payment_state as s on s.tenant_id = carried.tenant_id and s.payment_id = carried.payment_id and s.batch_id = b.batch_id
        where r.network = any ($5::text[]) and r.tx_hash = $2
       union
       select a.tenant_id, a.payment_id from ledger.chain_transfer as x join authorization_claim as a
           on a.digest = authorization_digest(x.network, x.token, x.from_address, x.nonce)
        where x.network = any ($5::text[]) and x.tx_hash = $2)
     select ${COLUMNS} from found join ${BOTH} on s.tenant_id = found.tenant_id and s.payment_id = found.payment_id
      where ($3::timestamptz is null or (s.accepted_at, s.payment_id) < ($3, $4::uuid)) ${newest('s')}`,
    [page.limit, txHash, page.after?.at ?? null, page.after?.id ?? null, known.map(({ network }) => network)],
  );
}
