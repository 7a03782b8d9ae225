import { isSignedByKey } from '../../../../platform/chain/signature/message.ts';
import { refusePageProof } from '../../../identity/rules/pageProof.ts';
import { parseSignInMessage, signerOf } from '../../../identity/rules/siwx.ts';
import { useOnce } from '../../../identity/store/usedOnce.ts';
import { endOfHostNonce } from '../../../identity/use/accounts/declare.ts';
import type { AccountDeps } from '../../../identity/use/accounts/deps.ts';
import { isSignature, readSignInHeader } from '../../../identity/use/accounts/signIn.ts';
import type { Caller } from '../../../identity/use/keys/authenticate.ts';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { plainSlug, requireOwned, requireResource, slugOf } from '../../../kernel/pages/resource.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';
import type { HoldingDeps } from './holding.ts';
import { findHolding } from './holding.ts';

/** What a publisher asks about a wallet that shows itself at one of its pages. */
export interface ProofQuestion {
  /** The header SIGN-IN-WITH-X, as it came. */
  readonly signInWithX: string;
  readonly resource: string;
  readonly slug: string;
  readonly kind: CrossingKind;
}

/** A licence for the page, or why there is none: without `error` the proof is good, and the wallet holds nothing here. */
export type ProofAnswer =
  | { readonly entitled: true; readonly license: string; readonly expiresAt: number }
  | { readonly entitled: false; readonly error?: string };

/** What proving needs. */
export type ProveDeps = HoldingDeps & Pick<AccountDeps, 'rpc' | 'codeWallets' | 'pepper' | 'networks'>;

/** A message that may prove something, taken apart. */
interface Shown {
  readonly address: `0x${string}`;
  readonly message: string;
  readonly signature: `0x${string}`;
  readonly chainId: number;
  readonly nonce: string;
  readonly expiresAt: Date;
}

/** Used nonces stand beside those of holder proofs, whose tokens go by UUIDs. */
const USED_AS = 'sign-in-with-x';

/**
 * Gives a wallet that bought a page its licence for it anew, as a short token: of its newest purchase, under the id of the licence that it paid for,
 * so that revoking either revokes both; or under a licence of its account that covers the page. What bounds the cost of a caller who invents
 * wallets: a message and a nonce of ours come first, then the signature by key, then one read; the chain is asked only for an address that holds
 * something here, in the turns of wallets with code, the site as one caller. A nonce is good once for a licence; a proof that opens nothing uses none
 * up, so that a client may send it with its payment. Throws invalid_resource (400), resource_not_owned (403), overloaded, chain_unavailable, and
 * outages (503), in which nothing is used up.
 */
export async function provePurchase(deps: ProveDeps, { tenant, key }: Caller, question: ProofQuestion): Promise<ProofAnswer> {
  const resource = requireResource(question.resource);
  requireOwned(tenant.hosts, resource.host);
  const slug = plainSlug(question.slug);
  const found = slugOf(presentPricing(tenant).articlePrefixes, resource.path);
  if (found !== null && found !== slug) return refused('the page has another slug');
  const shown = readProof(deps, resource, question.signInWithX);
  if (typeof shown === 'string') return refused(shown);
  const isKey = isSignedByKey(shown);
  const isAskable = deps.rpc.networkId === `eip155:${shown.chainId}`;
  if (!isKey && !isAskable)
    return refused('the signature was not made by the key of this wallet, and contract wallets cannot be verified on its chain');
  const caller = { tenant, mode: key.mode };
  const buyer = { wallet: shown.address, network: isKey ? null : deps.rpc.networkId };
  const holding = await findHolding(deps, caller, { resource, kind: question.kind, buyer });
  if (!isKey) {
    const isWallet = holding !== null && (await deps.codeWallets.confirms(`site ${tenant.tenantId}`, shown));
    if (!isWallet) return refused('the signature was not made by this wallet');
  }
  if (!holding) return { entitled: false };
  deps.keyring.current(); // before the nonce is used up
  const { tenantId } = tenant;
  const { nonce, expiresAt } = shown;
  if (!(await useOnce(deps.database, { kind: 'proof', tenantId, jti: USED_AS, nonce }, expiresAt)))
    return refused('the nonce was used');
  return { entitled: true, license: await holding.mint(), expiresAt: holding.expiresAtSeconds * 1_000 };
}

function refused(sentence: string): ProofAnswer {
  return { entitled: false, error: `unknown_credential: ${sentence}` };
}

/** A message of ours about this page, whose nonce is ours and lives; else a sentence. Asks nobody. */
function readProof({ clock, networks, pepper }: ProveDeps, resource: ResourceUrl, header: string): Shown | string {
  const sent = readSignInHeader(header);
  const fields = sent && parseSignInMessage(sent.message);
  if (!sent || !fields) return 'SIGN-IN-WITH-X is not readable';
  const nowMs = clock();
  const chainIds = networks.list.map(({ chainId }) => chainId);
  const refusal = refusePageProof(fields, { resource, chainIds, nowMs });
  if (refusal !== null) return refusal;
  const { signature, message } = sent;
  if (!isSignature(signature)) return 'the signature is malformed';
  const { nonce, chainId, domain: host } = fields;
  const expiresAt = endOfHostNonce(pepper, { nonce, host }, nowMs);
  if (!expiresAt) return 'the nonce is not one of ours';
  return { address: signerOf(fields), message, signature, chainId, nonce, expiresAt };
}
