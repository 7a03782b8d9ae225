import type { Sql } from '../../../db/database.ts';
import { inSlices } from '../../../platform/pacing/slices.ts';
import { categoryOf } from '../../gate/rules/crawlers.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { parseResource } from '../../kernel/hosts/host.ts';
import { articleOf, slugOf } from '../../kernel/pages/resource.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { CompiledPricing, Price } from '../../pricing/rules/pricing.ts';
import { compilePricing } from '../../pricing/rules/pricing.ts';
import type { Fate, Replay, Said, SeenRequests } from '../../pricing/rules/replay.ts';
import { replay } from '../../pricing/rules/replay.ts';
import type { PriceRule } from '../../pricing/rules/rule.ts';
import { findPricing } from '../../pricing/store/pricing.ts';
import { findVersion, hasImportedCredits } from '../../tenants/store/tenants.ts';
import { completePricing, requirePricing } from '../../tenants/use/tenants.ts';
import type { AskedGroup, AskedScope } from '../store/audit/askedGroups.ts';
import { readAskedGroups } from '../store/audit/askedGroups.ts';
import type { AskedWindow, ReportFrame, ReportSite } from './request.ts';
import { readReport } from './request.ts';

/** Which requests rules are tried on, and as of when. */
export interface SimulationQuery extends AskedWindow, Omit<AskedScope, 'tenantId'> {
  readonly rules: readonly PriceRule[];
  /** Every request is asked by the rules that are in force at this moment; null: each by those in force when it came. Epoch milliseconds. */
  readonly atMs: number | null;
}

/** What rules would have made of the requests of a window; micro-USDC. */
export interface Simulation extends ReportFrame, Replay {
  /** The site's version at the same moment. */
  readonly version: number;
  /** Requests of the window; and how many were replayed: those of the largest groups. */
  readonly requests: number;
  readonly replayed: number;
  /** Of those replayed, requests for pages that nothing says the path of: they are taken to stand under the first article prefix. */
  readonly assumedPaths: number;
}

/**
 * Replays the requests of a window by rules that need not be saved, with the resolver that quotes, over the site's other prices as they are now. Throws
 * invalid_parameter for rules that could not be set, not_found, database_unavailable, and what takes longer than a statement may.
 * What bounds it: one look at each observation of the window in one statement of the reading pool, and at most `MOST_GROUPS` groups, each
 * resolved once, in slices of a few milliseconds.
 */
export async function simulateRules(
  deps: ReadingDeps & { readonly priceFloorMicro: bigint },
  site: ReportSite,
  { rules, atMs, host, slug, agent, ...window }: SimulationQuery,
): Promise<Simulation> {
  const { reading: database, clock, priceFloorMicro } = deps;
  return await readReport({ database, clock }, site, window, async (sql, frame) => {
    const { pricing, version } = await pricingWith(sql, site.tenantId, { rules, priceFloorMicro });
    const { fromMs, toMs } = frame.window;
    const moments = atMs === null ? pricing.changesBetween(fromMs, toMs ?? Number.POSITIVE_INFINITY).toReversed() : [];
    const scope = { tenantId: site.tenantId, host, slug, agent };
    const { groups, requests } = await readAskedGroups(sql, scope, frame.window, moments);
    const seen = groups.map((group) => placed(pricing, group, atMs ?? moments[group.span - 1] ?? fromMs));
    const said = await inSlices(askAll(pricing, seen));
    return {
      ...frame,
      version,
      requests,
      ...replay(seen, (request) => said.get(request) ?? saidOf(pricing, request)),
      replayed: groups.reduce((sum, { hits }) => sum + hits, 0),
      assumedPaths: seen.reduce((sum, { hits, isAssumed }) => (isAssumed ? sum + hits : sum), 0),
    };
  });
}

/** The site's pricing with other rules, judged as if it were to be saved. */
async function pricingWith(
  sql: Sql,
  tenantId: string,
  { rules, priceFloorMicro }: { readonly rules: readonly PriceRule[]; readonly priceFloorMicro: bigint },
): Promise<{ readonly pricing: CompiledPricing; readonly version: number }> {
  const [stored, version] = [await findPricing(sql, tenantId), await findVersion(sql, tenantId)];
  const catalogueVersion = (await hasImportedCredits(sql, tenantId)) ? version : null;
  if (stored === null || version === null) throw new ServiceError('not_found', 'there is no such site');
  const next = completePricing({ ...stored, rules });
  requirePricing({ priceFloorMicro }, next, { rules });
  return { pricing: compilePricing(next, priceFloorMicro, catalogueVersion), version };
}

/** Requests that were alike, with what they are asked again by. */
interface Placed extends SeenRequests {
  readonly asked: Parameters<CompiledPricing['resolve']>[0];
  readonly isUnnamed: boolean;
  /** True: nothing says the page's path, and there is more than one that it could have. */
  readonly isAssumed: boolean;
}

const FATES = { paid: 'paid', denied: 'missed', blocked: 'refused', 'served-free': 'free' } as const satisfies Record<
  AskedGroup['verdict'],
  Fate
>;
/** Stands for any host: prices hang on paths. */
const ANY_HOST = 'any.invalid';

/** An observation has a slug and no path: the path is the catalogue's, that of a URL that was bought, or what a quote by slug finds, in this order. */
function placed({ articlePrefixes }: CompiledPricing, group: AskedGroup, atMs: number): Placed {
  const { host, slug, agent, crawler, kind, verdict, hits, micro, isUnnamed } = group;
  const known = parseResource(group.path === null ? (group.resource ?? '') : `https://${ANY_HOST}${group.path}`);
  const page = known ?? articleOf(articlePrefixes, ANY_HOST, slug);
  const path = canonicalPath(page?.path ?? `/${slug}`);
  const operator = group.isVerified ? agent : null;
  return {
    host,
    path,
    agent,
    hits,
    micro,
    isUnnamed,
    was: FATES[verdict],
    isTurnedAway: group.isByPolicy,
    asked: {
      path,
      slug: page === null ? null : slugOf(articlePrefixes, page.path),
      kind,
      operator,
      category: crawler === null ? null : categoryOf(crawler),
      terms: [],
      atMs,
    },
    isAssumed: known === null && (articlePrefixes?.length ?? 0) > 1,
  };
}

/** What rules say of each request; a path of thousands of characters takes 200 rules with stars milliseconds. */
function* askAll(pricing: CompiledPricing, seen: readonly Placed[]): Generator<void, ReadonlyMap<Placed, Said>> {
  const said = new Map<Placed, Said>();
  for (const request of seen) {
    if (!request.isTurnedAway) said.set(request, saidOf(pricing, request));
    yield;
  }
  return said;
}

function saidOf(pricing: CompiledPricing, { asked, isUnnamed }: Placed): Said {
  const price: Price = pricing.resolve(asked);
  const { ruleId } = price;
  if (price.kind === 'refused') return { kind: 'refuse', ruleId };
  const isForNobody = price.kind === 'looked_up' && isUnnamed && price.otherwise === null;
  if (price.kind === 'free' || isForNobody) return { kind: 'free', ruleId };
  return { kind: 'price', micro: price.micro, ruleId };
}
