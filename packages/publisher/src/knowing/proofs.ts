/**
 * Wallets that show they bought a page (x402 `sign-in-with-x`): the service says whether they did. What bounds the cost of a caller who invents
 * proofs: what is no message about the page costs no call, and of the others 16 at once and 50 a second are asked about; above that
 * the answer is 503, since the caller may have paid. That a proof is not answered says nothing about the service: a wallet with code can be slow at will,
 * and while the service counts as away, pages are free.
 */
import type { Client } from '../client.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, isKeyRefused, wordsOf } from '../telling/failures.ts';
import type { Page } from './pages.ts';

const MAX_CHARS = 16_384;
const AT_ONCE = 16;
const A_SECOND = 50;

/** What came of a proof. */
export type Proof =
  | { readonly state: 'none' }
  | { readonly state: 'good'; readonly licence: string }
  /** Without `error` the wallet is who it says, and holds nothing here. */
  | { readonly state: 'bad'; readonly error?: string }
  | { readonly state: 'busy'; readonly retryAfter: number };

/** Judges proofs. */
export interface Proofs {
  /** The licence of the wallet for a page, whose slug the service knows it by. Never rejects. */
  judge(page: Page, slug: string, header: string): Promise<Proof>;
}

/** Opens it. */
export function openProofs(deps: { readonly client: Client; readonly now: () => number; readonly failures: Failures }): Proofs {
  const { client, now, failures } = deps;
  const second = { at: 0, asked: 0 };
  let asking = 0;
  const isTooMuch = (): boolean => {
    const at = Math.floor(now() / 1_000);
    if (at !== second.at) Object.assign(second, { at, asked: 0 });
    return asking >= AT_ONCE || ++second.asked > A_SECOND;
  };
  async function ask({ resource, kind }: Page, slug: string, signInWithX: string): Promise<Proof> {
    const answer = await client.prove({ signInWithX, resource, slug, kind });
    if (answer.ok) {
      const { entitled, license, error } = answer.body ?? {};
      if (entitled === true && isLicence(license)) return { state: 'good', licence: license };
      return { state: 'bad', ...(typeof error === 'string' && isHeaderText(error) ? { error } : {}) };
    }
    if (answer.status === 400 || answer.status === 404) return { state: 'bad' };
    if (isAway(answer) || isKeyRefused(answer)) {
      const message = `${wordsOf(answer)}; a wallet that may have bought the page is told to come back`;
      failures.note({ what: isKeyRefused(answer) ? 'key' : 'licence', message, ...factsOf(answer) });
    }
    return { state: 'busy', retryAfter: answer.retryAfter ?? 5 };
  }
  return {
    judge: async (page, slug, header) => {
      const refusal = refuse(page, header);
      if (refusal !== null) return { state: 'bad', error: `unknown_credential: ${refusal}` };
      if (isTooMuch()) return { state: 'busy', retryAfter: 1 };
      asking += 1;
      return ask(page, slug, header).finally(() => (asking -= 1));
    },
  };
}

/** Why a header needs no question: it is no message that anybody signed for this site; null when it may be one. */
function refuse({ resource }: Page, header: string): string | null {
  if (header.length > MAX_CHARS) return 'SIGN-IN-WITH-X is too long';
  let sent: unknown;
  try {
    sent = JSON.parse(atob(header));
  } catch {
    return 'SIGN-IN-WITH-X is not readable';
  }
  const { domain, nonce, signature } = (sent ?? {}) as Record<string, unknown>;
  if (typeof nonce !== 'string' || typeof signature !== 'string') return 'SIGN-IN-WITH-X is not readable';
  return domain === new URL(resource).host ? null : 'the message is for another site';
}

function isLicence(license: unknown): license is string {
  return typeof license === 'string' && license.length <= 4_096 && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(license);
}

function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]{1,200}$/.test(text);
}
