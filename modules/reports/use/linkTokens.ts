import type { Database } from '../../../db/database.ts';
import type { Keyring } from '../../../platform/tokens/jws.ts';
import type { Owner } from '../../identity/use/owners/authenticate.ts';
import { ownerOfOrigin } from '../../identity/use/owners/authenticate.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { describeTenant } from '../../tenants/use/self.ts';

/** What links are signed and read with. */
export interface LinkDeps {
  readonly keyring: Pick<Keyring, 'current' | 'sign'>;
  readonly baseUrl: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** What reads them. */
export type LinkReader = { readonly keyring: Pick<Keyring, 'verifyNamed'> } & Pick<LinkDeps, 'baseUrl' | 'clock'>;

/** What of a link says for how long it works, besides its time. */
export interface LinkMaker {
  readonly tenantId: string;
  /** Who made the link, and by what: it works for as long as that still lets him in. */
  readonly origin: NonNullable<Owner['origin']>;
}

/** What every link says of itself; `exp` in seconds since 1970. */
interface Claims {
  readonly iss: string;
  readonly iat: number;
  readonly exp: number;
}

/**
 * Signs what a link leads to, under a name of its own, so that it passes for no licence, offer, record or other link, and none of those for it. Nothing is
 * stored: it lasts through restarts and at every process. Throws signing_key_unavailable.
 */
export async function signLink(
  { keyring, baseUrl, clock }: LinkDeps,
  name: string,
  says: object,
  seconds: number,
): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
  const iat = Math.floor(clock() / 1000);
  const claims: Claims = { ...says, iss: baseUrl, iat, exp: iat + seconds };
  const { kid } = keyring.current();
  return { token: await keyring.sign(kid, claims, { kid: `${name}#${kid}` }), expiresAtMs: claims.exp * 1000 };
}

/**
 * What a link says that was signed under a name; null for one that is not ours, has ended, or does not say who made it, since it could not end with its
 * maker. Looks at nothing but the token.
 */
export async function readLink<Says extends { readonly svc: LinkMaker }>(
  { keyring, baseUrl, clock }: LinkReader,
  name: string,
  token: string,
): Promise<Says | null> {
  const signed = await keyring.verifyNamed(token);
  const claims = signed?.did === name ? (signed.claims as Claims & Says) : null;
  if (claims === null || claims.iss !== baseUrl || claims.exp * 1000 <= clock()) return null;
  return (claims.svc as Partial<LinkMaker> | undefined)?.origin === undefined ? null : claims;
}

/** By what the maker of a link was let in. Throws scope_missing for a call of the service itself, which nobody can be asked for later. */
export function requireOrigin({ origin }: Pick<Owner, 'origin'>): LinkMaker['origin'] {
  if (!origin) throw new ServiceError('scope_missing', 'only an owner who shows their own credential makes a link');
  return origin;
}

/**
 * The site of a link whose maker could make it now, by one or two rows. Throws `ended` once the maker's token was revoked or has ended, or the site is
 * somebody else's or closed; not_found for a suspended site; database_unavailable.
 */
export async function siteOfLink(
  deps: Parameters<typeof ownerOfOrigin>[0] & { readonly database: Database; readonly priceFloorMicro: bigint },
  { tenantId, origin }: LinkMaker,
  ended: ServiceError,
): ReturnType<typeof describeTenant> {
  const maker = await ownerOfOrigin(deps, origin);
  if (!maker?.tenantIds.includes(tenantId)) throw ended;
  const site = await describeTenant(deps, tenantId);
  if (site.status !== 'active') throw new ServiceError('not_found', 'the site of this link is closed or suspended');
  return site;
}
