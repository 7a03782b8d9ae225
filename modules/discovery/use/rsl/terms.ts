import type { Database } from '../../../../db/database.ts';
import type { TenantSnapshot } from '../../../identity/use/tenantSnapshots.ts';
import { readOfferingTerms } from '../../../licences/store/offering.ts';
import { isHonoured } from '../../../pricing/rules/formerPrice.ts';
import type { CompiledPricing } from '../../../pricing/rules/pricing.ts';
import { PRICING_GRACE_MS } from '../../../pricing/rules/pricing.ts';
import type { RslContent } from '../../../pricing/rules/rsl/contents.ts';
import { rslContents } from '../../../pricing/rules/rsl/contents.ts';
import { rslPaths } from '../../../pricing/rules/rsl/paths.ts';
import type { DocumentSite } from '../site.ts';

/** What a site's terms are read with. */
export interface TermsDeps {
  readonly database: Database;
  readonly clock: () => number;
}

/** A site's terms as its document tells them now. */
export interface RslTerms {
  readonly contents: readonly RslContent[];
  readonly sellsTraining: boolean;
  /** Since when they stand: epoch milliseconds. */
  readonly changedAtMs: number;
  /** The same contents as they stood at moments of the last ten minutes, the last first: a client that read them then may still ask by them. */
  former(): Iterable<readonly RslContent[]>;
}

/** Former moments that are looked at: an owner may set as many rules to end in ten minutes as he likes. */
const MOST_FORMER = 8;

/** Where tokens are asked for: the base that clients append `/token` to. */
export function olpBase(baseUrl: string): string {
  return `${baseUrl}/_svc/olp`;
}

/** The terms of a site at this moment. Throws database_unavailable (503). */
export async function readRslTerms(deps: TermsDeps, { tenant, host, pricing }: DocumentSite): Promise<RslTerms> {
  const offering = await readOfferingTerms(deps.database, tenant.tenantId);
  const nowMs = deps.clock();
  const { sellsTraining } = offering;
  const contentsAt = (version: CompiledPricing, atMs: number): readonly RslContent[] =>
    contentsOf(version, { host, sellsTraining, atMs });
  const present = tenant.pricings.find(({ validUntilMs }) => validUntilMs === null);
  const sinceMs = present?.validFromMs ?? 0;
  const [byClock = 0] = pricing.changesBetween(sinceMs, nowMs);
  return {
    contents: contentsAt(pricing, nowMs),
    sellsTraining,
    changedAtMs: Math.max(sinceMs, byClock, offering.changedAtMs ?? 0),
    former: function* () {
      for (const { pricing: version, atMs } of formerMoments(tenant, nowMs).slice(0, MOST_FORMER))
        yield contentsAt(version, atMs);
    },
  };
}

/** By host, what is sold, and since when; for as long as the version of the prices is held. */
const made = new WeakMap<CompiledPricing, Map<string, readonly RslContent[]>>();
const MOST_MADE = 32;

/** The contents of a version at a moment: made once between two changes, since patterns are compared with each other. */
function contentsOf(
  version: CompiledPricing,
  { host, sellsTraining, atMs }: { readonly host: string; readonly sellsTraining: boolean; readonly atMs: number },
): readonly RslContent[] {
  const [sinceMs = 0] = version.changesBetween(0, atMs);
  const key = `${host} ${sellsTraining} ${sinceMs}`;
  const known = made.get(version) ?? new Map<string, readonly RslContent[]>();
  made.set(version, known);
  const contents = known.get(key) ?? rslContents({ host, paths: rslPaths(version, atMs), sellsTraining });
  if (known.size >= MOST_MADE) known.clear();
  known.set(key, contents);
  return contents;
}

/** The moments right before something of the prices changed, as long as they are honoured (safety 17). */
function formerMoments(
  tenant: TenantSnapshot,
  nowMs: number,
): readonly { readonly pricing: CompiledPricing; readonly atMs: number }[] {
  return tenant.pricings
    .filter((version) => isHonoured(version, nowMs))
    .flatMap(({ pricing, validFromMs, validUntilMs }) => {
      const untilMs = validUntilMs ?? nowMs;
      const changes = pricing.changesBetween(Math.max(validFromMs, nowMs - PRICING_GRACE_MS), untilMs);
      const ends = validUntilMs === null ? changes : [validUntilMs, ...changes];
      return ends.map((endMs) => ({ pricing, atMs: endMs - 1 }));
    });
}
