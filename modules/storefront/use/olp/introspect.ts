import type { Caller } from '../../../identity/use/keys/authenticate.ts';
import { requireResource, slugOf } from '../../../kernel/pages/resource.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { CheckDeps } from '../../../licences/use/check.ts';
import { checkLicence, findGoodToken } from '../../../licences/use/check.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';

/** What a publisher asks about a token it was shown (RFC 7662, RSL 1.0 section 5.5). */
export interface IntrospectionQuestion {
  readonly token: string;
  /** The page it was shown for; left out: whether it is good is all that is asked. */
  readonly resource?: string;
  /** Its slug, where that is not what stands behind its article prefix. */
  readonly slug?: string;
  readonly kind?: CrossingKind;
  readonly proof?: string;
}

/** The answer: of a token that is not good here nothing else is told. Times in seconds. */
export type Introspection =
  | { readonly active: false; readonly permitted: false }
  | {
      readonly active: true;
      /** Whether it opens the page that was named; false where none was. */
      readonly permitted: boolean;
      readonly token_type: 'License';
      readonly iss: string;
      readonly aud: string;
      readonly sub: string;
      readonly jti: string;
      readonly iat: number;
      readonly nbf: number;
      readonly exp: number;
    };

/**
 * What a token is worth on the caller's site, by the rules of license/check: anything wrong with it is `active: false`. Throws
 * invalid_resource (400) and resource_not_owned (403) about the page, and in an outage.
 */
export async function introspectToken(deps: CheckDeps, caller: Caller, question: IntrospectionQuestion): Promise<Introspection> {
  const permitted = await isPermitted(deps, caller, question);
  const claims = await findGoodToken(deps, caller, question.token);
  if (!claims) return { active: false, permitted: false };
  const { iss, aud, sub, jti, iat, nbf, exp } = claims as Extract<Introspection, { readonly active: true }>;
  return { active: true, permitted, token_type: 'License', iss, aud, sub, jti, iat, nbf, exp };
}

async function isPermitted(deps: CheckDeps, caller: Caller, question: IntrospectionQuestion): Promise<boolean> {
  const { token: license, resource, kind = 'read', proof } = question;
  if (resource === undefined) return false;
  const { path } = requireResource(resource);
  const slug = question.slug ?? slugOf(presentPricing(caller.tenant).articlePrefixes, path) ?? path;
  return checkLicence(deps, caller, { license, resource, slug, kind, ...(proof === undefined ? {} : { proof }) });
}
