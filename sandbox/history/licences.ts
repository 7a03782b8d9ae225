import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { openCodeWallets } from '../../modules/identity/use/accounts/codeWallets.ts';
import type { PaymentRef } from '../../modules/settlement/store/payment.ts';
import type { BuyDeps } from '../../modules/storefront/use/licences/buy.ts';
import { buyLicence } from '../../modules/storefront/use/licences/buy.ts';
import { followPurchase } from '../../modules/storefront/use/licences/followPurchase.ts';
import { openScopes } from '../../modules/storefront/use/licences/scopes.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import type { SandboxSecrets } from '../secrets.ts';
import type { Licensed } from './cast.ts';
import { DEMO } from './cast.ts';
import type { Past } from './past.ts';
import type { Payer, Till } from './till.ts';

/** Where licences of the history are bought. */
export interface LicenceCounter {
  /** Buys one at the moment that is set, by an account of the payer's. */
  sell(payer: Payer, name: string, licensed: Licensed): Promise<void>;
}

/** Opens it; every payer gets one account. */
export function openLicenceCounter({ till, past, secrets }: { till: Till; past: Past; secrets: SandboxSecrets }): LicenceCounter {
  const { database, nowMs } = past;
  const { deps, snapshots, keyring } = till;
  const rpc = deps.rpcOf(deps.networks.first.id);
  const pepper = pepperOf(secrets);
  const buying: BuyDeps = {
    database,
    snapshots,
    keyring,
    rpc,
    pepper,
    networks: deps.networks,
    clock: nowMs,
    settle: till.settle,
    codeWallets: openCodeWallets({ rpc, clock: nowMs }),
    scopes: openScopes({ atOnce: 2, pagesInMemory: 1_000 }),
    baseUrl: 'http://127.0.0.1',
    licenceLifeSeconds: deps.settings.licenceLifeSeconds,
  };
  return {
    sell: async (payer, name, { scope, terms, periodDays }) => {
      const { accountId } = await createBuyerAccount({ database, pepper }, { name, wallet: payer.address });
      const request = { scope, terms, periodDays, kind: 'read', host: DEMO.host } as const;
      const call = { accountId, request, requestHost: null, agent: payer.agent };
      const asked = await buyLicence(buying, { ...call, payments: [] });
      if (asked.kind !== 'offered') throw new Error('a licence was given away');
      const offer = JSON.parse(Buffer.from(asked.offer.header, 'base64').toString('utf8'));
      const [{ payTo, amount }] = offer.accepts;
      const payment = till.signed(payer, { payTo: payTo.toLowerCase(), priceMicro: BigInt(amount) });
      await till.carry([() => buyLicence(buying, { ...call, payments: [payment] })]);
      const bought = await database.query<{ tenant_id: string; payment_id: string }>(
        'select tenant_id, payment_id from licence where tenant_id = $1 and account_id = $2',
        [DEMO.tenantId, accountId],
      );
      for (const row of bought)
        await followPurchase({ database }, { tenantId: row.tenant_id, paymentId: row.payment_id } satisfies PaymentRef);
    },
  };
}
