import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';

/** What a site says of a page that it served: SHA-256 in hex, and how long it was. */
export interface ServedBody {
  readonly paymentId: string;
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Notes what a site served for payments of its own: pages that were paid for in the last hour, live, each once; what does not fit is left
 * out. Returns how many are noted. The first word stands: a second one changes nothing.
 */
export async function noteBodies(sql: Sql, tenantId: string, bodies: readonly ServedBody[]): Promise<number> {
  const rows = await sql.query(
    `insert into receipt_body (tenant_id, payment_id, sha256, bytes)
     select distinct on (s.payment_id) s.tenant_id, s.payment_id, decode(said.sha256, 'hex'), said.bytes
       from unnest($2::uuid[], $3::text[], $4::bigint[]) with ordinality as said (payment_id, sha256, bytes, place)
         join payment_state as s on s.tenant_id = $1 and s.payment_id = said.payment_id
         join payment_intake as i on i.tenant_id = s.tenant_id and i.payment_id = s.payment_id
      where s.mode = 'live' and i.purpose = 'page' and s.state in (${sqlStates(SETTLED_STATES)})
        and s.settled_at > now() - interval '1 hour'
      order by s.payment_id, said.place
     on conflict do nothing returning 1`,
    [tenantId, bodies.map((one) => one.paymentId), bodies.map((one) => one.sha256), bodies.map((one) => one.bytes)],
    'note-bodies',
  );
  return rows.length;
}
