import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { layered } from '../../sandbox/limits.ts';
import type { ApiProcess } from '../../sandbox/processes-of-service.ts';
import { LIFTED_RATES, serviceEnvironment, startApiProcess } from '../../sandbox/processes-of-service.ts';
import type { Parts } from '../harness/cpu.ts';
import { benchFolder } from '../harness/parts.ts';
import { sharedService } from '../harness/service.ts';
import { BUSY } from './load.ts';
import type { RecordStore } from './store.ts';

/**
 * An API process on the records, a key of the busy site with every scope, and all processes a report meets. The caller stops the API. It is
 * served under a public address unless `isOpened`: then under its own, as a browser needs it.
 */
export async function startRecordsApi(
  { database, urls, parts }: RecordStore,
  { isOpened = false }: { readonly isOpened?: boolean } = {},
): Promise<{ readonly api: ApiProcess; readonly key: string; readonly parts: Parts }> {
  const { temporal, chain, secrets } = await sharedService();
  // A kept store has the keys of earlier runs, and a site may have twenty.
  await database.query("update api_key set revoked_at = now() where tenant_id = $1 and name = 'bench' and revoked_at is null", [
    BUSY,
  ]);
  const { token: key } = await mintKey(
    { database, pepper: pepperOf(secrets) },
    { tenantId: BUSY, name: 'bench', scopes: SCOPES },
  );
  const settings = { databaseUrl: urls.appUrl, rpcUrl: chain.rpcUrl, router: chain.router, secrets };
  const environment = layered(serviceEnvironment({ ...settings, temporal: { ...temporal, uiUrl: null } }), LIFTED_RATES, {
    LOG_LEVEL: 'warn',
    PUBLIC_BASE_URL: isOpened ? '' : 'https://svc.example',
  });
  const api = await startApiProcess({ environment, logFile: join(benchFolder(), `api-${randomUUID()}.log`) });
  return { api, key, parts: { ...parts, api: [api.process.pid] } };
}
