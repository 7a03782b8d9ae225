import type { CrossingKind } from '../../domain/terms.ts';
import type { Span } from '../../domain/window.ts';
import { isEmpty } from '../../domain/window.ts';
import type { Sql } from '../database.ts';
import { Binder } from './binder.ts';
import { STANDING, within } from './crossings.ts';

/** One leg of a crossing that stands, with what its payment knows. */
export interface ExportedLeg {
  readonly at: Date;
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: string;
  readonly author_id: string | null;
  readonly wallet: string;
  readonly share: number;
  readonly role: string;
  readonly tx_hash: string | null;
  readonly mode: 'live' | 'mock';
  readonly payer: string;
  readonly agent: string;
  readonly licence_jti: string | null;
}

const FETCH_ROWS = 1_000;

/** How many legs a window's export has, counted up to `most` + 1. */
export async function countLegs(sql: Sql, tenantId: string, window: Span, most: number): Promise<number> {
  if (isEmpty(window)) return 0;
  const binder = new Binder();
  const [row] = await sql.query<{ count: string }>(
    `select count(*) from (
       select 1 from crossing c join leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id
       where c.tenant_id = ${binder.bind(tenantId)} and ${within(binder, 'c.at', window)} and ${STANDING}
       limit ${binder.bind(most + 1)}
     ) leg`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

/**
 * The newest legs of a window, at most `most`, in chunks from a server-side cursor: nothing is read ahead of the consumer. `sql`
 * is an open snapshot. Order: newest crossing first, its legs in their order.
 */
export async function* streamLegs(sql: Sql, tenantId: string, window: Span, most: number): AsyncGenerator<ExportedLeg[]> {
  if (isEmpty(window)) return;
  const binder = new Binder();
  await sql.query(
    `declare exported no scroll cursor for
     select c.at, c.host, c.slug, c.kind, l.amount_micro as micro, l.author_id, l.to_address as wallet, l.share, l.role, p.tx_hash,
       p.mode, c.payer, c.agent, p.licence_jti
     from crossing c
       join leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id
       join payment p on p.tenant_id = c.tenant_id and p.payment_id = c.payment_id
     where c.tenant_id = ${binder.bind(tenantId)} and ${within(binder, 'c.at', window)} and ${STANDING}
     order by c.at desc, c.crossing_id desc, l.ordinal limit ${binder.bind(most)}`,
    binder.values,
  );
  for (;;) {
    const rows = await sql.query<ExportedLeg & Record<string, unknown>>(`fetch ${FETCH_ROWS} from exported`);
    if (rows.length > 0) yield rows;
    if (rows.length < FETCH_ROWS) return;
  }
}
