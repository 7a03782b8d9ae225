import type { Database } from '../../../db/database.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import { listAlertSecretsNotUnder, resealAlertSecret } from '../../budgets/store/alerts.ts';
import { alertSecretContext } from '../../budgets/use/alerts.ts';
import { listCreditsTokensNotUnder, resealCreditsToken } from '../../quotes/store/creditsTokens.ts';
import { creditsTokenContext } from '../../quotes/use/credits/token.ts';
import { listSecretsNotUnder, resealRow } from '../../webhooks/store/sealing.ts';
import { secretContext } from '../../webhooks/use/secret.ts';

const BATCH = 200;

/**
 * What came of a rotation; `unreadable` names what neither key opens: a secret of an endpoint, the token of a site's credits API (null), or the
 * secret of an account's alerts.
 */
export interface Resealed {
  readonly resealed: number;
  readonly unreadable: readonly Unreadable[];
}

type Unreadable = { readonly tenantId: string; readonly endpointId: string | null } | { readonly accountId: string };

interface SealedParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
}

/** One kind of what is sealed. */
interface Kind<Row> {
  /** A page of rows that are not known to be under the present key, in the order of their names. */
  readonly list: (page: { readonly after: string | null; readonly limit: number }) => Promise<readonly Row[]>;
  readonly nameOf: (row: Row) => string;
  readonly contextOf: (row: Row) => string;
  readonly reseal: (row: Row, to: { readonly sealed: Buffer; readonly keyId: string }) => Promise<boolean>;
  readonly shown: (row: Row) => Unreadable;
}

/**
 * Reseals with the present SECRETS_KEY every webhook secret that still signs, those of accounts' alerts among them, and every token of a credits
 * API, where it is not known to be sealed with that key; the secrets stay the same. Row by row beside live traffic: a secret that is rotated or
 * ends meanwhile is left as it is. Again: does what is left.
 */
export async function resealSecrets({ database, secretBox }: SealedParts): Promise<Resealed> {
  const { keyId } = secretBox;
  const parts = [
    await resealKind(secretBox, {
      list: (page) => listSecretsNotUnder(database, keyId, page),
      nameOf: ({ secretId }) => secretId,
      contextOf: ({ tenantId, endpointId }) => secretContext(tenantId, endpointId),
      reseal: (row, to) => resealRow(database, row, to),
      shown: ({ tenantId, endpointId }) => ({ tenantId, endpointId }),
    }),
    await resealKind(secretBox, {
      list: (page) => listCreditsTokensNotUnder(database, keyId, page),
      nameOf: ({ tenantId }) => tenantId,
      contextOf: ({ tenantId, origin }) => creditsTokenContext(tenantId, origin),
      reseal: (row, to) => resealCreditsToken(database, row, to),
      shown: ({ tenantId }) => ({ tenantId, endpointId: null }),
    }),
    await resealKind(secretBox, {
      list: (page) => listAlertSecretsNotUnder(database, keyId, page),
      nameOf: ({ accountId }) => accountId,
      contextOf: ({ accountId, endpointId }) => alertSecretContext(accountId, endpointId),
      reseal: (row, to) => resealAlertSecret(database, row, to),
      shown: ({ accountId }) => ({ accountId }),
    }),
  ];
  return {
    resealed: parts.reduce((sum, part) => sum + part.resealed, 0),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  };
}

async function resealKind<Row extends { readonly sealed: Buffer }>(secretBox: SecretBox, kind: Kind<Row>): Promise<Resealed> {
  let resealed = 0;
  const unreadable: Unreadable[] = [];
  let after: string | null = null;
  for (;;) {
    const rows: readonly Row[] = await kind.list({ after, limit: BATCH });
    for (const row of rows) {
      const context = kind.contextOf(row);
      const secret = openOrNull(secretBox, row.sealed, context);
      if (secret === null) unreadable.push(kind.shown(row));
      else if (await kind.reseal(row, { sealed: secretBox.seal(secret, context), keyId: secretBox.keyId })) resealed += 1;
    }
    const last = rows.at(-1);
    after = last === undefined ? null : kind.nameOf(last);
    if (rows.length < BATCH) return { resealed, unreadable };
  }
}

function openOrNull(box: SecretBox, sealed: Uint8Array, context: string): string | null {
  try {
    return box.open(sealed, context);
  } catch {
    return null;
  }
}
