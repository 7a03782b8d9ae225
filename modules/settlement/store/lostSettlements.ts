/** The SQL of what a restore lost: nonces of relayer keys that no batch holds, and the payments that stood at them on the chain. */
import type { InferResult } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import type { AuthorizationKey } from './intake.ts';

/** Nonces of a key, `from` to below `to`, that the chain counts and no batch holds. `since` is when the batch before them was made. */
export interface NonceGap {
  readonly from: bigint;
  readonly to: bigint;
  readonly since: Date | null;
}

/** Gaps of a key below the chain's count, the lowest first: none while the ledger knows every transaction of the key since its first. */
export async function listNonceGaps(sql: Sql, network: string, relayer: string, count: bigint): Promise<NonceGap[]> {
  const own = tables.selectFrom('relayer_nonce').where('network', '=', network).where('relayer', '=', relayer);
  const held = tables
    .selectFrom('relayer_nonce as held')
    .innerJoin('settlement_batch as batch', 'batch.batchId', 'held.batchId')
    .select(['held.nonce', text<Date | null>`batch.created_at`.as('since')])
    .where('held.network', '=', network)
    .where('held.relayer', '=', relayer)
    .where('held.nonce', '<', count.toString());
  const next = tables.selectFrom('relayer').select('nextNonce').where('network', '=', network).where('address', '=', relayer);
  const first = text<string>`coalesce((${own.select(({ fn }) => fn.min('nonce').as('nonce'))}), (${next}), 0) - 1`;
  const known = held.unionAll(tables.selectNoFrom([first.as('nonce'), text<Date | null>`null::timestamptz`.as('since')]));
  const pairs = tables
    .selectFrom(known.as('known'))
    .select(['known.since', text<string>`known.nonce + 1`.as('from')])
    .select(text<string>`lead(known.nonce, 1, ${count.toString()}::bigint) over (order by known.nonce)`.as('to'));
  const rows = await run(
    sql,
    tables
      .selectFrom(pairs.as('pairs'))
      .select(['pairs.from', 'pairs.to', 'pairs.since'])
      .whereRef('pairs.to', '>', 'pairs.from')
      .orderBy('pairs.from')
      .limit(text.lit(1000)),
  );
  return rows.map(({ from, to, since }) => ({ from: BigInt(from), to: BigInt(to), since }));
}

/** A payment that a key of ours settled, and that the ledger does not know. */
export interface LostSettlement extends AuthorizationKey {
  readonly txHash: `0x${string}`;
  readonly relayer: string;
  readonly relayerNonce: bigint;
  readonly blockNumber: bigint;
  readonly blockTime: Date;
  readonly payTo: string;
  readonly amountMicro: bigint;
  /** Payees of the value; micro, as text. */
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: string }[];
}

/**
 * Stores what was found, with the sites whose payments to its recipient are older; what is stored already, or has a payment, stays as it is.
 * The sites are fixed here: a payment made since, or with a test key, which costs nothing, adds none.
 */
export async function recordLost(sql: Sql, found: readonly LostSettlement[]): Promise<void> {
  const rows = found.map((one) => ({
    network: one.network,
    asset: one.asset,
    payer: one.payer,
    nonce: one.nonce,
    tx_hash: one.txHash,
    relayer: one.relayer,
    relayer_nonce: one.relayerNonce.toString(),
    block_number: one.blockNumber.toString(),
    block_time: one.blockTime,
    pay_to: one.payTo,
    amount_micro: one.amountMicro.toString(),
    legs: one.legs,
  }));
  await sql.query(
    `insert into lost_settlement (network, asset, payer, nonce, tx_hash, relayer, relayer_nonce, block_number, block_time, pay_to, amount_micro,
       legs, tenant_ids)
     select network, asset, payer, nonce, tx_hash, relayer, relayer_nonce, block_number, block_time, pay_to, amount_micro, legs,
       array(select distinct p.tenant_id from ledger.payment_intake as p where p.network = found.network and p.pay_to = found.pay_to
         and p.mode = 'live' and p.accepted_at < found.block_time)
       from jsonb_populate_recordset(null::lost_settlement, $1::jsonb) as found
      where not exists (select 1 from authorization_claim as a
         where a.digest = authorization_digest(found.network, found.asset, found.payer, found.nonce))
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

const lost = tables
  .selectFrom('lost_settlement as lost')
  .select(['network', 'asset', 'payer', 'nonce', 'txHash', 'relayer', 'relayerNonce', 'blockNumber', 'blockTime'])
  .select(['payTo', 'amountMicro', 'legs', 'tenantIds']);
type Row = InferResult<typeof lost>[number];

/** What is lost on a network and was not shown again since, the oldest first; with the sites that sold under the recipient before. */
export async function listLost(
  sql: Sql,
  network: string,
  limit: number,
): Promise<(LostSettlement & { readonly tenantIds: readonly string[] })[]> {
  const digest = text<Buffer>`authorization_digest(lost.network, lost.asset, lost.payer, lost.nonce)`;
  const unclaimed = lost
    .where('network', '=', network)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('authorization_claim as a').select('a.paymentId').where('a.digest', '=', digest))),
    );
  const inOrder = unclaimed.orderBy('blockNumber').orderBy('relayerNonce').orderBy('payer').orderBy('nonce');
  return (await run(sql, inOrder.limit(limit))).map(lostOf);
}

/** Who shows an authorization for a purchase. */
export interface Claimant {
  /** The site that sells. */
  readonly tenantId: string;
  /** The account that buys a licence; null for a page. */
  readonly accountId: string | null;
}

/**
 * The lost settlement of an authorization, if it was found within the last `hours`, its site sold under the recipient before (or no site
 * did), and its account is that of the payer's wallet; null when there is none.
 */
export async function findLost(
  sql: Sql,
  key: AuthorizationKey,
  { tenantId, accountId }: Claimant,
  hours: number,
): Promise<LostSettlement | null> {
  const { network, asset, payer, nonce } = key;
  const found = lost
    .where((is) => is.and({ network, asset, payer, nonce }))
    .where('foundAt', '>', text<Date>`now() - ${hours} * interval '1 hour'`)
    .where(text<boolean>`(tenant_ids = '{}' or ${tenantId} = any (tenant_ids))`);
  const [row] = await run(
    sql,
    accountId === null
      ? found
      : found.where(({ exists, selectFrom }) =>
          exists(
            selectFrom('buyer_account as account')
              .select('account.accountId')
              .where('account.accountId', '=', accountId)
              .whereRef('account.wallet', '=', 'lost.payer'),
          ),
        ),
  );
  return row ? lostOf(row) : null;
}

function lostOf(row: Row) {
  return {
    ...row,
    relayerNonce: BigInt(row.relayerNonce),
    blockNumber: BigInt(row.blockNumber),
    amountMicro: BigInt(row.amountMicro),
  };
}
