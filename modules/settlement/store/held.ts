import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf } from '../../../db/shown.ts';
import { acrossSites, run } from '../../../db/statement.ts';
import { LEADING_STATES, SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { Waiting } from '../rules/held.ts';
import { nextHeld } from '../rules/held.ts';
import type { PaymentEvent } from '../rules/machine.ts';
import { decide } from '../rules/machine.ts';
import type { Change } from './applyEvents.ts';
import type { PurchaseKey } from './lock.ts';
import { buyerOf, lockPurchases, purchaseText } from './lock.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from './payment.ts';
import { writeStates } from './writeStates.ts';

/** What the payments that wait for each other have in common: one purchase of one mode at one price. */
type Sale = PurchaseKey & Pick<Payment, 'mode' | 'amountMicro'>;
const SALE = ['tenantId', 'payer', 'resourceKey', 'kind', 'purpose', 'accountId', 'mode', 'amountMicro'] as const;
const RIVAL = both(
  columnsOf('payment_intake i', [...SALE, 'paymentId', 'acceptedAt']),
  columnsOf('payment_state s', ['state', 'decidedAt']),
);

/** The payments `i` of sales of pages, and of those of licences one wallet's ($1 to $6). */
const OF_WALLET = `payment_intake as i
       join unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) with ordinality
            as sale (tenant_id, payer, resource_key, kind, mode, amount_micro, position)
            using (tenant_id, kind, mode, amount_micro)`;
const IS_OF_SALE = `and ${sameText('i.payer', 'sale.payer')} and ${sameText('i.resource_key', 'sale.resource_key')}`;
/** The payments `i` of sales of licences, whichever wallet of the account pays. */
const OF_ACCOUNT = `unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[]) with ordinality
            as sale (tenant_id, account_id, resource_key, kind, mode, amount_micro, position)
       join account_spending as spent using (tenant_id, account_id, resource_key, kind, amount_micro)
       join payment_intake as i using (tenant_id, payment_id)`;

/**
 * Decides held payments that nothing holds any more (safety 14: release is in the deciding transaction and again in the
 * sweeper), at most `limit` sales a call, each in a transaction of its own. Returns the released ones. Again: changes nothing.
 */
export async function sweepHeld(database: Database, network: string, limit: number): Promise<readonly PaymentRef[]> {
  const all = acrossSites('a worker');
  const isLeading = text.raw<boolean>(`s.state in (${sqlStates(LEADING_STATES)})`);
  const rows = await run(
    database,
    all
      .selectFrom('payment_state as waits')
      .innerJoin('payment_intake as held', (on) =>
        on.onRef('held.tenantId', '=', 'waits.tenantId').onRef('held.paymentId', '=', 'waits.paymentId'),
      )
      .select(['held.tenantId', 'held.payer', 'held.resourceKey', 'held.kind'])
      .select(['held.purpose', 'held.accountId', 'held.mode', 'held.amountMicro'])
      .distinct()
      .where('waits.network', '=', network)
      .where('waits.stage', '=', text.lit('held'))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('payment_intake as leader')
              .innerJoin('payment_state as s', (on) =>
                on.onRef('s.tenantId', '=', 'leader.tenantId').onRef('s.paymentId', '=', 'leader.paymentId'),
              )
              .select('s.state')
              .whereRef('leader.tenantId', '=', 'held.tenantId')
              .where(text.raw<boolean>(sameText('leader.payer', 'held.payer')))
              .where(text.raw<boolean>(sameText('leader.resource_key', 'held.resource_key')))
              .whereRef('leader.kind', '=', 'held.kind')
              .whereRef('leader.mode', '=', 'held.mode')
              .whereRef('leader.amountMicro', '=', 'held.amountMicro')
              .where(isLeading),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('account_spending as spent')
              .innerJoin('payment_intake as leader', (on) =>
                on.onRef('leader.tenantId', '=', 'spent.tenantId').onRef('leader.paymentId', '=', 'spent.paymentId'),
              )
              .innerJoin('payment_state as s', (on) =>
                on.onRef('s.tenantId', '=', 'leader.tenantId').onRef('s.paymentId', '=', 'leader.paymentId'),
              )
              .select('s.state')
              .where('held.purpose', '=', text.lit('licence'))
              .whereRef('spent.accountId', '=', 'held.accountId')
              .whereRef('spent.resourceKey', '=', 'held.resourceKey')
              .whereRef('spent.tenantId', '=', 'held.tenantId')
              .whereRef('spent.kind', '=', 'held.kind')
              .whereRef('spent.amountMicro', '=', 'held.amountMicro')
              .whereRef('leader.mode', '=', 'held.mode')
              .where(isLeading),
          ),
        ),
      )
      .limit(limit),
  );
  const released: PaymentRef[] = [];
  for (const row of rows) {
    const changes = await database.transaction(async (sql) => {
      const sale = { ...row, amountMicro: BigInt(row.amountMicro) };
      await lockPurchases(sql, [sale]);
      const decided = await decideHeld(sql, [sale]);
      await writeStates(sql, decided);
      return decided;
    });
    released.push(...listReleased(changes));
  }
  return released;
}

/** The payments that decisions about held ones let go: they need a batch. */
export function listReleased(changes: readonly Change[]): readonly Payment[] {
  return changes.filter((change) => change.next.state === 'accepted').map((change) => change.payment);
}

/**
 * Decides everything held in some sales, oldest first (`nextHeld`), as if the given changes stood, whose payments are of these sales.
 * Writes nothing. Call it under the locks of the purchases.
 */
export async function decideHeld(sql: Sql, sales: readonly Sale[], changes: readonly Change[] = []): Promise<Change[]> {
  const states = new Map(changes.map((change) => [change.payment.paymentId, change.next.state]));
  const waiting = (await listHeld(sql, sales)).filter(({ paymentId }) => (states.get(paymentId) ?? 'held') === 'held');
  if (waiting.length === 0) return [];
  const rivals = Map.groupBy(await listRivals(sql, waiting), ({ sale }) => sale);
  const result: Change[] = [];
  for (const [sale, held] of Map.groupBy(waiting, saleText)) {
    const own = changes.filter((change) => saleText(change.payment) === sale).map(waitingOfChange);
    const siblings = new Map([...(rivals.get(sale) ?? []), ...held.map(waitingOf), ...own].map((one) => [one.paymentId, one]));
    for (const payment of held) {
      const decision = nextHeld(waitingOf(payment), [...siblings.values()]);
      if (decision.kind === 'waits') continue;
      const event: PaymentEvent = { type: decision.kind };
      const { next, effects } = decide(payment.facts, event);
      const successorId = decision.kind === 'superseded' ? decision.successorId : payment.successorId;
      siblings.set(payment.paymentId, { ...waitingOf(payment), state: next.state });
      const { tenantId, paymentId } = payment;
      result.push({ payment: { ...payment, successorId }, next, effects, occurrence: { tenantId, paymentId, event } });
    }
  }
  return result;
}

function waitingOf({ paymentId, facts, acceptedAt, decidedAt }: Payment): Waiting {
  return { paymentId, state: facts.state, acceptedAtMs: acceptedAt.getTime(), decidedAtMs: decidedAt?.getTime() ?? null };
}

/** A payment as this transaction leaves it: what it settles, it settles after everything that is stored. */
function waitingOfChange({ payment, next, effects }: Change): Waiting {
  const settlesNow = effects.some((effect) => effect.type === 'supersedeHeld');
  const seen = waitingOf(payment);
  return { ...seen, state: next.state, decidedAtMs: settlesNow ? Number.POSITIVE_INFINITY : seen.decidedAtMs };
}

/** Held payments of some sales, oldest first, locked in key order. */
async function listHeld(sql: Sql, sales: readonly Sale[]): Promise<readonly Payment[]> {
  const distinct = [...new Map(sales.map((sale) => [saleText(sale), sale])).values()];
  const found = new Map<string, Payment>();
  for (const { from, where, values } of waysTo(distinct)) {
    // coalesce hides the state from the planner: it would read every open payment for each sale, by the index of open ones.
    const rows = await sql.query<PaymentRow & Record<string, unknown>>(
      `select ${PAYMENT_COLUMNS} from ${from} join payment_state as s using (tenant_id, payment_id)
        where coalesce(s.state, '') = 'held' ${where}
        order by tenant_id, payment_id for update of s`,
      values,
    );
    for (const row of rows) found.set(row.paymentId, paymentFromRow(row));
  }
  const oldestFirst = (a: Payment, b: Payment): number =>
    a.acceptedAt.getTime() - b.acceptedAt.getTime() || (a.paymentId < b.paymentId ? -1 : 1);
  return [...found.values()].sort(oldestFirst);
}

/** What decides over held payments: others of their sale that lead, or that settled after the oldest of them was accepted. */
async function listRivals(sql: Sql, held: readonly Payment[]): Promise<readonly (Waiting & { readonly sale: string })[]> {
  const oldest = [...Map.groupBy(held, saleText).values()].flatMap((list) => list.slice(0, 1));
  const found = new Map<string, Waiting & { readonly sale: string }>();
  for (const { from, where, values, sales } of waysTo(oldest)) {
    const rows = await sql.query<RowOf<typeof RIVAL>>(
      `select ${RIVAL.text}
         from ${from} join payment_state as s using (tenant_id, payment_id)
        where (s.state in (${sqlStates(LEADING_STATES)})
            or (s.state in (${sqlStates(SETTLED_STATES)}) and s.decided_at >= ($7::timestamptz[])[sale.position])) ${where}
        order by s.decided_at, payment_id`,
      [...values, sales.map(({ acceptedAt }) => acceptedAt)],
    );
    for (const { paymentId, state, acceptedAt, decidedAt, amountMicro, ...row } of rows) {
      const times = { acceptedAtMs: acceptedAt.getTime(), decidedAtMs: decidedAt?.getTime() ?? null };
      found.set(paymentId, { sale: saleText({ ...row, amountMicro: BigInt(amountMicro) }), paymentId, state, ...times });
    }
  }
  return [...found.values()];
}

/** One way from sales to their payments: `i` in `from`, with what else holds for them. */
interface Way<T extends Sale> {
  readonly from: string;
  readonly where: string;
  readonly values: readonly (readonly unknown[])[];
  readonly sales: readonly T[];
}

/**
 * How the payments of some sales are found: by the wallet that paid, and those of licences by their account besides, in whose spending each
 * stands, whichever wallet paid. A way that none of them takes is left out.
 */
function waysTo<T extends Sale>(sales: readonly T[]): readonly Way<T>[] {
  const licences = sales.filter((sale) => buyerOf(sale) !== sale.payer);
  const ways = [
    { from: OF_WALLET, where: IS_OF_SALE, sales, buyers: sales.map((sale) => sale.payer) },
    { from: OF_ACCOUNT, where: 'and i.mode = sale.mode', sales: licences, buyers: licences.map(buyerOf) },
  ];
  return ways.flatMap(({ from, where, sales: own, buyers }) => {
    if (own.length === 0) return [];
    const column = <V>(read: (sale: T) => V): V[] => own.map(read);
    const key = [column((s) => s.tenantId), buyers, column((s) => s.resourceKey), column((s) => s.kind)];
    return [{ from, where, sales: own, values: [...key, column((s) => s.mode), column((s) => s.amountMicro.toString())] }];
  });
}

/** One text for one sale. */
function saleText(sale: Sale): string {
  return JSON.stringify([purchaseText(sale), sale.mode, sale.amountMicro.toString()]);
}
