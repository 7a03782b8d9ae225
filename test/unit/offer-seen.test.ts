import { expect, test } from 'vitest';
import { judgeSight } from '../../modules/storefront/rules/offerSeen.ts';

const payTo = `0x${'ab'.repeat(20)}`;
const sold = { priceMicro: 5_000n, payTo: new Map([['eip155:84532', payTo]]) };
const entry = { network: 'eip155:84532', amount: '5000', payTo: payTo.toUpperCase().replace('0X', '0x') };
const offer = (accepts: unknown, x402Version: unknown = 2): string =>
  Buffer.from(JSON.stringify({ x402Version, accepts })).toString('base64');
const answered = (status: number, paymentRequired?: string) => judgeSight({ ok: true, status, paymentRequired }, sold);

test('an offer of the price, to the payees, on the networks of the page is good', () => {
  expect(answered(402, offer([entry]))).toEqual({ passed: true, says: expect.stringContaining('0.005 USD') });
});

test.each([
  ['another price', offer([entry, { ...entry, amount: '6000' }]), /0\.006 USD, and the price is 0\.005 USD/],
  ['an amount that is none', offer([{ ...entry, amount: '<b>5000</b>' }]), /no price/],
  ['another payee', offer([{ ...entry, payTo: `0x${'cd'.repeat(20)}` }]), /pays somebody else/],
  ['another network', offer([{ ...entry, network: 'eip155:1' }]), /pays somebody else/],
  ['an object for a network', offer([{ ...entry, network: { toString: 1 } }]), /offer that can be paid/],
  ['an older offer', offer([entry], 1), /offer that can be paid/],
  ['no entries', offer([]), /offer that can be paid/],
  ['no list', offer({ 0: entry }), /offer that can be paid/],
  ['no header', undefined, /offer that can be paid/],
  ['no base64 of JSON', '<script>alert(1)</script>', /offer that can be paid/],
  ['null', Buffer.from('null').toString('base64'), /offer that can be paid/],
])('a 402 with %s is not, and nothing of its text is repeated', (_what, header, says) => {
  const verdict = answered(402, header);
  expect(verdict).toEqual({ passed: false, says: expect.stringMatching(says) });
  expect(verdict.says).not.toMatch(/</);
});

test.each([
  [200, /free/],
  [204, /free/],
  [302, /elsewhere/],
  [401, /password/],
  [403, /block list/],
  [404, /no page/],
  [418, /418/],
  [503, /fails \(503\)/],
])('a site that answers agents with %d is told what to do', (status, says) => {
  expect(answered(status)).toEqual({ passed: false, says: expect.stringMatching(says) });
});

test.each(['dns_error', 'blocked_address', 'timeout', 'tls_error', 'connection_failed', 'whatever'])(
  'a site that cannot be asked (%s) is not sold from',
  (reason) => {
    expect(judgeSight({ ok: false, reason }, sold).passed).toBe(false);
  },
);
