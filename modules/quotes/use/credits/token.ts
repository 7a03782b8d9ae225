import type { Sql, Transactional } from '../../../../db/database.ts';
import type { SecretBox } from '../../../../platform/tokens/secretBox.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { findPricing } from '../../../pricing/store/pricing.ts';
import type { SiteCall } from '../../../tenants/use/change.ts';
import { changeSite } from '../../../tenants/use/change.ts';
import { deleteCreditsToken, findCreditsToken, writeCreditsToken } from '../../store/creditsTokens.ts';

/** What sealing the tokens of credits APIs needs. */
export interface CreditsTokenDeps {
  readonly database: Transactional;
  readonly secretBox: Pick<SecretBox, 'seal' | 'keyId'>;
}

/** Where a token is sent; null when there is none. */
export interface CreditsTokenState {
  readonly origin: string | null;
}

const MAX_CHARS = 1_024;

/** What a sealed token is bound to: its site and the origin it is sent to, so that it opens for no other. */
export function creditsTokenContext(tenantId: string, origin: string): string {
  return `credits:${tenantId}:${origin}`;
}

/**
 * Sets the bearer token that a site's credits API is asked with, or with null takes it away. It is sealed as secrets of webhooks are, never shown
 * again, and sent to the origin of the API of now alone. Throws invalid_parameter for a token that no header takes and for a
 * site without a credits API, and what `changeSite` throws. A second call replaces the first.
 */
export async function setCreditsToken(deps: CreditsTokenDeps, call: SiteCall, token: string | null): Promise<CreditsTokenState> {
  const { tenantId } = call;
  if (token !== null && !(token.length <= MAX_CHARS && /^[\x21-\x7e]+$/.test(token))) {
    const sentence = `token: must be 1 to ${MAX_CHARS} printable ASCII characters without spaces`;
    throw new ServiceError('invalid_parameter', sentence, { parameter: 'token' });
  }
  return await changeSite(deps, call, {
    action: 'credits.set_token',
    target: null,
    look: (sql) => stateOf(sql, tenantId),
    make: async (database) => {
      if (token === null) {
        await deleteCreditsToken(database, tenantId);
        return { origin: null };
      }
      const apiUrl = (await findPricing(database, tenantId))?.creditsApiUrl ?? null;
      if (apiUrl === null) {
        throw new ServiceError('invalid_parameter', 'token: this site has no credits API', { parameter: 'token' });
      }
      const { origin } = new URL(apiUrl);
      const sealed = deps.secretBox.seal(token, creditsTokenContext(tenantId, origin));
      await writeCreditsToken(database, tenantId, { origin, sealed, keyId: deps.secretBox.keyId, setAt: new Date() });
      return { origin };
    },
  });
}

/** A token as the audit log shows it: where it goes and since when. */
async function stateOf(sql: Sql, tenantId: string): Promise<unknown> {
  const token = await findCreditsToken(sql, tenantId);
  return { origin: token?.origin ?? null, setAt: token?.setAt ?? null };
}

/**
 * The token to ask this API with; null when its site set none, or set it for another origin. Throws when it cannot be opened. Where the
 * database cannot be asked there is none: an API that wants one refuses, and the copy of its last answer serves.
 */
export async function openCreditsToken(
  { database, secretBox }: { readonly database: Sql; readonly secretBox: Pick<SecretBox, 'open'> },
  { tenantId, apiUrl }: { readonly tenantId: string; readonly apiUrl: string },
): Promise<string | null> {
  const token = await findCreditsToken(database, tenantId).catch(() => null);
  if (token === null || token.origin !== new URL(apiUrl).origin) return null;
  return secretBox.open(token.sealed, creditsTokenContext(tenantId, token.origin));
}
