import type { Sql } from '../database.ts';

/** What speaks against taking a payment before it has a row. */
export interface AdmissionFacts {
  readonly strikes: number;
  readonly blockedPayee: boolean;
  readonly gasWeiToday: bigint;
  /** Payments of the network that wait for a batch; stops counting at 20,000. */
  readonly waiting: number;
  /** Batches of the network in flight. A facilitator's is for a minute: left open after that it keeps no other waiting. */
  readonly openBatches: number;
  /** How many may be in flight at once, over all its relayer keys that are not paused; 0 where there is none. */
  readonly inFlightLimit: number;
  /** True when the network has relayer keys and every one of them is paused: nothing can be sent. */
  readonly isPaused: boolean;
}

/** A payment to be let in, or not. */
export interface AdmissionAsk {
  readonly tenantId: string;
  readonly network: string;
  readonly payer: string;
  readonly payTo: string;
}

/** Reads all of it for several payments in one round trip, in the order asked; what waits is counted once a network. */
export async function readAdmissions(sql: Sql, asks: readonly AdmissionAsk[]): Promise<readonly AdmissionFacts[]> {
  const column = (read: (ask: AdmissionAsk) => string): string[] => asks.map(read);
  const rows = await sql.query<{
    strikes: string;
    blocked: boolean;
    gas: string;
    waiting: string;
    open: string;
    lanes: string;
    paused: boolean;
  }>(
    `with asked as (
       select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) with ordinality
         as one (tenant_id, network, payer, pay_to, position)
     ), load as materialized (
       select network,
              (select count(*) from (select 1 from payment where payment.network = at_work.network and state = 'accepted'
                 and mode = 'live' order by accepted_at limit 20000) few) as waiting,
              (select count(*) from settlement_batch batch where batch.network = at_work.network and batch.state = 'open'
                 and (batch.kind <> 'facilitator' or batch.created_at > now() - interval '1 minute')) as open,
              (select coalesce(sum(in_flight_limit), 0) from relayer where relayer.network = at_work.network
                 and paused_reason is null) as lanes,
              (select coalesce(bool_and(paused_reason is not null), false) from relayer
                where relayer.network = at_work.network) as paused
         from (select distinct network from asked) at_work
     )
     select coalesce((select strikes from payer_strike strike where strike.network = asked.network and strike.payer = asked.payer
               and last_at > now() - interval '1 hour'), 0) as strikes,
            exists (select 1 from blocked_payee block where block.network = asked.network and block.pay_to = asked.pay_to) as blocked,
            coalesce((select gas_wei from gas_usage used where used.tenant_id = asked.tenant_id and day = current_date), 0) as gas,
            load.waiting, load.open, load.lanes, load.paused
       from asked join load using (network) order by position`,
    [column((ask) => ask.tenantId), column((ask) => ask.network), column((ask) => ask.payer), column((ask) => ask.payTo)],
  );
  return rows.map((row) => ({
    strikes: Number(row.strikes),
    blockedPayee: row.blocked,
    gasWeiToday: BigInt(row.gas),
    waiting: Number(row.waiting),
    openBatches: Number(row.open),
    inFlightLimit: Number(row.lanes),
    isPaused: row.paused,
  }));
}

/** Counts an item that failed on chain against its payer (safety 19). */
export async function addStrike(sql: Sql, network: string, payer: string): Promise<void> {
  await sql.query(
    `insert into payer_strike (network, payer) values ($1, $2)
     on conflict (network, payer) do update set
       strikes = case when payer_strike.last_at < now() - interval '1 hour' then 1 else payer_strike.strikes + 1 end,
       last_at = now()`,
    [network, payer],
  );
}

/** Marks a recipient that a transfer reverted for; quotes answer 503 until the background check lifts it (safety 18). */
export async function blockPayee(sql: Sql, network: string, payTo: string, detail: string): Promise<boolean> {
  const rows = await sql.query(
    `insert into blocked_payee (network, pay_to, detail) values ($1, $2, $3)
     on conflict (network, pay_to) do update set checked_at = now() returning (xmax = 0) as fresh`,
    [network, payTo, detail],
  );
  return (rows[0] as { fresh?: boolean } | undefined)?.fresh ?? false;
}

/** Which of these recipients are marked as unpayable. */
export async function listBlockedPayees(sql: Sql, network: string, payTos: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ pay_to: string }>(
    'select pay_to from blocked_payee where network = $1 and pay_to = any ($2::text[])',
    [network, [...new Set(payTos)]],
  );
  return new Set(rows.map((row) => row.pay_to));
}
