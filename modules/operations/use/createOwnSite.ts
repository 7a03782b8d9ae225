import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../db/database.ts';
import { joinTransaction } from '../../../db/database.ts';
import type { ChallengeMethod, ChallengeView } from '../../hosts/rules/challenge.ts';
import { findHostState } from '../../hosts/store/removal.ts';
import type { ChallengeDeps, OpenOutcome } from '../../hosts/use/challenges.ts';
import { openHost, requireProvable } from '../../hosts/use/challenges.ts';
import { openSiteHost } from '../../hosts/use/manageHosts.ts';
import type { Owner, OwnerDeps, SignUp } from '../../identity/use/owners/authenticate.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { OwnerName } from '../../tenants/store/owners.ts';
import { countTenantsAlone, findBegunTenant, namedByTenant } from '../../tenants/store/owners.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { PricingLimits } from '../../tenants/use/tenants.ts';
import { createSite } from './operatedSites.ts';

/** What adding a site of one's own needs. */
export type OwnSiteDeps = ChallengeDeps & PricingLimits & Pick<OwnerDeps, 'oidc' | 'signUp'>;

/** A site that has begun: it has no host until the challenge is met. */
export interface BegunSite {
  readonly tenantId: string;
  readonly challenge: ChallengeView;
}

const DAY_MS = 86_400_000;
const HOUR_SECONDS = 3_600;

/**
 * Adds a site for an owner, with the open challenge of its first host (the rules are those of `openHost`), free of charge until a price is
 * set, under the plan that the operator decided. A second call for a host that waits is the same site. Throws scope_missing where operators
 * alone add sites, site_suspended for the owner of a suspended one, conflict when the owner has as many as they may or another site has
 * proven the host, throttled when too many were added today, and what `openHost` throws.
 *
 * What bounds the cost: one statement of the counts, one at a time in the whole service; sites of a user and of a day by configuration, closed ones
 * counted, so that closing frees nothing; looks at the host by the caps of `openHost`.
 */
export async function createOwnSite(
  deps: OwnSiteDeps,
  owner: Owner,
  request: { readonly host: string; readonly method: ChallengeMethod },
): Promise<BegunSite> {
  const signUp = requireSignUp(deps);
  const name = nameOf(deps, owner);
  const host = requireProvable(deps, request.host);
  const actor = { userId: owner.userId, via: owner.via };
  const begun = await findBegunTenant(deps.database, name, host);
  if (begun !== null) return opened(begun, await openSiteHost(deps, { actor, tenantId: begun }, { ...request, host }));
  const call: SiteCall = { actor, tenantId: randomUUID() };
  const { tenantId } = call;
  const outcome = await openHost(deps, { tenantId, host, method: request.method }, (_host, open) =>
    deps.database.transaction(async (sql) => {
      await requireRoom(sql, { name, owner, signUp, host, nowMs: deps.clock() });
      const within = { ...deps, database: joinTransaction(sql) };
      const whose = { ownerUserId: name.userId, ownerIssuer: name.issuer };
      const site = { tenantId, hosts: [], mayLackHosts: true, plan: signUp.plan, ...whose } as const;
      await createSite(within, actor, { ...site, pricing: { priceUsdc: '0' } });
      const look = (inner: Sql) => findHostState(inner, tenantId, host);
      await changeSite(within, call, { action: 'host.open', target: host, look, make: open });
    }),
  );
  return opened(tenantId, outcome);
}

function requireSignUp({ signUp }: Pick<OwnSiteDeps, 'signUp'>): SignUp {
  if (signUp) return signUp;
  throw new ServiceError('scope_missing', 'only the operator of this service can add sites: ask for yours');
}

/** Who owns what is added: a user of the provider, or of the site whose token was shown. */
function nameOf({ oidc }: Pick<OwnSiteDeps, 'oidc'>, { userId, via, tenantIds }: Owner): OwnerName {
  const [site] = tenantIds;
  if (via === 'token' && site !== undefined) return namedByTenant(site, userId);
  if (via === 'oidc' && oidc) return { issuer: oidc.issuer, userId };
  throw new ServiceError('internal', 'an owner whom nobody names');
}

async function requireRoom(
  sql: Sql,
  asked: {
    readonly name: OwnerName;
    readonly owner: Owner;
    readonly signUp: SignUp;
    readonly host: string;
    readonly nowMs: number;
  },
): Promise<void> {
  const { name, owner, signUp, host, nowMs } = asked;
  const count = await countTenantsAlone(sql, name, owner.tenantIds, new Date(nowMs - DAY_MS));
  if (count.suspended > 0) throw new ServiceError('site_suspended', 'a site of yours is suspended: ask the operator first');
  if ((await findBegunTenant(sql, name, host)) !== null) throw new ServiceError('conflict', 'you have just added this site');
  if (count.tenants >= signUp.sitesOfUser) {
    throw new ServiceError('conflict', `you have ${count.tenants} sites, including closed ones: ask the operator for more`);
  }
  if (count.ofAll < signUp.sitesPerDay) return;
  throw new ServiceError('throttled', 'no more sites can be added today', { retryAfterSeconds: HOUR_SECONDS });
}

function opened(tenantId: string, outcome: OpenOutcome): BegunSite {
  if (outcome.kind === 'opened') return { tenantId, challenge: outcome.challenge };
  const isOurs = outcome.kind === 'host_already_added';
  throw new ServiceError('conflict', isOurs ? 'the site has proven this host already' : 'another site has proven this host');
}
