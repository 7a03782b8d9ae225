import { microToJson } from '../../../modules/kernel/money/money.ts';
import { buyLicence } from '../../../modules/storefront/use/licences/buy.ts';
import { offerResult, paidResult, paymentsOf } from '../dialects.ts';
import { licenceInput } from '../inputs.ts';
import { dataResult, defineTool } from '../tool.ts';
import { accountOf } from '../who.ts';

/** buy_licence: without a payment what must be paid; with one the licence, for the account that calls. */
export const buyLicenceTool = defineTool({
  name: 'buy_licence',
  title: 'Buy a licence',
  description:
    'Buys a licence over many pages of one site for this account, by x402: the first call answers what must be paid, your client signs and calls ' +
    'again with the same arguments. The same payment is charged once.',
  input: licenceInput,
  cost: 'heavy',
  pays: true,
  run: async (call, request) => {
    const ua = call.header('user-agent');
    const outcome = await buyLicence(call.deps, {
      accountId: accountOf(call.who),
      request,
      requestHost: null,
      payments: paymentsOf(call),
      agent: ua === null ? {} : { ua },
    });
    if (outcome.kind === 'offered') return offerResult(call, outcome.offer.header, outcome.refusal ?? undefined);
    const { licenseJws, licence, responseHeader } = outcome.receipt;
    const bought = { state: 'bought', license: licenseJws, jti: licence.jti, priceMicro: microToJson(licence.priceMicro) };
    return paidResult(dataResult(bought), responseHeader);
  },
});
