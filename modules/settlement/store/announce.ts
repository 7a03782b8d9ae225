import type { Sql } from '../../../db/database.ts';

/** Tells who waits for payments that some were decided: their ids, blanks between them; none: any may have been. */
export const DECIDED_CHANNEL = 'payment_decided';
/** Ids of one notification, which holds 8,000 bytes. */
const IDS_AT_ONCE = 200;

/** The end of a statement in which `new` holds decided payments: they are announced with its transaction's commit. */
export const ANNOUNCE = `select pg_notify('${DECIDED_CHANNEL}', string_agg(payment_id::text, ' '))
  from (select payment_id, (row_number() over () - 1) / ${IDS_AT_ONCE} as part from new) as told group by part`;

/** Tells workers that a payment of a network waits for a batch: the network's id, and the trace of the call that brought it behind a blank. */
export const ACCEPTED_CHANNEL = 'payment_accepted';

/** Tells them of payments that were stored before, with the commit of `sql`. */
export async function tellAccepted(sql: Sql, network: string): Promise<void> {
  await sql.query('select pg_notify($1, $2)', [ACCEPTED_CHANNEL, network], 'tell-accepted');
}
