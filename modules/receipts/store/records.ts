/** What the public record of a payment is read from. A reader has an id and no site: the row that it names says which site it is. */

import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { hexOf } from '../../../db/hex.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, columnsOfAny } from '../../../db/shown.ts';
import { run, statement, tables } from '../../../db/statement.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { timeOfPaymentId } from '../../kernel/payment/paymentTime.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { Payment, PaymentRow } from '../../settlement/store/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../../settlement/store/payment.ts';
import { endsAround } from '../../settlement/store/returning.ts';
import { changeTenant } from '../../tenants/store/tenants.ts';
import type { PageAnswer } from '../rules/answer.ts';
import type { SoldLicence } from '../rules/record.ts';
import type { AnswerRow } from './answers.ts';
import { ANSWER_COLUMNS, answerFromRow } from './answers.ts';

/** A settled payment whose site shows its receipts. */
export interface PublicPayment {
  readonly payment: Payment;
  /** When the block of its transfer was; null where that was not read. */
  readonly blockTime: Date | null;
  /** What each author got, as the ledger has it now. */
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
  readonly licence: SoldLicence | null;
  /** How the answer with the page went. */
  readonly answer: PageAnswer;
}

const BESIDE = both(
  columnsOfAny('licence licence', ['patterns', 'terms', 'periodFrom', 'periodUntil']),
  columnsOf('payment_state s', ['blockTime']),
);
type Row = PaymentRow &
  RowOf<typeof BESIDE> &
  AnswerRow & {
    readonly ledgerLegs: readonly { readonly toAddress: Address; readonly amountMicro: string }[] | null;
  };

/**
 * The live, settled payment of an id, unless its site's owner shows no receipts; null for any other. Found by its id alone. The id of one that moved
 * nothing since another had paid (superseded) gives that other one: its licence goes by that id, too.
 */
export async function findPublicPayment(sql: Sql, paymentId: string): Promise<PublicPayment | null> {
  const row = (await findRow(sql, paymentId)) ?? (await findClosedRow(sql, paymentId));
  if (!row) return null;
  const payment = paymentFromRow(row);
  return {
    payment,
    blockTime: row.blockTime,
    legs: row.ledgerLegs?.map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })) ?? payment.legs,
    licence: licenceOf(row),
    answer: answerFromRow(row),
  };
}

function licenceOf({ patterns, terms, periodFrom: from, periodUntil: until }: Row): SoldLicence | null {
  return patterns && terms && from && until ? { patterns, terms, fromMs: from.getTime(), untilMs: until.getTime() } : null;
}

/** A transfer of a transaction; `position` counts within it. */
export interface StoredTransfer {
  readonly position: number;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly blockTimeMs: number;
  readonly logIndex: number;
  readonly from: string;
  readonly to: string;
  readonly amountMicro: bigint;
}

async function findRow(sql: Sql, paymentId: string): Promise<Row | undefined> {
  const [row] = await sql.query<Row & Record<string, unknown>>(rowOf('public'), [paymentId], 'find-public-payment');
  return row;
}

/**
 * The same in closed months, by the time that an id holds: without it every month would be opened for an id that anybody makes up. What was paid
 * instead of a superseded payment was paid within the same 32 days. Without a name: a plan for any time opens all months, too.
 */
async function findClosedRow(sql: Sql, paymentId: string): Promise<Row | undefined> {
  const at = timeOfPaymentId(paymentId);
  if (at === null) return undefined;
  const near = (column: string): string => `and ${column} between $2 and $3`;
  const [row] = await sql.query<Row & Record<string, unknown>>(rowOf('ledger', near), [paymentId, ...endsAround(at)]);
  return row;
}

/** What is read of a public payment ($1), of one schema; `near` limits the times of its rows. */
function rowOf(schema: 'public' | 'ledger', near: (column: string) => string = () => ''): string {
  return `select ${PAYMENT_COLUMNS}, ${BESIDE.text}, ${ANSWER_COLUMNS},
       (select crossing.legs from ${schema}.crossing where crossing.tenant_id = i.tenant_id and crossing.payment_id = i.payment_id
         ${near('crossing.at')} order by crossing.sequence desc limit 1) as "ledgerLegs"
     from (select asked.tenant_id, case when told.state = 'superseded' then told.successor_id else asked.payment_id end as payment_id
             from ${schema}.payment_intake as asked
               join ${schema}.payment_state as told on told.tenant_id = asked.tenant_id and told.payment_id = asked.payment_id
            where asked.payment_id = $1 ${near('asked.accepted_at')} ${near('told.accepted_at')} offset 0) as found
       join ${schema}.payment_intake as i on i.tenant_id = found.tenant_id and i.payment_id = found.payment_id ${near('i.accepted_at')}
       join ${schema}.payment_state as s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id ${near('s.accepted_at')}
       join tenant on tenant.tenant_id = i.tenant_id and tenant.receipts_public
       left join licence on licence.tenant_id = i.tenant_id and licence.payment_id = i.payment_id
       left join page_answer as told on told.tenant_id = i.tenant_id and told.payment_id = i.payment_id
     where i.mode = 'live' and s.state in (${sqlStates(SETTLED_STATES)})`;
}

/** A batch may pay hundreds into one split; more than this is not told. */
const MOST_TRANSFERS = 500;

/**
 * The transfers that a payment consists of, as they were read of its transaction, in the chain's order: its own, at `position`, and, where
 * its recipient is a split, what else went in and out there; at most 500.
 */
export async function listTransfersBeside(
  sql: Sql,
  place: {
    readonly network: string;
    readonly txHash: string;
    readonly asset: string;
    readonly position: number;
    /** Null where the payee is paid directly. */
    readonly split: string | null;
    /** When it was settled: its transfers are of a month near it. */
    readonly at: Date;
  },
): Promise<readonly StoredTransfer[]> {
  const [since, until] = endsAround(place.at);
  const open = await listBeside(sql, place);
  const rows = open.length > 0 ? open : await listBesideInClosedMonths(sql, { ...place, since, until });
  const inOrder = rows.toSorted((a, b) => a.logPosition - b.logPosition);
  return inOrder.map(({ logPosition, blockTime, fromAddress, toAddress, ...row }) => ({
    ...row,
    position: logPosition,
    blockNumber: BigInt(row.blockNumber),
    blockHash: hexOf(row.blockHash),
    blockTimeMs: blockTime.getTime(),
    from: fromAddress,
    to: toAddress,
    amountMicro: BigInt(row.amountMicro),
  }));
}

interface Beside {
  readonly network: string;
  readonly txHash: string;
  readonly asset: string;
  readonly position: number;
  readonly split: string | null;
}

const TRANSFER = [
  ...(['t.logPosition', 't.logIndex', 't.txHash', 't.blockNumber', 't.blockHash', 't.blockTime'] as const),
  ...(['t.fromAddress', 't.toAddress', 't.amountMicro'] as const),
] as const;

/** Where it was settled: all transfers of one transaction are of one block, and so of one month. */
interface Near extends Beside {
  readonly since: Date;
  readonly until: Date;
}

function besideIn(schema: 'public' | 'ledger', p: <K extends keyof Beside>(key: K) => Beside[K]) {
  return tables
    .withSchema(schema)
    .selectFrom('chain_transfer as t')
    .select(TRANSFER)
    .where('t.network', '=', p('network'))
    .where('t.txHash', '=', p('txHash'))
    .where('t.token', '=', p('asset'))
    .where(text<boolean>`(t.log_position = ${p('position')} or ${p('split')} in (t.from_address, t.to_address))`)
    .orderBy(text`t.log_position <> ${p('position')}`)
    .orderBy('t.logPosition')
    .limit(text.lit(MOST_TRANSFERS));
}

const listBeside = statement<Beside>()((p) => besideIn('public', p), 'list-transfers-beside');
const listBesideInClosedMonths = statement<Near>()((p) =>
  besideIn('ledger', p).where('t.blockTime', '>=', p('since')).where('t.blockTime', '<=', p('until')),
);

/** Whether records of a site's payments are shown to anyone who has their ids; null when there is no such site. */
export async function findReceiptsPublic(sql: Sql, tenantId: string): Promise<boolean | null> {
  const tenant = tables.selectFrom('tenant').select('receiptsPublic').where('tenantId', '=', tenantId);
  return (await run(sql, tenant))[0]?.receiptsPublic ?? null;
}

/** Writes it; the version of the site moves. Nobody keeps it in memory: the next reading knows. */
export async function writeReceiptsPublic(sql: Sql, tenantId: string, isPublic: boolean): Promise<void> {
  await changeTenant(sql, tenantId, { receiptsPublic: isPublic }, null);
}
