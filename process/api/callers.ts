import type { AddressReader } from '../../api/address.ts';
import { createAddressReader } from '../../api/address.ts';
import type { Metrics } from '../../modules/kernel/metrics.ts';
import type { HeavyWork } from '../../platform/pacing/heavy.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import type { Rates } from '../../platform/pacing/rates.ts';
import { openRates } from '../../platform/pacing/rates.ts';
import type { Log } from '../../platform/telemetry/log.ts';
import type { ApiConfig } from '../config.ts';
import { createLimitedLog } from './limitedCallers.ts';

/** How callers of this process are told apart, how often each may call, and the room for their heavy work; one for all its APIs. */
export function openCallers(
  config: ApiConfig,
  metrics: Metrics,
  log: Pick<Log, 'info'>,
): { readonly rates: Rates; readonly addressOf: AddressReader; readonly heavy: HeavyWork } {
  const { ratePerAddress, rateOfRefused, ratePerKey, ratePerTenant, rateBurstSeconds: burstSeconds } = config;
  const perSecond = {
    address: ratePerAddress,
    refused: rateOfRefused,
    key: ratePerKey,
    tenant: ratePerTenant,
    account: config.ratePerAccount,
    account_address: config.ratePerAccountAddress,
  };
  const clock = (): number => performance.now();
  const onLimited = createLimitedLog(log, clock);
  const rates = openRates({ limits: { perSecond, burstSeconds }, clock, metrics, onLimited });
  const heavy = openHeavyWork({ connections: { reports: config.reportPoolSize, questions: config.graphqlPoolSize } });
  return { rates, addressOf: createAddressReader(config.trustedProxies ?? []), heavy };
}
