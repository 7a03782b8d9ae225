import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Networks } from '../../../../platform/chain/network.ts';
import { macOf } from '../../../../platform/tokens/mac.ts';
import type { Pepper } from '../../../../platform/tokens/pepper.ts';
import { buildNonce, hostTagText, nonceFacts, parseHostNonce } from '../../rules/nonce.ts';
import type { SignInDeclaration } from '../../rules/pageProof.ts';
import { PAGE_STATEMENT, PROOF_LIFE_MS, PROOF_SCHEMA } from '../../rules/pageProof.ts';
import { STATEMENT } from '../../rules/siwx.ts';

/** What declaring needs. */
export interface DeclareDeps {
  readonly pepper: Pepper;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/**
 * What a wallet may sign at an address to show who it is: the `sign-in-with-x` extension of an offer or a refusal. Its nonce is random and good for
 * five minutes at this host; nothing is stored or asked. `networks` are CAIP-2 ids, those of the offer in its order.
 */
function declareSignIn(
  { pepper, clock }: DeclareDeps,
  at: { readonly uri: string; readonly networks: readonly string[]; readonly statement: string },
): SignInDeclaration {
  const nowMs = clock();
  const { host: domain } = new URL(at.uri);
  const facts = nonceFacts(nowMs + PROOF_LIFE_MS, randomBytes(16).toString('hex'));
  return {
    info: {
      domain,
      uri: at.uri,
      version: '1',
      nonce: buildNonce(facts, macOf(pepper.current, hostTagText(domain, facts)).digest('hex')),
      issuedAt: new Date(nowMs).toISOString(),
      expirationTime: new Date(nowMs + PROOF_LIFE_MS).toISOString(),
      statement: at.statement,
    },
    supportedChains: at.networks.map((chainId) => ({ chainId, type: 'eip191' })),
    schema: PROOF_SCHEMA,
  };
}

/** The same for a page in its offer. */
export function declareAtPage(
  deps: DeclareDeps,
  {
    quote,
    destinations,
  }: { readonly quote: { readonly resource: string }; readonly destinations: readonly { readonly network: string }[] },
): SignInDeclaration {
  const networks = destinations.map(({ network }) => network);
  return declareSignIn(deps, { uri: quote.resource, networks, statement: PAGE_STATEMENT });
}

/** The same for this service's own endpoints, which let the account of a wallet in, whatever network it signs for. */
export function declareAtService(
  deps: DeclareDeps & { readonly baseUrl: string; readonly networks: Pick<Networks, 'list'> },
): SignInDeclaration {
  return declareSignIn(deps, { uri: deps.baseUrl, networks: deps.networks.list.map(({ id }) => id), statement: STATEMENT });
}

/** When a nonce that we gave out for a host ends; null for any other, and for one whose time has passed. Costs an HMAC. */
export function endOfHostNonce(
  pepper: Pepper,
  given: { readonly nonce: string; readonly host: string },
  nowMs: number,
): Date | null {
  const parsed = parseHostNonce(given.nonce);
  if (!parsed || nowMs >= parsed.expiresAtMs) return null;
  const isOurs = isTagged(pepper, hostTagText(given.host, parsed.facts), parsed.tag);
  return isOurs ? new Date(parsed.expiresAtMs) : null;
}

/** True for a tag that we made over a text, under the present pepper or the one before. */
export function isTagged(pepper: Pepper, text: string, tag: string): boolean {
  const secrets = pepper.previous === null ? [pepper.current] : [pepper.current, pepper.previous];
  return secrets.some((secret) => {
    const mac = macOf(secret, text)
      .digest()
      .subarray(0, tag.length / 2);
    return timingSafeEqual(mac, Buffer.from(tag, 'hex'));
  });
}
