/** The whole of it: service with worker and chain, WordPress with the plugin, a line between them that can be cut, and a site of theirs. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { mintConnectKey } from '../../../modules/identity/use/keys/keys.ts';
import { pepperOf } from '../../../platform/tokens/pepper.ts';
import type { MoodyService } from '../../support/moody.ts';
import { startMoody } from '../../support/moody.ts';
import type { Environment, TestService, TestSite } from '../../support/service.ts';
import { startTestService } from '../../support/service.ts';
import type { WordPress } from './wordpress.ts';
import { HOST, startWordPress } from './wordpress.ts';

/** Everything that runs. */
export interface World {
  readonly service: TestService;
  readonly wordpress: WordPress;
  /** The service as the plugin reaches it. */
  readonly line: MoodyService;
  /** A site that has not proven the WordPress' host yet; its pages stand under /stories/ and cost 0.003 USD. */
  readonly site: TestSite;
  /** The key of the connect preset. */
  readonly connectKey: string;
  stop(): Promise<void>;
}

/** Starts it; the caller stops it. `isForPeople`: a browser can read the site (`openFront`); `more` goes into the service's environment. */
export async function startWorld({
  isForPeople = false,
  more = {},
}: {
  readonly isForPeople?: boolean;
  readonly more?: Environment;
} = {}): Promise<World> {
  const folder = mkdtempSync(join(inject('parts').folder, 'wp-'));
  const wordpress = await startWordPress(folder, { isForPeople });
  const environment = { OUTBOUND_SANDBOX_WEB: wordpress.url, FLEET_HOST: 'fleet.sandbox.example', ...more };
  const service = await startTestService({ environment });
  const site = await service.site({
    hosts: ['home.sandbox.example'],
    pricing: {
      priceUsdc: '0.003',
      articlePrefixes: ['/stories/'],
      creditsApiUrl: `https://${HOST}/wp-json/content-settlement/v1`,
    },
  });
  const { tenantId } = site;
  const deps = { database: service.database, pepper: pepperOf(service.secrets), clock: Date.now };
  const { token: connectKey } = await mintConnectKey(deps, { tenantId, name: 'WordPress' });
  const line = await startMoody(() => service.apis.at(-1)?.url ?? '');
  const stop = async (): Promise<void> => {
    await line.close();
    await service.stop();
    await wordpress.stop();
  };
  return { service, wordpress, line, site, connectKey, stop };
}
