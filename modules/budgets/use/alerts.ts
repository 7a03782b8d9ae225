import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { EndpointDeps } from '../../webhooks/use/endpoints.ts';
import { requireReceiver } from '../../webhooks/use/endpoints.ts';
import { createWebhookSecret } from '../../webhooks/use/secret.ts';
import type { AlertRecord } from '../rules/alert.ts';
import { deleteAlertEndpoint, findAlertEndpoint, listAlerts, writeAlertEndpoint } from '../store/alerts.ts';

/** What the secret of an account's alerts is bound to, so that it opens in no other row. */
export function alertSecretContext(accountId: string, endpointId: string): string {
  return `budget alerts ${accountId} ${endpointId}`;
}

/**
 * Says where an account's alerts go from now on, those that wait included; the secret that signs them is in this answer and never again.
 * Again: another secret, and the one before signs nothing more. Throws `invalid_parameter` for a URL that we do not send to, `not_found` for an
 * account that was erased, database_unavailable.
 */
export async function setAlertUrl(
  deps: EndpointDeps,
  accountId: string,
  url: string,
): Promise<{ readonly url: string; readonly secret: string }> {
  requireReceiver(deps, url);
  const endpointId = randomUUID();
  const secret = createWebhookSecret();
  const sealed = deps.secretBox.seal(secret, alertSecretContext(accountId, endpointId));
  const endpoint = { accountId, endpointId, url, sealed, keyId: deps.secretBox.keyId };
  if (!(await writeAlertEndpoint(deps.database, endpoint))) {
    throw new ServiceError('not_found', 'this account was erased');
  }
  return { url, secret };
}

/** Sends an account no more alerts; those that wait are not sent either, and stay in its list. Again: nothing. Throws database_unavailable. */
export async function removeAlertUrl({ database }: Pick<EndpointDeps, 'database'>, accountId: string): Promise<void> {
  await database.transaction((sql) => deleteAlertEndpoint(sql, accountId));
}

/** Where an account's alerts go, and its newest hundred. */
export interface ShownAlerts {
  readonly url: string | null;
  /** Epoch milliseconds; null when they go nowhere. */
  readonly setAtMs: number | null;
  readonly alerts: readonly AlertRecord[];
}

const MOST_SHOWN = 100;

/** What an account was told of its budget, the newest hundred, newest first, and where it is told. Throws database_unavailable. */
export async function showAlerts({ database }: { readonly database: Sql }, accountId: string): Promise<ShownAlerts> {
  const endpoint = await findAlertEndpoint(database, accountId);
  const alerts = await listAlerts(database, accountId, MOST_SHOWN);
  return { url: endpoint?.url ?? null, setAtMs: endpoint?.setAt.getTime() ?? null, alerts };
}
