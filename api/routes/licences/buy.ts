import { z } from 'zod';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { PurchaseOutcome } from '../../../modules/storefront/use/licences/buy.ts';
import { buyLicence } from '../../../modules/storefront/use/licences/buy.ts';
import type { LicenceAnew } from '../../../modules/storefront/use/licences/reissue.ts';
import { findLicenceAnew } from '../../../modules/storefront/use/licences/reissue.ts';
import { IDEMPOTENCY_KEY, PAYMENT } from '../../described.ts';
import { paymentResponseHeaders } from '../../paymentResponse.ts';
import type { AccountRoute, Answer } from '../../route.ts';
import { BoughtLicence, LicenceOffer, LicenceRequestBody } from '../../schemas/licences.ts';
import { parseWith } from '../../schemas/parse.ts';
import { AuthenticateError, ErrorBody } from '../../schemas/shared.ts';
import { hostOf } from '../requestHost.ts';
import { jsonResponse } from '../responses.ts';
import { readIdempotencyKey } from './idempotencyKey.ts';

/** POST /_svc/licenses: an offer without a payment; with one, the licence. */
export const licencesBuyRoute: AccountRoute = {
  method: 'post',
  path: '/_svc/licenses',
  access: 'account',
  cost: 'heavy',
  isForPages: true,
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'buyLicence',
    tags: ['Licences'],
    summary: 'Buy a licence',
    description:
      'Without a payment: 402 with the offer. Sign the authorization it asks for (EIP-3009), and send the same call again with ' +
      'PAYMENT-SIGNATURE. On 503, or when the connection breaks, send the same payment again: it is never charged twice.',
    security: [{ buyerAccount: [] }, { signInWithX: [] }],
    requestParams: { header: z.object({ ...PAYMENT, ...IDEMPOTENCY_KEY }) },
    requestBody: { required: true, content: { 'application/json': { schema: LicenceRequestBody } } },
    responses: {
      '200': jsonResponse('Bought; or bought before by the same request, for a wallet that proves itself', BoughtLicence),
      '400': jsonResponse('Malformed scope, terms or period', ErrorBody),
      '401': jsonResponse('Authenticate first', AuthenticateError),
      '402': jsonResponse('The offer; or why the payment was refused or is undecided', LicenceOffer.or(ErrorBody)),
      '404': jsonResponse('No such site, or the scope covers nothing', ErrorBody),
      '409': jsonResponse('This scope cannot be sold for the site, or the key belongs to another payment', ErrorBody),
      '429': jsonResponse('Too many open offers', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, account, body, header }) => {
    const request = parseWith(LicenceRequestBody, body);
    const idempotencyKey = readIdempotencyKey(header('idempotency-key'));
    const ua = header('user-agent');
    const call = {
      accountId: account.accountId,
      request,
      requestHost: hostOf(header('host')),
      payments: [header('payment-signature'), header('x-payment')].filter((value) => value !== null),
      agent: ua === null ? {} : { ua },
      ...(idempotencyKey === null ? {} : { idempotencyKey }),
    };
    // A wallet that shows itself and pays nothing asks for what it has.
    const isShown = header('sign-in-with-x') !== null && call.payments.length === 0;
    const anew = isShown ? await findLicenceAnew(deps, call) : null;
    if (anew) return heldAnswer(anew);
    const outcome = await buyLicence(deps, call);
    return answerOf(outcome);
  },
};

function heldAnswer({ license, jti, priceMicro }: LicenceAnew): Answer {
  const body = { license, jti, priceMicro: microToJson(priceMicro) };
  return { status: 200, headers: { 'cache-control': 'private, no-store' }, body };
}

function answerOf(outcome: PurchaseOutcome): Answer {
  if (outcome.kind === 'bought') {
    const { responseHeader, licenseJws, licence } = outcome.receipt;
    const headers = paymentResponseHeaders(responseHeader);
    return { status: 200, headers, body: { license: licenseJws, jti: licence.jti, priceMicro: microToJson(licence.priceMicro) } };
  }
  const { offer, refusal } = outcome;
  const headers = {
    ...paymentResponseHeaders(refusal?.paymentResponse ?? null),
    // Who pays already needs no documents, and the answer has its settlement response to carry.
    ...(refusal ? {} : offer.headers),
    'payment-required': offer.header,
    'x-svc-error-code': refusal?.code ?? 'payment_required',
  };
  return { status: 402, headers, body: refusal ? { ...offer.body, next: refusal.next } : offer.body };
}
