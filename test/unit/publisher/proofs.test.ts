/** What a wallet's proof costs a site, and what comes of it when the service does not say. */
import { expect, test } from 'vitest';
import type { Client, Quote, Result } from '../../../packages/publisher/src/client.ts';
import { openProofs } from '../../../packages/publisher/src/knowing/proofs.ts';
import { withOwnNonce } from '../../../packages/publisher/src/selling/ownNonce.ts';

type Told = Awaited<ReturnType<Client['prove']>>;
const PAGE = {
  path: '/articles/solo',
  origin: 'https://alpha.example',
  resource: 'https://alpha.example/articles/solo',
  spellings: ['/articles/solo'],
  mayBeForm: false,
  form: null,
  kind: 'read' as const,
  userAgent: '',
  signed: {} as never,
};
const header = (changes: object = {}) =>
  btoa(JSON.stringify({ domain: 'alpha.example', nonce: 'n', signature: '0x', ...changes }));
const good: Told = { ok: true, status: 200, headers: new Headers(), body: { entitled: true, license: 'a.b.c' } };
const failed = (failure: object): Told => ({ ok: false, why: 'status', ...failure }) as Result<never>;

function opened(answer: () => Promise<Told>) {
  let asked = 0;
  let nowMs = 0;
  const noted: string[] = [];
  const prove = () => {
    asked += 1;
    return answer();
  };
  const client = { prove } as unknown as Client;
  const failures = { note: ({ what }: { what: string }) => void noted.push(what), counts: () => ({}) };
  const proofs = openProofs({ client, now: () => nowMs, failures });
  const judge = (value = header()) => proofs.judge(PAGE, 'solo', value);
  return { judge, noted, asked: () => asked, pass: (ms: number) => (nowMs += ms) };
}

test('what is no message about the site asks nobody', async () => {
  const { judge, asked } = opened(async () => good);
  for (const bad of [
    '%%%',
    btoa('null'),
    btoa('[]'),
    btoa('no'),
    header({ signature: 1 }),
    header({ domain: 'evil.example' }),
    'a'.repeat(16_385),
  ])
    expect(await judge(bad)).toEqual({ state: 'bad', error: expect.stringMatching(/^unknown_credential: /) });
  expect(asked()).toBe(0);
});

test('sixteen proofs are asked about at once and fifty a second; whoever comes above that may have paid, and is told to come back', async () => {
  const waiting: (() => void)[] = [];
  const { judge, asked } = opened(() => new Promise((resolve) => waiting.push(() => resolve(good))));
  const first = Array.from({ length: 16 }, () => judge());
  expect(await judge()).toEqual({ state: 'busy', retryAfter: 1 });
  for (const answer of waiting.splice(0)) answer();
  expect(await Promise.all(first)).toEqual(Array(16).fill({ state: 'good', licence: 'a.b.c' }));
  const quick = opened(async () => good);
  const states = [];
  for (let n = 0; n < 60; n++) states.push((await quick.judge()).state);
  expect([states.filter((state) => state === 'good').length, quick.asked()]).toEqual([50, 50]);
  quick.pass(1_000);
  expect((await quick.judge()).state).toBe('good');
  expect(asked()).toBe(16);
});

test.each([
  [
    'is refused by a sentence',
    { ...good, body: { entitled: false, error: 'unknown_credential: no' } },
    { state: 'bad', error: 'unknown_credential: no' },
  ],
  ['holds nothing', { ...good, body: { entitled: false } }, { state: 'bad' }],
  ['gets what is no licence', { ...good, body: { entitled: true, license: 'a b' } }, { state: 'bad' }],
  [
    'gets a licence that fits into no header',
    { ...good, body: { entitled: true, license: `a.${'b'.repeat(4_096)}.c` } },
    { state: 'bad' },
  ],
  [
    'is told a sentence that fits into no header',
    { ...good, body: { entitled: false, error: 'a\r\nset-cookie: b' } },
    { state: 'bad' },
  ],
  ['meets nothing at all', { ...good, body: null as never }, { state: 'bad' }],
  ['meets a service of before', failed({ status: 404 }), { state: 'bad' }],
  ['is no question', failed({ status: 400 }), { state: 'bad' }],
  ['finds no room', failed({ status: 503, code: 'overloaded', retryAfter: 2 }), { state: 'busy', retryAfter: 2 }],
  ['finds no chain', failed({ status: 503, code: 'chain_unavailable' }), { state: 'busy', retryAfter: 5 }],
  ['finds nobody', { ok: false, why: 'timeout' } as Told, { state: 'busy', retryAfter: 5 }],
])('a wallet that %s', async (_what, told, state) => {
  expect(await opened(async () => told as Told).judge()).toEqual(state);
});

test('an offer that is shown to many asks each for words of its own, and says the same besides', () => {
  const nonce = '0'.repeat(76);
  const v2 = { error: 'Bezahlen: 5 €', extensions: { 'sign-in-with-x': { info: { nonce, domain: 'alpha.example' } } } };
  const text = new TextEncoder().encode(JSON.stringify(v2));
  const offered = { header: btoa(String.fromCharCode(...text)), body: {} };
  const quote = { x402: offered } as unknown as Quote;
  const shown = Array.from({ length: 100 }, () =>
    JSON.parse(Buffer.from(withOwnNonce(quote, offered.header), 'base64').toString('utf8')),
  );
  const nonces = shown.map(({ extensions }) => extensions['sign-in-with-x'].info.nonce as string);
  expect([new Set(nonces).size, nonces.every((one) => /^0{76}[0-9a-f]{20}$/.test(one))]).toEqual([100, true]);
  expect(shown[0]).toMatchObject({
    error: 'Bezahlen: 5 €',
    extensions: { 'sign-in-with-x': { info: { domain: 'alpha.example' } } },
  });
  for (const header of [
    btoa('{}'),
    btoa('{"extensions":null}'),
    btoa('{"extensions":{"sign-in-with-x":{"info":{"nonce":"$&"}}}}'),
  ])
    expect(withOwnNonce({ x402: { header, body: {} } } as unknown as Quote, header)).toBe(header);
});

test('wherever its nonce stands, an offer is the same but for it', () => {
  for (let shift = 0; shift < 6; shift += 1) {
    for (const tail of ['', 'a', 'ab', 'abc']) {
      const nonce = '0123456789abcdef'.repeat(2) + '0'.repeat(shift % 4);
      const offer = { pad: 'é'.repeat(shift), extensions: { 'sign-in-with-x': { info: { nonce } } }, tail };
      const text = Buffer.from(JSON.stringify(offer)).toString('base64');
      const quote = { x402: { header: text, body: {} } } as unknown as Quote;
      const shown = JSON.parse(Buffer.from(withOwnNonce(quote, text), 'base64').toString('utf8')) as typeof offer;
      const own = shown.extensions['sign-in-with-x'].info.nonce;
      expect(own).toMatch(new RegExp(`^${nonce}[0-9a-f]{20}$`));
      expect(shown).toEqual({ ...offer, extensions: { 'sign-in-with-x': { info: { nonce: own } } } });
      expect(withOwnNonce(quote, text)).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    }
  }
});
