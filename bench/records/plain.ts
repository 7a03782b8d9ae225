import type { Sql } from '../../db/database.ts';
import { BUSY } from './load.ts';

/** What a report says in one comparable value; sums as text. */
export type Answer = Readonly<Record<string, string | number>>;

/** A window of a report; epoch milliseconds. */
export interface BenchWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

const WHERE = 'tenant_id = $1 and at >= $2 and at < $3';

function values({ fromMs, toMs }: BenchWindow): unknown[] {
  return [BUSY, new Date(fromMs), new Date(toMs)];
}

/** The totals of earnings, added up from the rows in one statement. The bench's rows hold no corrections. */
export async function plainEarnings(sql: Sql, window: BenchWindow): Promise<Answer> {
  const [row] = await sql.query<{ events: string; reads: string; micro: string; authors: string }>(
    `select count(*) as events, count(*) filter (where kind = 'read') as reads, coalesce(sum(micro), 0)::text as micro,
       (select count(distinct to_address) from leg where ${WHERE} and role <> 'platform') as authors
     from crossing where ${WHERE}`,
    values(window),
  );
  return { events: Number(row?.events), reads: Number(row?.reads), micro: String(row?.micro), authors: Number(row?.authors) };
}

/** The groups of earnings, added up from the rows. */
export async function plainEarningsBy(sql: Sql, window: BenchWindow, groupBy: 'slug' | 'author'): Promise<Answer> {
  const [table, key, micro] = groupBy === 'slug' ? ['crossing', 'slug', 'micro'] : ['leg', 'to_address', 'amount_micro'];
  const rows = await sql.query<{ key: string; events: string; micro: string }>(
    `select ${key} as key, count(*) as events, sum(${micro})::text as micro from ${table} where ${WHERE} group by 1`,
    values(window),
  );
  return Object.fromEntries(rows.map((row) => [row.key, `${row.events} ${row.micro}`]));
}

/** The totals of the audit and its agents, added up from the rows in one statement. */
export async function plainAudit(sql: Sql, window: BenchWindow): Promise<Answer> {
  const rows = await sql.query<{
    verdict: string;
    classified_as: string;
    agent: string;
    hits: string;
    micro: string;
    verified: string;
  }>(
    `select verdict, classified_as, agent, sum(count) as hits, sum(count * coalesce(micro, 0))::text as micro,
       coalesce(sum(count) filter (where verified), 0) as verified
     from observation where ${WHERE} group by 1, 2, 3`,
    values(window),
  );
  const answer: Record<string, number> = {};
  const add = (key: string, value: number): void => {
    answer[key] = (answer[key] ?? 0) + value;
  };
  for (const { verdict, classified_as: classifiedAs, agent, hits, micro, verified } of rows) {
    add('observations', Number(hits));
    add('verified', Number(verified));
    if (['denied', 'paid', 'served-free', 'payment-failed'].includes(verdict)) add(verdict, Number(hits));
    if (verdict === 'denied' || verdict === 'blocked') add('missed', Number(micro));
    if (verdict === 'paid') add('earned', Number(micro));
    if (classifiedAs === 'agent') add(`agent ${agent}`, Number(hits));
  }
  return answer;
}
