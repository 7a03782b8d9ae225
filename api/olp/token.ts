import { z } from 'zod';
import { COSTS } from '../../modules/kernel/rate.ts';
import type { LicenceTokenAnswer } from '../../modules/storefront/use/olp/token.ts';
import { grantLicenceToken } from '../../modules/storefront/use/olp/token.ts';
import { IDEMPOTENCY_KEY, PAYMENT } from '../described.ts';
import { oauthAnswer } from '../errors.ts';
import { paymentResponseHeaders } from '../paymentResponse.ts';
import type { Answer, HandlerDeps, PublicRoute } from '../route.ts';
import { readIdempotencyKey } from '../routes/licences/idempotencyKey.ts';
import { jsonResponse } from '../routes/responses.ts';
import { OauthError } from '../schemas/accounts.ts';
import { LicenceOffer } from '../schemas/licences.ts';
import { ErrorBody } from '../schemas/shared.ts';

const FORM = z.looseObject({
  grant_type: z.literal('client_credentials'),
  license: z.string().meta({ description: 'The license element, exactly as in the document.' }),
  license_type: z.exactOptional(z.literal('application/rsl+xml')),
  resource: z.string().meta({ description: 'The url of its content, pattern and all.' }),
  period_days: z.exactOptional(z.string()).meta({ description: 'Period to buy if the account holds no licence; 30 by default.' }),
});
const TOKEN = z
  .object({ access_token: z.string(), token_type: z.literal('License'), expires_in: z.int() })
  .meta({ id: 'LicenceToken' });

/** POST /_svc/olp/token: a licence token of the Open License Protocol; where none is held, what it costs, and with a payment the token. */
export const olpTokenRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/olp/token',
  access: 'public',
  cost: 'heavy',
  bodyLimitBytes: 65_536,
  bodyType: 'form',
  operation: {
    operationId: 'getLicenceToken',
    tags: ['Licences'],
    summary: 'A licence token (RSL 1.0, OLP)',
    description:
      'With the credentials of an OAuth client. An account that holds a licence for the content gets a token under it. For one that ' +
      'holds none: 402 with the offer of such a licence, which an x402 client pays in the retry of the same request. On 503, or ' +
      'when the connection breaks, send the same payment again: it is never charged twice.',
    security: [],
    requestParams: { header: z.object({ ...PAYMENT, ...IDEMPOTENCY_KEY }) },
    requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: FORM } } },
    responses: {
      '200': jsonResponse('A token for `Authorization: License`', TOKEN),
      '400': jsonResponse('Malformed request; no such content; not its current license', OauthError.or(ErrorBody)),
      '401': jsonResponse('The client is not recognised', OauthError),
      '402': jsonResponse(
        'No licence is held: the offer; or why the payment was refused or is undecided',
        LicenceOffer.or(ErrorBody),
      ),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body, header }) => {
    const idempotencyKey = readIdempotencyKey(header('idempotency-key'));
    const ua = header('user-agent');
    const answer = await grantLicenceToken(deps, {
      form: body as ReadonlyMap<string, string>,
      authorization: header('authorization'),
      payments: [header('payment-signature'), header('x-payment')].filter((value) => value !== null),
      agent: ua === null ? {} : { ua },
      ...(idempotencyKey === null ? {} : { idempotencyKey }),
      count: (accountId) => deps.rates?.count([['account', accountId]], COSTS.heavy),
    });
    return answerOf(deps, answer);
  },
};

function answerOf(deps: HandlerDeps, answer: LicenceTokenAnswer): Answer {
  if (answer.kind === 'refused') return oauthAnswer(deps.baseUrl, answer.error, answer.sentence, answer.next);
  if (answer.kind === 'token') {
    const { token, expiresAtMs, paymentResponse } = answer;
    const headers = { ...paymentResponseHeaders(paymentResponse), pragma: 'no-cache' };
    const seconds = Math.max(1, Math.floor((expiresAtMs - deps.clock()) / 1000));
    return { status: 200, headers, body: { access_token: token, token_type: 'License', expires_in: seconds } };
  }
  const { offer, refusal: refused } = answer;
  const headers = {
    ...paymentResponseHeaders(refused?.paymentResponse ?? null),
    ...offer.headers,
    'payment-required': offer.header,
    'x-svc-error-code': refused?.code ?? 'payment_required',
  };
  const told = {
    error: 'unauthorized_client',
    error_description: refused?.text ?? 'this account holds no such licence: see the offer',
    ...(refused ? { next: refused.next } : {}),
  };
  return { status: 402, headers, body: { ...offer.body, ...told } };
}
