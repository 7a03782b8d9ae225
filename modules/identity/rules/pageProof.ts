/** Proofs that a wallet bought a page (x402 `sign-in-with-x`): what is offered to be signed, and what a signed message must say. */
import type { ResourceUrl } from '../../kernel/hosts/host.ts';
import { parseResource, resourceKeyOf } from '../../kernel/hosts/host.ts';
import type { SignInFields } from './siwx.ts';
import { refuseSignIn } from './siwx.ts';

/** How long a message may be shown after it was offered. */
export const PROOF_LIFE_MS = 300_000;
/** The one sentence of such messages. */
export const PAGE_STATEMENT = 'Show that you bought this page. This signature moves no money.';

/** The members of the extension: what to sign, and for which chains. A client adds its address, chain and signature, and changes nothing else. */
export interface SignInDeclaration {
  readonly info: {
    readonly domain: string;
    readonly uri: string;
    readonly version: '1';
    readonly nonce: string;
    readonly issuedAt: string;
    readonly expirationTime: string;
    readonly statement: string;
  };
  readonly supportedChains: readonly { readonly chainId: string; readonly type: 'eip191' }[];
  readonly schema: object;
}

/** What a client adds to what it is given; short, since it stands in each offer. */
export const PROOF_SCHEMA = {
  type: 'object',
  required: ['address', 'chainId', 'type', 'signature'],
} as const;

/** For which page a proof is asked, on which chains its wallet may be, and when. */
export interface PageProofExpectation {
  readonly resource: ResourceUrl;
  readonly chainIds: readonly number[];
  readonly nowMs: number;
}

/**
 * Why a message cannot prove anything about a page, or null: it is for another site or page, another chain, from too long ago or from the future,
 * or malformed. Which host is meant is the site's own word, never that of the request. Nonce and signature are checked by the caller.
 */
export function refusePageProof(fields: SignInFields, { resource, chainIds, nowMs }: PageProofExpectation): string | null {
  const { host, origin } = new URL(resource.url);
  if (fields.domain !== host) return 'the message is for another site';
  const named = parseResource(fields.uri);
  if (!named || new URL(named.url).origin !== origin || resourceKeyOf(named) !== resourceKeyOf(resource))
    return 'the message is for another page';
  const refusal = refuseSignIn(fields, { domain: host, uri: fields.uri, chainIds, nowMs });
  if (refusal !== null) return refusal;
  return nowMs - Date.parse(fields.issuedAt) > PROOF_LIFE_MS ? 'the message is too old' : null;
}

/** The moment up to which a settled purchase opens its page again to the wallet that paid: the end of its licence, or what its site grants beyond. */
export function opensUntilMs(purchase: {
  readonly settledAtMs: number;
  readonly licenceEndsAtMs: number;
  readonly grantedSeconds: number;
}): number {
  return Math.max(purchase.licenceEndsAtMs, purchase.settledAtMs + purchase.grantedSeconds * 1_000);
}
