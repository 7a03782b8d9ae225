import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';

/** How an answer ended, as its site saw it: all of it went out, or its reader was gone before that. */
export type Outcome = 'delivered' | 'lost';

/** What a site says of an answer that it gave to a payment. */
export interface ServedBody {
  readonly paymentId: string;
  /** SHA-256 in hex, and how long the page was; null: it cannot say. */
  readonly page: { readonly sha256: string; readonly bytes: number } | null;
  /** When the answer was given, by the site's clock, epoch ms: one answer has one time. Null: it is not said, and only a first word counts. */
  readonly atMs: number | null;
  /** Null: it has not ended yet, or nobody saw it. */
  readonly outcome: Outcome | null;
}

/**
 * Notes what a site answered to payments of its own, for pages that were paid for within 25 hours, live; what does not fit is left out. Returns how many
 * words changed something. The first word about a page stands; a later answer is counted, with its page where that has changed. The same word again
 * changes nothing.
 */
export async function noteBodies(sql: Sql, tenantId: string, bodies: readonly ServedBody[]): Promise<number> {
  let noted = 0;
  for (const round of roundsOf(bodies)) noted += await noteRound(sql, tenantId, round);
  return noted;
}

/** A sale has two words, and few more where its page is asked for again. */
const MOST_WORDS = 8;

/** One row is written once by a statement: the second word about a payment waits for the first. */
function roundsOf(bodies: readonly ServedBody[]): readonly (readonly ServedBody[])[] {
  const ofPayment = [...Map.groupBy(bodies, ({ paymentId }) => paymentId).values()];
  const most = Math.max(0, ...ofPayment.map(({ length }) => length));
  return Array.from({ length: Math.min(most, MOST_WORDS) }, (_, at) => ofPayment.flatMap((words) => words.slice(at, at + 1)));
}

async function noteRound(sql: Sql, tenantId: string, bodies: readonly ServedBody[]): Promise<number> {
  const rows = await sql.query(
    `insert into page_answer as known (tenant_id, payment_id, sha256, bytes, noted_at, answered_at, outcome, lost_at)
     select s.tenant_id, s.payment_id, decode(said.sha256, 'hex'), said.bytes, case when said.bytes is not null then now() end,
            said.at, said.outcome, case when said.outcome = 'lost' then now() end
       from unnest($2::uuid[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[]) as said (payment_id, sha256, bytes, at, outcome)
         join payment_state as s on s.tenant_id = $1 and s.payment_id = said.payment_id
         join payment_intake as i on i.tenant_id = s.tenant_id and i.payment_id = s.payment_id
      where s.mode = 'live' and i.purpose = 'page' and s.state in (${sqlStates(SETTLED_STATES)})
        and s.settled_at > now() - interval '25 hours'
      order by s.payment_id
     on conflict (tenant_id, payment_id) do update set
       sha256 = coalesce(known.sha256, excluded.sha256),
       bytes = coalesce(known.bytes, excluded.bytes),
       noted_at = coalesce(known.noted_at, excluded.noted_at),
       answered_at = greatest(known.answered_at, excluded.answered_at),
       outcome = case when excluded.answered_at > known.answered_at then excluded.outcome else coalesce(known.outcome, excluded.outcome) end,
       lost_at = coalesce(known.lost_at, excluded.lost_at),
       again_count = known.again_count + case when excluded.answered_at > known.answered_at then 1 else 0 end,
       again_sha256 = case when excluded.answered_at > known.answered_at
         then nullif(excluded.sha256, coalesce(known.sha256, excluded.sha256)) else known.again_sha256 end,
       again_bytes = case when excluded.answered_at <= known.answered_at then known.again_bytes
         when excluded.sha256 is distinct from coalesce(known.sha256, excluded.sha256) then excluded.bytes end
     where excluded.answered_at > known.answered_at
       or (known.sha256 is null and excluded.sha256 is not null)
       or (known.outcome is null and excluded.outcome is not null and excluded.answered_at >= coalesce(known.answered_at, '-infinity'))
     returning 1`,
    [
      tenantId,
      bodies.map((one) => one.paymentId),
      bodies.map((one) => one.page?.sha256 ?? null),
      bodies.map((one) => one.page?.bytes ?? null),
      bodies.map((one) => (one.atMs === null ? null : new Date(one.atMs))),
      bodies.map((one) => one.outcome),
    ],
    'note-bodies',
  );
  return rows.length;
}
