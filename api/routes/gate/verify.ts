import { z } from 'zod';
import { noteCall } from '../../../modules/gate/use/liveness.ts';
import { letRepeatIn } from '../../../modules/settlement/use/accept/repeats.ts';
import { verifyPayment } from '../../../modules/settlement/use/accept/verify.ts';
import type { SettleReceipt } from '../../../modules/settlement/use/answer/receipt.ts';
import { IDEMPOTENCY_KEY } from '../../described.ts';
import { paymentResponseHeaders } from '../../paymentResponse.ts';
import type { KeyRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { VerifyError, VerifyReceipt, VerifyRequest } from '../../schemas/verify.ts';
import { readIdempotencyKey } from '../licences/idempotencyKey.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** POST /_svc/verify: settles a buyer's payment to the authors and returns the re-read licence. */
export const verifyRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/verify',
  access: { scope: 'tenant.read', freshness: 'epoch' },
  cost: 'medium',
  errorShape: 'ok',
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'verifyPayment',
    tags: ['Enforce'],
    summary: 'Settle a payment',
    security: [{ publisherKey: [] }],
    requestParams: { header: z.object(IDEMPOTENCY_KEY) },
    requestBody: { required: true, content: { 'application/json': { schema: VerifyRequest } } },
    responses: {
      '200': jsonResponse('Settled', VerifyReceipt),
      '402': jsonResponse('Not settled; `error` says why', VerifyError),
      ...keyErrors(VerifyError),
    },
  },
  letInAboveRate: ({ deps, caller, body }) => letRepeatIn(deps, caller, (body as { payment?: unknown } | null)?.payment),
  handle: async ({ deps, caller, body, header }) => {
    const { agent = {}, legs, ...rest } = parseWith(VerifyRequest, body);
    noteCall(deps.liveness, caller.tenant, rest.resource ?? rest.quote.resource, 'verifyCalled');
    const idempotencyKey = readIdempotencyKey(header('idempotency-key'));
    const request = {
      ...rest,
      agent,
      legs: legs.map(({ toAddress, amountMicro }) => ({ toAddress, amountMicro: BigInt(amountMicro) })),
      ...(idempotencyKey === null ? {} : { idempotencyKey }),
    };
    return receiptAnswer(await verifyPayment(deps, caller, request));
  },
};

function receiptAnswer(receipt: SettleReceipt) {
  const { settlementRef, payer, responseHeader, licenseJws, chargedMicro, receiptId } = receipt;
  const reference = settlementRef === null ? {} : { settlementRef };
  const record = receiptId === undefined ? {} : { receiptId };
  const body = { ok: true, ...reference, payer, responseHeader, licenseJws, chargedMicro: chargedMicro.toString(), ...record };
  return { status: 200, headers: paymentResponseHeaders(responseHeader), body };
}
