/** What somebody who bought a page holds of it, and the licence for it anew: for proofs of a wallet and for accounts. */
import { randomUUID } from 'node:crypto';
import { opensUntilMs } from '../../../identity/rules/pageProof.ts';
import type { BearerDeps } from '../../../identity/use/accounts/deps.ts';
import type { Caller } from '../../../identity/use/keys/authenticate.ts';
import { accessEndSeconds } from '../../../kernel/access/accessToken.ts';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { resourceKeyOf } from '../../../kernel/hosts/host.ts';
import { canonicalPath } from '../../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import { findLicenceOf } from '../../../licences/store/licences.ts';
import { mintReReadLicence } from '../../../licences/use/mint.ts';
import { mintAccessToken } from '../../../licences/use/mintAccess.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';
import { issuerOf } from '../../../tenants/use/tenants.ts';
import type { PageBuyer } from '../../store/purchases.ts';
import { findPagePurchase } from '../../store/purchases.ts';
import { fixLicence } from '../accept/intake.ts';
import { reReadFacts } from '../answer/answer.ts';

/** What finding it needs. */
export interface HoldingDeps extends Pick<BearerDeps, 'database' | 'keyring' | 'clock' | 'baseUrl'> {
  /** Life of an access token, in seconds. */
  readonly licenceLifeSeconds: number;
}

/** Where it is looked for: a site, and whether real money or that of tests counts. */
export interface HoldingSite {
  readonly tenant: Caller['tenant'];
  readonly mode: 'live' | 'mock';
}

/** A licence that can be had anew; nothing is signed before the nonce is used up. */
export interface Holding {
  readonly expiresAtSeconds: number;
  mint(): Promise<string>;
}

/** What is wanted, and by whom. */
export interface Wanted {
  readonly resource: ResourceUrl;
  readonly kind: CrossingKind;
  readonly buyer: PageBuyer;
}

/**
 * What a buyer holds that opens a page now: the newest purchase of the page itself, else a licence over pages that covers it; null for nothing.
 * Reads only. Throws database_unavailable.
 */
export async function findHolding(deps: HoldingDeps, caller: HoldingSite, wanted: Wanted): Promise<Holding | null> {
  return (
    (await findBoughtPage(deps, caller, wanted)) ??
    (caller.mode === 'live' ? await findBoughtLicence(deps, caller, wanted) : null)
  );
}

/** What a purchase of the page itself leaves. */
async function findBoughtPage(
  deps: HoldingDeps,
  { tenant, mode }: HoldingSite,
  { resource, kind, buyer }: Wanted,
): Promise<Holding | null> {
  const nowMs = deps.clock();
  const grantedSeconds = presentPricing(tenant).readAgainSeconds;
  const lifeMs = deps.licenceLifeSeconds * 1_000;
  const since = new Date(nowMs - grantedSeconds * 1_000 - LATEST_MS);
  const asked = {
    tenantId: tenant.tenantId,
    buyer,
    resourceKey: resourceKeyOf(resource),
    kind,
    mode,
    since,
  };
  const paid = await findPagePurchase(deps.database, asked);
  if (!paid) return null;
  const settledAtMs = (paid.decidedAt ?? paid.acceptedAt).getTime();
  // A buyer who paid and was never answered still has a whole licence to come.
  const licenceEndsAtMs = paid.licence ? paid.licence.expiresAtSeconds * 1_000 : nowMs + lifeMs;
  const untilMs = opensUntilMs({ settledAtMs, licenceEndsAtMs, grantedSeconds });
  const issuedAtSeconds = Math.floor(nowMs / 1_000);
  const expiresAtSeconds = Math.floor(Math.min(nowMs + lifeMs, untilMs) / 1_000);
  if (expiresAtSeconds <= issuedAtSeconds) return null;
  const mint = async (): Promise<string> => {
    const { kid } = deps.keyring.current();
    const fresh = { jti: randomUUID(), issuedAtSeconds, expiresAtSeconds, kid };
    const { jti } = paid.licence ?? (await fixLicence(deps.database, { ref: paid, licence: fresh }));
    const facts = reReadFacts({
      holder: paid,
      paid,
      chargedMicro: 0n,
      licence: { ...fresh, jti },
      issuer: issuerOf(deps, tenant),
    });
    return mintReReadLicence(deps.keyring, facts);
  };
  return { expiresAtSeconds, mint };
}

/** How long after its intake a payment settles at the latest, for the search of purchases: authorizations are good for minutes, reviews take days. */
const LATEST_MS = 7 * 86_400_000;

/** A licence of the buyer's account: a token for this page alone. */
async function findBoughtLicence(
  deps: HoldingDeps,
  { tenant }: Pick<HoldingSite, 'tenant'>,
  { resource, kind, buyer }: Wanted,
): Promise<Holding | null> {
  const nowMs = deps.clock();
  const path = canonicalPath(resource.path);
  const asked = { tenantId: tenant.tenantId, buyer, host: resource.host, path, kind, at: new Date(nowMs) };
  const licence = await findLicenceOf(deps.database, asked);
  if (!licence) return null;
  const period = { fromMs: licence.periodFrom.getTime(), untilMs: licence.periodUntil.getTime() };
  const expiresAtSeconds = accessEndSeconds(period, nowMs, deps.licenceLifeSeconds);
  const issuedAtSeconds = Math.floor(nowMs / 1_000);
  if (expiresAtSeconds <= issuedAtSeconds) return null;
  const mint = async (): Promise<string> => {
    const { kid } = deps.keyring.current();
    const { holder } = licence;
    const facts = {
      issuer: issuerOf(deps, tenant),
      jti: randomUUID(),
      kid,
      issuedAtSeconds,
      expiresAtSeconds,
      paths: [path],
      holder,
    };
    return (await mintAccessToken({ database: deps.database, signer: deps.keyring }, licence, facts)).license;
  };
  return { expiresAtSeconds, mint };
}
