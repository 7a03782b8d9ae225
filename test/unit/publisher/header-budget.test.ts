/** All headers of ours on an answer have at most 2,560 bytes, so that a site behind nginx's 4 KB keeps room for its own. */
import { describe, expect, test } from 'vitest';
import { offerAnswer, paidHeaders } from '../../../packages/publisher/src/answers.ts';
import type { LongCase } from '../../support/longOffers.ts';
import { bytesOfHeaders, LONG_CASES, LONG_REFUSAL, longQuote, longSale } from '../../support/longOffers.ts';

const MOST = 2_560;
const nameOf = ({ authors, host, urlChars, title, networks }: LongCase): string =>
  `${authors} authors, host ${host.length}, URL ${urlChars}, title ${title.length}, ${networks} networks`;
const rows = LONG_CASES.map((one) => [nameOf(one), one] as const);
const v2Of = (headers: Readonly<Record<string, string>>) =>
  JSON.parse(Buffer.from(headers['payment-required'] ?? '', 'base64').toString('utf8'));

describe('with every extension on', () => {
  test.each(rows)('the offer fits, says what a client needs to pay, and its body says all of it: %s', async (_name, one) => {
    const quote = await longQuote(one);
    const asked = { accept: '*/*', isHead: false } as const;
    const first = offerAnswer(quote, {
      ...asked,
      error: undefined,
      licenseError: 'insufficient_scope',
      crawlerError: 'CrawlerForbidden',
    });
    const settlement = { headers: new Headers({ 'payment-response': LONG_REFUSAL }) };
    const refused = offerAnswer(quote, { ...asked, error: `settlement_failed: ${'“why” '.repeat(60)}`, settlement });
    const unproven = offerAnswer(quote, { ...asked, error: 'unknown_credential: the wallet bought nothing here' });
    for (const { headers, body } of [first, refused, unproven]) {
      expect(bytesOfHeaders(headers)).toBeLessThanOrEqual(MOST);
      const { x402Version, resource, accepts } = v2Of(headers);
      expect([x402Version, resource.url.length, accepts[0].extra.version]).toEqual([2, one.urlChars, '2']);
      const names = Object.keys(JSON.parse(body).extensions);
      expect(names).toEqual(['offer-receipt', 'sign-in-with-x', 'bazaar', 'svc-licence', 'terms', 'svc-legs']);
      expect(JSON.parse(body).legs).toHaveLength(one.authors);
    }
    expect(v2Of(first.headers).accepts).toHaveLength(Math.min(one.networks, one.urlChars === 512 ? 3 : 4));
    if (one.urlChars >= 100 || one.networks > 1) return;
    expect(v2Of(first.headers).extensions).toHaveProperty('offer-receipt');
    const { headers } = offerAnswer(await longQuote(one, false), { ...asked, error: 'unknown_credential: the nonce was used' });
    expect(v2Of(headers).extensions['sign-in-with-x'].info.nonce).toMatch(/^[0-9a-f]{52,}$/);
  });

  test.each(rows)('what a sale puts on the page fits, for both versions of x402: %s', async (_name, one) => {
    for (const version of [1, 2] as const) {
      const { licence, response } = await longSale(one, version);
      const headers = new Headers({ 'payment-response': response, 'x-payment-response': response });
      const paid = paidHeaders({ headers, licence, chargedMicro: '999999999999999' });
      expect(bytesOfHeaders(paid)).toBeLessThanOrEqual(MOST);
      expect(paid['x-licence']).toBe(licence);
      expect(JSON.parse(Buffer.from(response, 'base64').toString()).transaction).toMatch(/^0xf{64}$/);
    }
  });
});

test('a page whose URL is longer than what fits is refused when it is quoted, so that nobody signs or settles anything for it', async () => {
  const [shortest] = LONG_CASES as [LongCase];
  await expect(longQuote({ ...shortest, urlChars: 513 })).rejects.toMatchObject({
    code: 'invalid_resource',
    details: { parameter: 'resource' },
  });
  expect((await longQuote({ ...shortest, urlChars: 512 })).resource).toHaveLength(512);
});
