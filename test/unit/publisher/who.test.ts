import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderCrawlers } from '../../../packages/publisher/bin/crawlers.mjs';
import { preflightAnswer } from '../../../packages/publisher/src/answers.ts';
import { createClassifier } from '../../../packages/publisher/src/core/who.ts';
import { isPreflight, licenceOf, paymentOf, wantsToPay } from '../../../packages/publisher/src/request.ts';
import { spentMs } from '../../support/turns.ts';

const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18',
  '',
];
const AGENTS = [
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot',
  'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)',
  'Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)',
  'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
  'node',
  'undici',
  'python-requests/2.32.3',
  'python-httpx/0.28.1',
  'curl/8.5.0',
  'Go-http-client/2.0',
  'axios/1.7.9',
  'Java/21.0.2',
  'CCBot/2.0',
];

test.each(BROWSERS)('%j is a person', (ua) => {
  expect(createClassifier(null)(ua)).toEqual({ who: 'person', reason: 'person' });
});
test.each(AGENTS)('%s is an agent', (ua) => {
  expect(createClassifier(null)(ua).who).toBe('agent');
});
test.each(['Googlebot/2.1', 'bingbot/2.0', 'DuckDuckBot/1.1', 'Applebot/0.1'])('%s searches, and reads free', (ua) => {
  expect(createClassifier(null)(`Mozilla/5.0 (compatible; ${ua})`).who).toBe('search');
});

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

test('the list of crawlers is the one that robots.json makes', () => {
  expect(readFileSync(new URL('../../../packages/publisher/src/core/crawlers.generated.ts', import.meta.url), 'utf8')).toBe(
    renderCrawlers(),
  );
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
