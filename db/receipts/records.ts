/** What the public record of a payment is read from. A reader has an id and no site: the row that it names says which site it is. */
import type { Address } from '../../domain/money/legs.ts';
import { SETTLED_STATES } from '../../domain/payment/state.ts';
import type { SoldLicence } from '../../domain/receipts/record.ts';
import type { Sql } from '../database.ts';
import type { Payment, PaymentRow } from '../settlement/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../settlement/payment.ts';
import { sqlStates } from '../settlement/states.ts';

/** A settled payment whose site shows its receipts. */
export interface PublicPayment {
  readonly payment: Payment;
  /** What each author got, as the ledger has it now. */
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
  readonly licence: SoldLicence | null;
  /** Of the body that was served; `sha256` in hex. */
  readonly body: { readonly sha256: string; readonly bytes: number } | null;
}

interface Row extends PaymentRow {
  ledger_legs: { toAddress: Address; amountMicro: string }[] | null;
  patterns: string[] | null;
  terms: string[] | null;
  period_from: Date | null;
  period_until: Date | null;
  body_sha256: Buffer | null;
  body_bytes: string | null;
}

/**
 * The live, settled payment of an id, unless its site's owner shows no receipts; null for any other. Found by its id alone. The id of one that moved
 * nothing since another had paid (superseded) gives that other one: its licence goes by that id, too.
 */
export async function findPublicPayment(sql: Sql, paymentId: string): Promise<PublicPayment | null> {
  const [row] = await sql.query<Row & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS}, body.sha256 as body_sha256, body.bytes as body_bytes,
       licence.patterns, licence.terms, licence.period_from, licence.period_until,
       (select crossing.legs from crossing where crossing.tenant_id = i.tenant_id and crossing.payment_id = i.payment_id
         order by crossing.sequence desc limit 1) as ledger_legs
     from (select asked.tenant_id, case when state = 'superseded' then successor_id else payment_id end as payment_id
             from payment_intake as asked join payment_state using (tenant_id, payment_id) where asked.payment_id = $1 offset 0) as found
       join payment_intake as i on i.tenant_id = found.tenant_id and i.payment_id = found.payment_id
       join payment_state as s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id
       join tenant on tenant.tenant_id = i.tenant_id and tenant.receipts_public
       left join licence on licence.tenant_id = i.tenant_id and licence.payment_id = i.payment_id
       left join receipt_body as body on body.tenant_id = i.tenant_id and body.payment_id = i.payment_id
     where i.mode = 'live' and s.state in (${sqlStates(SETTLED_STATES)})`,
    [paymentId],
    'find-public-payment',
  );
  if (!row) return null;
  const payment = paymentFromRow(row);
  return {
    payment,
    legs: row.ledger_legs?.map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })) ?? payment.legs,
    licence: licenceOf(row),
    body: row.body_sha256 && { sha256: row.body_sha256.toString('hex'), bytes: Number(row.body_bytes) },
  };
}

function licenceOf({ patterns, terms, period_from: from, period_until: until }: Row): SoldLicence | null {
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
  },
): Promise<readonly StoredTransfer[]> {
  const rows = await sql.query<{
    log_position: number;
    log_index: number;
    tx_hash: string;
    block_number: string;
    block_hash: string;
    block_time: Date;
    from_address: string;
    to_address: string;
    amount_micro: string;
  }>(
    `select log_position, log_index, tx_hash, block_number, block_hash, block_time, from_address, to_address, amount_micro
       from chain_transfer where network = $1 and tx_hash = $2 and token = $3
        and (log_position = $4 or $5 in (from_address, to_address))
      order by log_position <> $4, log_position limit ${MOST_TRANSFERS}`,
    [place.network, place.txHash, place.asset, place.position, place.split],
    'list-transfers-beside',
  );
  const inOrder = rows.toSorted((a, b) => a.log_position - b.log_position);
  return inOrder.map((row) => ({
    ...{ position: row.log_position, logIndex: row.log_index, txHash: row.tx_hash },
    ...{ blockNumber: BigInt(row.block_number), blockHash: row.block_hash, blockTimeMs: row.block_time.getTime() },
    ...{ from: row.from_address, to: row.to_address, amountMicro: BigInt(row.amount_micro) },
  }));
}
