import { expect, test } from 'vitest';
import { errorAnswer } from '../../api/errors.ts';
import type { ErrorCode } from '../../modules/kernel/errors.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';

test.each<[ErrorCode, number]>([
  ['malformed_body', 400],
  ['unknown_credential', 401],
  ['authorization_invalid', 402],
  ['scope_missing', 403],
  ['plan_gate', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['throttled', 429],
  ['internal', 500],
  ['overloaded', 503],
  ['payer_limited', 503],
])('%s is answered with %i, its code and its sentence', (code, status) => {
  const answer = errorAnswer(new ServiceError(code, 'a sentence'), 'plain', false);
  expect(answer).toMatchObject({ status, headers: { 'x-svc-error-code': code }, body: { error: `${code}: a sentence` } });
  expect('upgrade' in (answer.body as object)).toBe(code === 'plan_gate');
  expect(answer.headers?.['retry-after'] !== undefined).toBe(status === 429 || status === 503);
});

test('a payment error carries its settlement response in both headers', () => {
  const { headers } = errorAnswer(new PaymentError('settlement_pending', 'wait', 'YQ=='), 'ok', false);
  expect(headers).toMatchObject({ 'payment-response': 'YQ==', 'x-payment-response': 'YQ==', 'retry-after': '5' });
});
