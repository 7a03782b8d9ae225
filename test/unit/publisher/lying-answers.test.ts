/** Whatever answers in the service's place: the site's process goes on, no page is lost to a reader, and no buyer is asked to pay twice. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../modules/kernel/errors.ts';
import { ERROR_CODES, ServiceError } from '../../../modules/kernel/errors.ts';
import { refusalAnswer, waitAnswer } from '../../../packages/publisher/src/answers.ts';
import { createClient } from '../../../packages/publisher/src/client.ts';
import { isConfig, isQuote, isReceipt } from '../../../packages/publisher/src/shapes.ts';
import type { Lies } from '../../support/lying-service.ts';
import { buy, CONFIG, QUOTE, RECEIPT, serviceThat, told } from '../../support/lying-service.ts';
import { openExpressSite, openFetchSite, UA } from '../../support/publisher-site.ts';

const uncaught: unknown[] = [];
const hear = (error: unknown) => void uncaught.push(error);
beforeEach(() => void process.on('unhandledRejection', hear));
afterEach(() => {
  process.off('unhandledRejection', hear);
  expect(uncaught.splice(0)).toEqual([]);
});

const refused = () => told({ error: 'no' }, 402);
/** Good for the first offer, bad for the one after a refusal: the one that is known is made again. */
const turning = (body: unknown) => {
  let asked = 0;
  return () => told(asked++ === 0 ? QUOTE : body);
};
const LIES: readonly (readonly [string, () => Lies, number])[] = [
  [
    'an offer that is not base64',
    () => ({ verify: refused, quote: turning({ ...QUOTE, x402: { header: '%%%', body: {} } }) }),
    402,
  ],
  ['a title that is no text', () => ({ verify: refused, quote: turning({ ...QUOTE, title: 7 }) }), 402],
  ['payees that are none', () => ({ verify: refused, quote: turning({ ...QUOTE, payees: [{ authorId: 7, share: 1 }] }) }), 402],
  ['a licence with a line break', () => ({ verify: () => told({ ...RECEIPT, licenseJws: 'a\r\nb' }) }), 503],
  ['a licence that is no text', () => ({ verify: () => told({ ...RECEIPT, licenseJws: [7] }) }), 503],
  ['no receipt', () => ({ verify: () => told(null) }), 503],
];
describe.each([
  ['Express', openExpressSite],
  ['a fetch handler', openFetchSite],
])('%s', (_name, open) => {
  test.each(LIES)(
    '%s: the buyer gets a good offer after a refusal, else none, and the next reader the page',
    async (_lie, lies, status) => {
      const shop = await open({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: serviceThat(lies()) });
      try {
        const bought = await buy(shop, { accept: 'text/html' });
        expect([bought.status, bought.headers.get('payment-required')]).toEqual([
          status,
          status === 402 ? expect.stringMatching(/^eyJ/) : null,
        ]);
        expect((await shop.get('/articles/solo', { 'user-agent': UA.person })).status).toBe(200);
      } finally {
        await shop.close();
      }
    },
  );

  test('what the service says to do about a refusal stands in the body of the next offer, and what is none of its words does not', async () => {
    const fund = { action: 'fund', address: '0x1', needsMicro: 3_000 };
    for (const [next, shown] of [
      [fund, fund],
      [undefined, { action: 'sign_again' }],
      [{ action: '<b>' }, { action: 'sign_again' }],
      [{ action: 'fund', more: 'x'.repeat(2_000) }, { action: 'sign_again' }],
    ]) {
      const verify = () => told({ ok: false, error: 'insufficient_funds: too little', next }, 402);
      const shop = await open({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: serviceThat({ verify }) });
      try {
        expect(await (await buy(shop)).json()).toMatchObject({ error: 'insufficient_funds: too little', next: shown });
      } finally {
        await shop.close();
      }
    }
  });

  test('a gate refuses in the shape of the service: code, sentence, and what to do next', async () => {
    const refusal = () => told({ error: 'agent_refused: no' }, 403, { 'x-svc-error-code': 'agent_refused' });
    const busy = () => told({ error: 'overloaded: no' }, 503, { 'retry-after': '7', 'x-svc-error-code': 'overloaded' });
    const ask = async (lies: Lies, headers: Readonly<Record<string, string>> = {}) => {
      const shop = await open({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: serviceThat(lies) });
      try {
        const answer = await buy(shop, headers);
        return [answer.status, answer.headers.get('x-svc-error-code'), await answer.json()];
      } finally {
        await shop.close();
      }
    };
    expect(await ask({ quote: refusal })).toEqual([
      403,
      'agent_refused',
      { error: 'agent_refused: this site does not serve this agent', next: { action: 'ask_owner' } },
    ]);
    expect(await ask({ verify: busy })).toEqual([
      503,
      'overloaded',
      { error: 'overloaded: please try again shortly, with the same payment', next: { action: 'wait', seconds: 7 } },
    ]);
  });

  test('of headers that an offer names besides, a 402 has the links alone: its price is that of its quote, its reason the gate’s', async () => {
    const named = {
      link: '</llms.txt>; rel="alternate"',
      'crawler-price': 'USD 0.00',
      'www-authenticate': 'Basic',
      'set-cookie': 'a=b',
      'access-control-allow-origin': 'https://evil.example',
      'content-signal': 'ai-train=yes',
      'content-usage': 'train-ai=y',
    };
    const quote = () => told({ ...QUOTE, x402: { ...QUOTE.x402, headers: named } });
    const shop = await open({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: serviceThat({ quote }) });
    try {
      const answer = await shop.get('/articles/solo', { 'user-agent': UA.agent });
      const heard = Object.keys(named).map((name) => [name, answer.headers.get(name)]);
      expect([answer.status, Object.fromEntries(heard)]).toEqual([
        402,
        {
          link: named.link,
          'crawler-price': 'USD 0.001',
          'set-cookie': null,
          'content-signal': null,
          'content-usage': null,
          'www-authenticate': expect.stringMatching(/^License error="invalid_request"/),
          'access-control-allow-origin': '*',
        },
      ]);
    } finally {
      await shop.close();
    }
  });

  test.each([
    ['resources that are no list', () => told({ ...CONFIG, manifest: { resources: 'x' } })],
    ['nothing', () => told(null)],
    ['"as before" before anything', () => new Response(null, { status: 304 })],
  ])('settings with %s are none, and are read again after ten seconds', async (_lie, answer) => {
    let lies = true;
    let ms = Date.now();
    const service = serviceThat({ 'enforce-config': () => (lies ? answer() : told(CONFIG)) });
    const shop = await open({ serviceUrl: 'https://svc.example', apiKey: 'k', now: () => ms, fetch: service });
    try {
      expect((await buy(shop)).status).toBe(200);
      expect(shop.failures[0]).toMatchObject({ what: 'config' });
      lies = false;
      ms += 10_001;
      await shop.get('/', { 'user-agent': UA.agent });
      await expect.poll(async () => (await shop.get('/articles/solo', { 'user-agent': UA.agent })).status).toBe(402);
    } finally {
      await shop.close();
    }
  });
});

test('of an answer no more than a mebibyte is read, and a longer one is a failed call', async () => {
  let sent = 0;
  const endless = () =>
    new ReadableStream({
      pull: (to) => {
        sent += 65_536;
        to.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
  const client = createClient({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: async () => new Response(endless()) });
  expect(await client.config()).toMatchObject({ ok: false, why: 'status', status: 502 });
  expect(sent).toBeLessThan(2 * 1_024 * 1_024);
  const long = told({ keys: [], more: 'é'.repeat(500_000) });
  const honest = createClient({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: async () => long });
  expect(await honest.jwks()).toMatchObject({ ok: true, body: { keys: [] } });
});

test.each([
  ['a price', { price: -1 }],
  ['legs', { legs: null }],
  ['a slug', { slug: 7 }],
  ['payees', { payees: 'x' }],
  ['an end', { expiresAt: 'soon' }],
  ['an offer', { x402: { header: btoa('[]'), body: {} } }],
  ['an offer of version 1', { x402: { header: btoa('{}'), body: null } }],
])('a quote without %s is none', (_name, wrong) => {
  expect([isQuote(QUOTE), isQuote({ ...QUOTE, ...wrong })]).toEqual([true, false]);
});

test.each([
  ['a scope', { gateScope: { mode: 'site' } }],
  ['lists of text', { seoAllowlist: [7] }],
  ['a policy', { crawlerPolicy: { allow: [], charge: [] } }],
  ['prefixes', { articlePrefixes: [null] }],
])('settings without %s are none', (_name, wrong) => {
  expect([isConfig(CONFIG), isConfig({ ...CONFIG, enforcement: { ...CONFIG.enforcement, ...wrong } })]).toEqual([true, false]);
  expect([isReceipt(RECEIPT), isReceipt('a.b.c')]).toEqual([true, false]);
});

test('what the gate refuses by itself has a code of the service’s list, a sentence, and what the list says to do next', () => {
  for (const answer of [waitAnswer(7), refusalAnswer(400), refusalAnswer(403)]) {
    const { error, next } = JSON.parse(answer.body) as { error: string; next: { action: string } };
    const code = answer.headers['x-svc-error-code'] as ErrorCode;
    expect(ERROR_CODES).toContain(code);
    expect(error).toMatch(new RegExp(`^${code}: [a-z]`));
    expect(next.action).toBe(new ServiceError(code, 'a sentence').next.action);
  }
});
