import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import { CRAWLER_PATTERN } from '../../../gate/rules/crawlers.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { isBought, within } from '../earnings/crossings.ts';
import { observationConditions } from './observations.ts';

/** Most groups of requests that are replayed, the largest; the others are counted alone. */
export const MOST_GROUPS = 10_000;

/** Whose requests. */
export interface AskedScope {
  readonly tenantId: string;
  readonly host: string | null;
  readonly slug: string | null;
  /** The label of an agent. */
  readonly agent: string | null;
}

/** Requests of a window that are alike in everything that a price can hang on. */
export interface AskedGroup {
  readonly host: string;
  readonly slug: string;
  readonly agent: string;
  /** True: the label is the host that signed, and the signature verified. */
  readonly isVerified: boolean;
  /** The known crawler that its User-Agent names; null: none. A gate tells it of an agent that signs, too. */
  readonly crawler: string | null;
  readonly kind: 'read' | 'citation';
  readonly verdict: 'paid' | 'denied' | 'blocked' | 'served-free';
  /** True: it was free since nobody was named who could be paid. */
  readonly isUnnamed: boolean;
  /** True: the crawler policy turned it away, which comes before any price; so it is taken where a gate does not say why. */
  readonly isByPolicy: boolean;
  /** In which of the spans between the moments that were given; 0: before the first. */
  readonly span: number;
  readonly hits: number;
  /** What they paid, or were asked for; micro-USDC. */
  readonly micro: bigint;
  /** The page's path in the catalogue, canonical; null: it is not in it. */
  readonly path: string | null;
  /** The URL of the page as it was bought last in the window; null: it was not. */
  readonly resource: string | null;
}

/** The groups that were read, and how many requests there are with those that were not. */
export interface AskedGroups {
  readonly groups: readonly AskedGroup[];
  readonly requests: number;
}

/** Reasons of gates for what no price would have changed: readers that their owner lets read free, and pages given away in an outage. Of a gate
 * that gives none, what was free for want of authors alone is taken for a reader that is asked. */
const NEVER_ASKED = ['search_engine', 'policy_allow', 'person', 'service_away'];

/**
 * Groups the requests of agents for pages in a window: those that were paid, denied or blocked, and those for pages that were free. Licences
 * are no pages; what a licence covers, failed payments, and what a site could not serve are in none. `moments`, ascending, tell apart when.
 * One statement, which reads each observation of the window once: its time is the pool's limit, its answer the largest `MOST_GROUPS`.
 */
export async function readAskedGroups(
  sql: Sql,
  { tenantId, host, slug, agent }: AskedScope,
  window: Span,
  moments: readonly number[] = [],
): Promise<AskedGroups> {
  if (isEmpty(window)) return { groups: [], requests: 0 };
  const binder = new Binder();
  const scope = { tenantId, host, slug, kind: null, verdict: null, agent: agent === null ? null : { label: agent } };
  const where = `${observationConditions(binder, scope)} and ${within(binder, 'o.at', window)} and ${isBought('o.slug', 'page')}`;
  const borders = binder.bind(moments.map((ms) => new Date(ms)));
  const rows = await sql.query<GroupRow>(
    `with alike as (
       select o.host, o.slug, o.agent, o.verified and o.agent = lower(o.verified_agent) as verified,
         case when o.verified then substring(lower(o.agent_ua collate "C") from ${binder.bind(CRAWLER_PATTERN)}) else o.agent end as crawler, coalesce(o.kind, 'read') as kind,
         o.verdict, o.reason = 'no_credits' as unnamed,
         coalesce(o.classify_reason, 'policy_block') = 'policy_block' as by_policy,
         width_bucket(o.at, ${borders}::timestamptz[]) as span,
         sum(o.count) as hits, sum(o.count * coalesce(o.micro, 0)) as micro, max(o.payment_id::text) as bought
       from observation o
       where ${where} and (o.verdict in ('paid', 'denied', 'blocked') or o.verdict = 'served-free' and o.classified_as = 'agent'
           and o.slug <> '' and case when o.classify_reason is null then o.reason = 'no_credits'
             else o.classify_reason <> all(${binder.bind(NEVER_ASKED)}::text[]) end)
       group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 having sum(o.count) > 0
     ), largest as (
       select *, sum(hits) over () as requests, (max(bought) over (partition by host, slug))::uuid as payment_id from alike
       order by hits desc, host, slug, agent, crawler, kind, verdict, span limit ${binder.bind(MOST_GROUPS)}
     )
     select g.host, g.slug, g.agent, coalesce(g.verified, false) as verified, g.crawler, g.kind, g.verdict, coalesce(g.unnamed, false) as unnamed,
       coalesce(g.by_policy, false) as by_policy, g.span, g.hits::text as hits, g.micro::text as micro, g.requests::text as requests,
       page.path, p.resource
     from largest g
       left join imported_page page on page.tenant_id = ${binder.bind(tenantId)} and page.slug = g.slug
       left join ledger.payment_intake p on p.tenant_id = ${binder.bind(tenantId)} and p.payment_id = g.payment_id`,
    binder.values,
  );
  return { groups: rows.map(groupOf), requests: Number(rows[0]?.requests ?? 0) };
}

/** A group as Postgres sends it; sums are text. */
interface GroupRow
  extends Pick<AskedGroup, 'host' | 'slug' | 'agent' | 'crawler' | 'kind' | 'verdict' | 'span' | 'path' | 'resource'> {
  readonly verified: boolean;
  readonly unnamed: boolean;
  readonly by_policy: boolean;
  readonly hits: string;
  readonly micro: string;
  readonly requests: string;
  readonly [column: string]: unknown;
}

function groupOf({ host, slug, agent, crawler, kind, verdict, span, path, resource, ...row }: GroupRow): AskedGroup {
  return {
    host,
    slug,
    agent,
    crawler,
    kind,
    verdict,
    span,
    path,
    resource,
    isVerified: row.verified,
    isUnnamed: row.unnamed,
    isByPolicy: row.by_policy,
    hits: Number(row.hits),
    micro: BigInt(row.micro),
  };
}
