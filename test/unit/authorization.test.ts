import { expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { PaymentTerms } from '../../modules/kernel/x402/authorization.ts';
import { checkTerms, checkTimes } from '../../modules/kernel/x402/authorization.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { parsePayment } from '../../modules/kernel/x402/payload.ts';

const NOW = 1_800_000_000;
const LIMITS = { blockTimeMs: 2_000 };
const payTo: Address = '0x00000000000000000000000000000000000000aa';
const asset: Address = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const terms: PaymentTerms = {
  network: 'eip155:84532',
  v1Network: 'base-sepolia',
  asset,
  payTo,
  amountMicro: 1_000n,
  extra: { name: 'USDC', version: '2' },
  maxTimeoutSeconds: 300,
};
const signed = { from: `0x${'12'.repeat(20)}`, to: payTo, value: '1000', validAfter: '0', validBefore: String(NOW + 300) };
const authorization = { ...signed, nonce: `0x${'ab'.repeat(32)}` };
const offer = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1000',
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: terms.extra,
};

function payment(changed: { authorization?: object; accepted?: object; v1?: object } = {}): ParsedPayment {
  const payload = { signature: `0x${'1b'.repeat(65)}`, authorization: { ...authorization, ...changed.authorization } };
  const whole = changed.v1
    ? { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload, ...changed.v1 }
    : { x402Version: 2, accepted: { ...offer, ...changed.accepted }, payload };
  const parse = parsePayment(JSON.stringify(whole));
  if (!parse.ok) throw new Error(parse.detail);
  return parse.payment;
}

const check = (one: ParsedPayment, of: PaymentTerms = terms) => checkTerms(one, of, NOW, LIMITS);

test('a payment of our terms passes in both versions, whatever the case of its addresses', () => {
  expect(check(payment())).toBeNull();
  expect(check(payment({ v1: {} }))).toBeNull();
  const upper = `0x${payTo.slice(2).toUpperCase()}`;
  expect(
    check(payment({ accepted: { payTo: upper, extra: { ...terms.extra, more: 1 } }, authorization: { to: upper } })),
  ).toBeNull();
});

test.each([
  ['another network', { accepted: { network: 'eip155:1' } }, 'network_unsupported'],
  ['a v1 network name in v2 clothes', { v1: { network: 'eip155:84532' } }, 'network_unsupported'],
  ['another asset', { accepted: { asset: payTo } }, 'network_unsupported'],
  ['another recipient', { authorization: { to: `0x${'22'.repeat(20)}` } }, 'authorization_invalid'],
  ['a payer that pays itself', { authorization: { from: payTo } }, 'authorization_invalid'],
  ['one micro too little', { authorization: { value: '999' } }, 'authorization_invalid'],
  ['one micro too much', { authorization: { value: '1001' } }, 'authorization_invalid'],
  ['accepted terms with another amount', { accepted: { amount: '999' } }, 'authorization_invalid'],
  ['accepted terms with another payTo', { accepted: { payTo: asset } }, 'authorization_invalid'],
  [
    'accepted terms with another domain name',
    { accepted: { extra: { name: 'USD Coin', version: '2' } } },
    'authorization_invalid',
  ],
  ['accepted terms without our extra', { accepted: { extra: {} } }, 'authorization_invalid'],
  ['accepted terms with another timeout', { accepted: { maxTimeoutSeconds: 600 } }, 'authorization_invalid'],
  ['validAfter in the future', { authorization: { validAfter: String(NOW + 1) } }, 'authorization_invalid'],
  ['an expired authorization', { authorization: { validBefore: String(NOW - 1) } }, 'authorization_invalid'],
])('%s is refused', (_, change, reason) => {
  expect(check(payment(change))).toMatchObject({ reason });
});

test('no v1 payment meets terms of a network without a v1 name', () => {
  expect(check(payment({ v1: {} }), { ...terms, v1Network: null })).toMatchObject({ reason: 'network_unsupported' });
});

test('the first refusal follows the order network, asset, recipient, value, times, accepted', () => {
  const late = { to: asset, value: '1', validBefore: '1' };
  const raws = [
    check(payment({ accepted: { network: 'eip155:1', asset: payTo }, authorization: late })),
    check(payment({ accepted: { asset: payTo }, authorization: late })),
    check(payment({ authorization: late })),
    check(payment({ authorization: { ...late, to: payTo } })),
    check(payment({ authorization: { validBefore: '1' }, accepted: { amount: '1' } })),
    check(payment({ accepted: { amount: '1' } })),
  ].map((refusal) => refusal?.raw);
  expect(raws).toEqual([
    'invalid_exact_evm_network_mismatch',
    'asset_not_supported',
    'invalid_exact_evm_recipient_mismatch',
    'invalid_exact_evm_payload_authorization_value_mismatch',
    'invalid_exact_evm_payload_authorization_valid_before',
    'no_matching_payment_requirements',
  ]);
});

test('only an authorization whose time is over is said to be over, not one that is valid for too long', () => {
  const overAt = (validBefore: number) => {
    const refusal = check(payment({ authorization: { validBefore: String(validBefore) } }));
    return refusal && refusal.isOver === true;
  };
  expect([overAt(NOW), overAt(NOW + 25 * 3_600), overAt(NOW + 300)]).toEqual([true, false, null]);
});

test('an authorization that is too late or too early is told with our time and its own', () => {
  const next = { action: 'fix_clock', serverTime: NOW };
  const at = (times: object) => check(payment({ authorization: times }));
  const late = { validAfter: String(NOW - 1_200), validBefore: String(NOW - 300) };
  expect(at(late)).toMatchObject({ reason: 'authorization_invalid', next: { ...next, ...late } });
  const early = { validAfter: String(NOW + 600), validBefore: String(NOW + 900) };
  expect(at(early)).toMatchObject({ reason: 'authorization_invalid', next: { ...next, ...early } });
  expect(at({ validAfter: '9'.repeat(60) })).toMatchObject({ next: { ...next, validAfter: '9'.repeat(60) } });
});

test('an authorization must last six seconds and two block times more', () => {
  const times = (validBefore: number, blockTimeMs = 2_000) =>
    checkTimes({ validAfter: 0n, validBefore: BigInt(validBefore) }, NOW, { blockTimeMs });
  expect(times(NOW + 10)).toBeNull();
  expect(times(NOW + 9)).not.toBeNull();
  expect(times(NOW + 7, 250)).toBeNull();
  expect(times(NOW + 6, 250)).not.toBeNull();
  expect(checkTimes({ validAfter: BigInt(NOW), validBefore: BigInt(NOW + 60) }, NOW, LIMITS)).toBeNull();
});

test('an authorization that could be used for more than a day is refused at intake, and never for that later', () => {
  const day = 24 * 3_600;
  const until = (seconds: number) => check(payment({ authorization: { validBefore: String(NOW + seconds) } }));
  expect(until(day)).toBeNull();
  expect(until(day + 1)).toMatchObject({ reason: 'authorization_invalid', next: { action: 'fix_request' } });
  expect(checkTimes({ validAfter: 0n, validBefore: BigInt(NOW + 9 * day) }, NOW, LIMITS)).toBeNull();
});
