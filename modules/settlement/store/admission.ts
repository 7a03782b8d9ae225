import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { sqlStages } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';
import { unseenLists } from '../../../db/unseen.ts';
import { OPEN_STATES } from '../../kernel/payment/state.ts';
import type { Backlog } from '../rules/expectedWait.ts';
import type { AuthorizationKey } from './intake.ts';
import type { PaymentRef } from './payment.ts';

/** What speaks against taking a payment before it has a row. */
export interface AdmissionFacts extends Backlog {
  /** The payment that holds the authorization already, of any tenant. */
  readonly holder: PaymentRef | null;
  readonly strikes: number;
  /** Undecided payments of the payer as wallets with code have them. */
  readonly undecided: number;
  readonly blockedPayee: boolean;
  readonly gasWeiToday: bigint;
  /** What the network's relayer keys have spent today, for all sites. */
  readonly networkGasWeiToday: bigint;
  /** Batches of the network on their way. A facilitator's is for a minute: left open after that it keeps no other waiting. */
  readonly openBatches: number;
  /** How many may be on their way at once, over all its relayer keys that are not paused; 0 where there is none. */
  readonly inFlightLimit: number;
  /** The account whose wallet pays; null for most. */
  readonly walletAccountId: string | null;
  /** True when the network has relayer keys and every one of them is paused: nothing can be sent. */
  readonly isPaused: boolean;
}

/** A payment to be let in, or not. */
export interface AdmissionAsk extends AuthorizationKey {
  readonly tenantId: string;
  readonly payTo: string;
  /** Gas it needs at most in a batch of its own. */
  readonly plannedGas: bigint;
}

/** Most waiting payments of a network that are counted: what bounds the cost of an answer. */
const MOST_COUNTED = 20_000;

/**
 * Reads all of it for several payments in one round trip, in the order asked; what waits is read once a network. Its plan is one for
 * empty and for full tables, so that it has a name: to plan it takes longer than to run it. Payments to one
 * recipient share a group of their batch: all but the dearest of them count as one more transfer (`MORE_GAS`).
 */
export async function readAdmissions(sql: Sql, asks: readonly AdmissionAsk[]): Promise<readonly AdmissionFacts[]> {
  const column = (read: (ask: AdmissionAsk) => string): string[] => asks.map(read);
  const rows = await sql.query<AdmissionRow>(
    `with asked as (
       select * from unnest(${unseenLists(['uuid', 'text', 'text', 'text', 'numeric', 'text', 'text'])}) with ordinality
         as one (tenant_id, network, payer, pay_to, planned_gas, asset, nonce, position)
     ), at_work as (
       select distinct network from asked
     ), load as materialized (
       select network,
              (select count(*) from settlement_batch batch where batch.network = at_work.network and batch.state = 'open'
                 and (batch.kind <> 'facilitator' or batch.created_at > now() - interval '1 minute')) as open,
              (select coalesce(sum(in_flight_limit), 0) from relayer where relayer.network = at_work.network
                 and paused_reason is null) as in_flight,
              (select count(*) from relayer where relayer.network = at_work.network and paused_reason is null) as keys,
              (select coalesce(bool_and(paused_reason is not null), false) from relayer
                where relayer.network = at_work.network) as paused,
              coalesce((select gas_wei from network_gas_usage used where used.network = at_work.network and day = current_date), 0) as network_gas
         from at_work
     ), work as materialized (
       select network, tenant_id, sum(gas) as gas from (
         select at_work.network, tenant_id,
                max(planned_gas) + (count(*) - 1) * case payer_kind when 'plain' then ${MORE_GAS.plain} else ${MORE_GAS.contract} end as gas
           from at_work cross join lateral (
             select tenant_id, pay_to, payer_kind, planned_gas from payment_state as s
              where s.network = at_work.network and stage = 'under_way' and state = 'accepted' and mode = 'live'
              order by accepted_at limit ${MOST_COUNTED}) waits
          group by at_work.network, tenant_id, pay_to, payer_kind) page
        group by network, tenant_id
     )
     select coalesce((select strikes from payer_strike strike where strike.network = asked.network and strike.payer = asked.payer
               and last_at > now() - interval '1 hour'), 0) as strikes,
            (select count(*) from payment_state as s where s.network = asked.network and ${sameText('s.payer', 'asked.payer')}
               and payer_kind = 'contract' and stage in (${sqlStages(OPEN_STATES)})) as undecided,
            exists (select 1 from blocked_payee block where block.network = asked.network and block.pay_to = asked.pay_to) as blocked,
            coalesce((select gas_wei from gas_usage used where used.tenant_id = asked.tenant_id and day = current_date), 0) as gas,
            own.gas as own, coalesce((select sum(least(work.gas, own.gas)) from work
               where work.network = asked.network and work.tenant_id <> asked.tenant_id), 0) as others,
            load.open, load.in_flight, load.keys, load.paused, load.network_gas, claim.tenant_id, claim.payment_id,
            (select account_id from buyer_account account where account.wallet = asked.payer) as account
       from asked join load using (network) cross join lateral (
         select asked.planned_gas + coalesce((select gas from work
           where work.network = asked.network and work.tenant_id = asked.tenant_id), 0) as gas) own
       left join lateral (
         select tenant_id, payment_id from authorization_claim claim
          where claim.digest = authorization_digest(asked.network, asked.asset, asked.payer, asked.nonce) offset 0) claim on true
      order by position`,
    [
      column((ask) => ask.tenantId),
      column((ask) => ask.network),
      column((ask) => ask.payer),
      column((ask) => ask.payTo),
      column((ask) => ask.plannedGas.toString()),
      column((ask) => ask.asset),
      column((ask) => ask.nonce),
    ],
    'read-admissions',
  );
  return rows.map(factsFromRow);
}

/** Gas of one payment more to a recipient that a batch pays anyway, by payer kind. */
const MORE_GAS = { plain: 120_000, contract: 300_000 } as const;

interface AdmissionRow extends Record<string, unknown> {
  strikes: number;
  undecided: string;
  blocked: boolean;
  gas: string;
  own: string;
  others: string;
  open: string;
  in_flight: string;
  keys: string;
  paused: boolean;
  network_gas: string;
  tenant_id: string | null;
  payment_id: string | null;
  account: string | null;
}

function factsFromRow(row: AdmissionRow): AdmissionFacts {
  return {
    holder: row.tenant_id === null || row.payment_id === null ? null : { tenantId: row.tenant_id, paymentId: row.payment_id },
    strikes: row.strikes,
    undecided: Number(row.undecided),
    blockedPayee: row.blocked,
    gasWeiToday: BigInt(row.gas),
    networkGasWeiToday: BigInt(row.network_gas),
    ownGas: BigInt(row.own),
    othersGas: BigInt(row.others),
    openBatches: Number(row.open),
    inFlightLimit: Number(row.in_flight),
    keys: Number(row.keys),
    isPaused: row.paused,
    walletAccountId: row.account,
  };
}

/** Counts items that failed on chain against their payers, in the transaction that decides them: none is sent between (safety 19). */
export async function addStrikes(
  sql: Sql,
  items: readonly { readonly network: string; readonly payer: string }[],
): Promise<void> {
  if (items.length === 0) return;
  await sql.query(
    `insert into payer_strike (network, payer, strikes)
     select network, payer, count(*) from unnest($1::text[], $2::text[]) as item (network, payer) group by 1, 2 order by 1, 2
     on conflict (network, payer) do update set
       strikes = case when payer_strike.last_at < now() - interval '1 hour' then 0 else payer_strike.strikes end + excluded.strikes,
       last_at = now()`,
    [items.map(({ network }) => network), items.map(({ payer }) => payer)],
  );
}

/** Marks a recipient that a transfer reverted for; quotes answer 503 until the background check lifts it (safety 18). */
export async function blockPayee(sql: Sql, network: string, payTo: string, detail: string): Promise<boolean> {
  const [row] = await run(
    sql,
    tables
      .insertInto('blocked_payee')
      .values({ network, payTo, detail })
      .onConflict((known) => known.columns(['network', 'payTo']).doUpdateSet({ checkedAt: text<Date>`now()` }))
      .returning(text<boolean>`xmax = 0`.as('isNew')),
  );
  return row?.isNew ?? false;
}

const blocked = statement<{ network: string; payTos: readonly string[] }>()(
  (place) =>
    tables
      .selectFrom('blocked_payee')
      .select('payTo')
      .where('network', '=', place('network'))
      .where('payTo', '=', anyOf(place('payTos'))),
  'list-blocked-payees',
);

/** Which of these recipients are marked as unpayable. */
export async function listBlockedPayees(sql: Sql, network: string, payTos: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await blocked(sql, { network, payTos: [...new Set(payTos)] });
  return new Set(rows.map(({ payTo }) => payTo));
}
