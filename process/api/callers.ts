import type { AddressReader } from '../../api/address.ts';
import { createAddressReader } from '../../api/address.ts';
import type { Metrics } from '../../domain/metrics.ts';
import type { Rates } from '../../services/pacing/rates.ts';
import { openRates } from '../../services/pacing/rates.ts';
import type { ApiConfig } from '../config.ts';

/** How callers of this process are told apart, and how often each may call; one for all its APIs. */
export function openCallers(config: ApiConfig, metrics: Metrics): { readonly rates: Rates; readonly addressOf: AddressReader } {
  const { ratePerAddress, rateOfRefused, ratePerKey, ratePerTenant, rateBurstSeconds: burstSeconds } = config;
  const perSecond = {
    ...{ address: ratePerAddress, refused: rateOfRefused, key: ratePerKey, tenant: ratePerTenant },
    ...{ account: config.ratePerAccount, account_address: config.ratePerAccountAddress },
  };
  const rates = openRates({ limits: { perSecond, burstSeconds }, clock: () => performance.now(), metrics });
  return { rates, addressOf: createAddressReader(config.trustedProxies ?? []) };
}
