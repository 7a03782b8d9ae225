import { expect, test } from 'vitest';
import { preflightAnswer } from '../../../packages/publisher/src/answers.ts';
import { createClassifier } from '../../../packages/publisher/src/core/who.ts';
import { isPreflight, licenceOf, paymentOf, wantsToPay } from '../../../packages/publisher/src/request.ts';
import { spentMs } from '../../support/turns.ts';

test('a crawler’s name counts as a whole word', () => {
  const classify = createClassifier(null);
  const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
  expect(classify(`${browser} Code/1.99`).reason).toBe('crawler_list');
  for (const word of ['Decoder/1', 'operators/2', 'yaks/3', 'my-Code/1'])
    expect([word, classify(`${browser} ${word}`).who]).toEqual([word, 'person']);
});

test('block wins over allow, allow over charge, the owner over the lists', () => {
  const classify = createClassifier({
    seoAllowlist: ['goodsearch'],
    crawlerPolicy: { block: ['blocked'], allow: ['gptbot', 'blocked-friend'], charge: ['charged', 'goodsearch-ai'] },
  });
  expect(classify('Blocked-Friend/1 charged').reason).toBe('policy_block');
  expect(classify('GPTBot/1 charged').reason).toBe('policy_allow');
  expect(classify('GoodSearch-AI/1').reason).toBe('policy_charge');
  expect(classify('GoodSearch/1').reason).toBe('search_engine');
  expect(classify('ClaudeBot/1').reason).toBe('crawler_list');
  expect(classify('Googlebot/2.1').reason).toBe('isbot');
});

test('a User-Agent of any length takes no time', () => {
  const classify = (): void => {
    for (let index = 0; index < 50; index++) createClassifier(null)(`${'Mozilla/5.0 (compatible; '.repeat(4_000)}${index}`);
  };
  expect(spentMs(classify)).toBeLessThan(1_000);
});

const request = (headers: Record<string, string>, method = 'GET') => ({ method, header: (name: string) => headers[name] });
const signed = (signature: string, spaces = 0) => btoa(JSON.stringify({ payload: { signature } }, null, spaces));

test('two headers with one payment are one, with different ones or unreadable ones two, and what is longer than a payment is none', () => {
  expect(paymentOf(request({}))).toEqual({ state: 'none' });
  expect(paymentOf(request({ 'x-payment': 'a' }))).toEqual({ state: 'one', value: 'a' });
  expect(paymentOf(request({ 'x-payment': signed('0x1', 2), 'payment-signature': signed('0x1') })).state).toBe('one');
  expect(paymentOf(request({ 'x-payment': signed('0x1'), 'payment-signature': signed('0x2') })).state).toBe('two');
  expect(paymentOf(request({ 'x-payment': 'a', 'payment-signature': 'b' })).state).toBe('two');
  expect(paymentOf(request({ 'x-payment': 'A'.repeat(16_385) })).state).toBe('long');
});

test('who speaks of money wants to pay; a browser that asks for another origin’s page is only asked about payments', () => {
  for (const name of ['payment-signature', 'x-payment', 'crawler-max-price', 'crawler-exact-price'])
    expect(wantsToPay(request({ [name]: '1' }))).toBe(true);
  expect(wantsToPay(request({ authorization: 'License a.b.c' }))).toBe(true);
  expect(wantsToPay(request({ authorization: 'Bearer a' }))).toBe(false);
  expect([
    licenceOf(request({ authorization: 'license  a.b.c ' })),
    licenceOf(request({ authorization: 'License a b' })),
  ]).toEqual(['a.b.c', null]);
  for (const names of ['x-payment, a', 'Payment-Signature', 'accept,crawler-max-price', 'crawler-exact-price'])
    expect([names, isPreflight(request({ 'access-control-request-headers': names }, 'OPTIONS'))]).toEqual([names, true]);
  expect(isPreflight(request({ 'access-control-request-headers': 'authorization' }, 'OPTIONS'))).toBe(false);
  expect(isPreflight(request({ 'access-control-request-headers': 'not-x-payment' }, 'OPTIONS'))).toBe(false);
});

test('what an agent may send is what a browser may send for it from another origin', () => {
  // Without cookies the asterisk stands for every name but `Authorization` (Fetch standard).
  expect(preflightAnswer().headers['access-control-allow-headers']).toBe('*, Authorization');
});
