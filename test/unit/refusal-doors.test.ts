/** What a refusal tells its caller to do next: one table of codes, the same at every door. */
import { expect, test } from 'vitest';
import { errorAnswer, oauthAnswer } from '../../api/errors.ts';
import { errorResult, offerResult } from '../../api/mcp/dialects.ts';
import { extensionsOf } from '../../graphql/request/errors.ts';
import { ERROR_CODES, NEXT_ACTIONS, ServiceError } from '../../modules/kernel/errors.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { fundOf } from '../../modules/settlement/use/answer/refuse.ts';

test.each(ERROR_CODES)('%s says what to do next, and says the same over REST, MCP and GraphQL', (code) => {
  const error = new ServiceError(code, 'a sentence');
  expect(NEXT_ACTIONS).toContain(error.next.action);
  expect(errorAnswer(error, 'plain', false).body).toMatchObject({ error: `${code}: a sentence`, next: error.next });
  expect(errorAnswer(error, 'ok', true).body).toMatchObject({ title: code, next: error.next });
  expect(errorResult(error).structuredContent).toMatchObject({ error: code, next: error.next });
  if (code !== 'internal') expect(extensionsOf(error)).toMatchObject({ reason: code, next: error.next });
});

test('an undecided payment is never told to sign again, which would pay twice', () => {
  expect(new ServiceError('settlement_pending', 'not yet').next).toEqual({ action: 'wait', seconds: 5 });
});

test('who is told to wait is told for how long, as Retry-After says it', () => {
  for (const [details, seconds] of [
    [{ retryAfterSeconds: 60 }, 60],
    [{}, 5],
  ] as const) {
    const { headers, body } = errorAnswer(new ServiceError('overloaded', 'busy', details), 'plain', false);
    expect([headers?.['retry-after'], body]).toMatchObject([String(seconds), { next: { action: 'wait', seconds } }]);
  }
});

test('a refused payment that may be paid otherwise is told with its offer what to do, and of a wallet without money which, where and how much', () => {
  const network = { id: 'eip155:8453', v1Name: 'base', asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' } as const;
  const next = fundOf({ network, x402Version: 2, payer: '0x12', micro: 3_000n }, 5n);
  expect(next).toEqual({
    action: 'fund',
    address: '0x12',
    network: 'eip155:8453',
    asset: network.asset,
    needsMicro: 3_000,
    hasMicro: 5,
  });
  const error = new PaymentError('insufficient_funds', 'too little', null, { next });
  const header = Buffer.from('{"x402Version":2,"accepts":[]}').toString('base64');
  expect(offerResult({ extensions: new Set() }, header, error).structuredContent).toMatchObject({ x402Version: 2, next });
});

test('a payment that failed after it was taken in says to sign again at every door, whatever its code says by itself', () => {
  const next = { action: 'sign_again' } as const;
  const error = new PaymentError('insufficient_funds', 'too little', null, { next });
  expect(errorAnswer(error, 'plain', false).body).toMatchObject({ next });
  expect(errorResult(error).structuredContent).toMatchObject({ next });
  expect(extensionsOf(error)).toMatchObject({ next });
  expect(oauthAnswer('https://svc.example', 'invalid_request', 'too little', error.next).body).toMatchObject({ next });
});

test('a sentence travels in ASCII, since clients read headers as Latin-1', () => {
  expect(new ServiceError('conflict', 'the node’s “nonce” – changed…').message).toBe('the node\'s "nonce" - changed...');
});

test('OAuth tells beside its own words what to do next', () => {
  const register = 'https://svc.example/_svc/oauth/register';
  const stranger = oauthAnswer('https://svc.example', 'invalid_client', 'who?');
  expect(stranger).toMatchObject({ status: 401, body: { next: { action: 'sign_in', register } } });
  expect(oauthAnswer('https://svc.example', 'invalid_request', 'what?')).toMatchObject({
    status: 400,
    body: { next: { action: 'fix_request' } },
  });
});
