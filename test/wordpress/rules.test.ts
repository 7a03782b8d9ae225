/** The plugin's pure rules beside those of the JavaScript package, without a WordPress; and the form of its files. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keccak256 } from 'viem';
import { expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { DEFAULT_FORMS } from '../../modules/kernel/pages/forms.ts';
import { KNOWN_VISITORS as visitors } from '../../packages/publisher/src/cli/knownVisitors.ts';
import { crawlerErrorOf } from '../../packages/publisher/src/core/crawlerError.ts';
import type { Facts } from '../../packages/publisher/src/core/decide.ts';
import { decide } from '../../packages/publisher/src/core/decide.ts';
import { clipText, fitOffer } from '../../packages/publisher/src/core/fitOffer.ts';
import { tokensIn } from '../../packages/publisher/src/core/forms.ts';
import { pathnameOf, plainPath, slugOf } from '../../packages/publisher/src/core/page.ts';
import { createClassifier } from '../../packages/publisher/src/core/who.ts';
import { nextOf } from '../../packages/publisher/src/shapes.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import { CLAIM_ROWS, GOOGLE, NOW, OF_GOOGLE, OF_OTHERS, PAYS } from '../support/claims-rows.ts';
import { ACCEPTS, FORMS } from '../support/forms.ts';
import { bytesOfHeaders, LONG_CASES, LONG_REFUSAL, longQuote, longSale } from '../support/longOffers.ts';
import { scaled } from '../support/patience.ts';
import { newWallet } from '../support/payments.ts';
import { SPELLINGS_OF_SOLO } from '../support/spellings.ts';

const path = (text: string): string => fileURLToPath(new URL(text, import.meta.url));
const PLUGIN = path('../../packages/wordpress/content-settlement/');
const files = readdirSync(PLUGIN, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.php'));

/** Results of pure functions of the plugin. */
function call(calls: readonly (readonly [string, string, readonly unknown[]])[]): unknown[] {
  return JSON.parse(
    execFileSync('php', [path('site/pure.php')], { input: JSON.stringify(calls), encoding: 'utf8', maxBuffer: 1e8 }),
  );
}

const WHO = ['person', 'search', 'robot', 'allowed', 'blocked', 'agent'] as const;
const METHODS = { GET: 'GET', HEAD: 'HEAD' } as const;
const PAYMENTS = ['none', 'one', 'two'] as const;
const PROOFS = ['none', 'good', 'bad', 'busy'] as const;
const LICENCES = ['none', 'good', 'busy'] as const;
const QUOTES = ['free', 'priced', 'away', 'busy', 'refused', 'bad'] as const;

test('every combination of facts is decided as the JavaScript package decides it', () => {
  const rows = WHO.flatMap((who) =>
    [true, false].flatMap((isInScope) =>
      Object.keys(METHODS).flatMap((method) =>
        PAYMENTS.flatMap((payment) =>
          LICENCES.flatMap((licence) =>
            QUOTES.flatMap((quote) => PROOFS.map((proof) => ({ who, isInScope, method, payment, licence, quote, proof }))),
          ),
        ),
      ),
    ),
  );
  const ours = call(
    rows.map(({ isInScope, ...same }) => ['Decision', 'of', [{ ...same, in_scope: isInScope, is_partial: false }]]),
  );
  const theirs = rows.map(({ method, ...same }) => {
    const facts: Facts = {
      ...same,
      isOurs: false,
      isAside: false,
      config: 'known',
      method: METHODS[method as keyof typeof METHODS],
    };
    const decision = decide(facts);
    const isWait = decision.act === 'refuse' && decision.status === 503;
    const isLook = decision.act === 'offer' && method === 'HEAD';
    const verdict = 'verdict' in decision ? (decision.verdict ?? null) : null;
    const error = 'error' in decision ? (decision.error ?? '') : '';
    const next = 'next' in decision ? (decision.next ?? '') : '';
    const isReject = decision.act === 'refuse' && decision.status === 400;
    return { act: isWait ? 'wait' : isReject ? 'reject' : isLook ? 'discover' : decision.act, verdict, error, next };
  });
  expect(rows).toHaveLength(5_184);
  expect(ours).toEqual(theirs);
  // Where any server may answer another method with anything, WordPress answers it with the post.
  const posted = {
    who: 'agent',
    in_scope: true,
    method: 'POST',
    payment: 'one',
    licence: 'none',
    is_partial: false,
    quote: 'priced',
  };
  expect(call([['Decision', 'of', [posted]]])).toMatchObject([
    { act: 'offer', error: 'invalid_parameter: pay with GET', next: 'fix_request' },
  ]);
});

test('what is wrong with the price that a crawler names is told as the JavaScript package tells it', () => {
  const named = [
    '',
    '0',
    '0.003',
    'USD 0.003',
    'usd  0.0030',
    ' 0.002999 ',
    '3',
    'USD 0.0029999',
    'EUR 1',
    '-1',
    '1234567890',
    '0.003\n',
    'x',
  ];
  const rows = named.flatMap((max) => named.flatMap((exact) => [0, 3_000].map((price) => ({ max, exact, price }))));
  const ours = call(rows.map(({ max, exact, price }) => ['Crawler_Error', 'of', [price, max, exact]]));
  expect(ours).toEqual(rows.map(({ price, ...prices }) => crawlerErrorOf(price, prices) ?? ''));
  expect(new Set(ours)).toEqual(new Set(['', 'InvalidCrawlerMaxPrice', 'InvalidCrawlerExactPrice']));
});

test('what a wallet signed for another site, or nobody signed, costs no call; each offer asks for words of its own', () => {
  const sent = (message: unknown) => Buffer.from(JSON.stringify(message)).toString('base64');
  const message = { domain: 'a.example', nonce: 'ab', signature: '0x' };
  const rows = [
    [sent(message), ''],
    [sent({ ...message, domain: 'b.example' }), 'the message is for another site'],
    [sent({ ...message, domain: 'a.example:8443' }), 'the message is for another site'],
    [sent({ ...message, signature: 1 }), 'SIGN-IN-WITH-X is not readable'],
    [sent(null), 'SIGN-IN-WITH-X is not readable'],
    ['%%%', 'SIGN-IN-WITH-X is not readable'],
    ['a'.repeat(16_385), 'SIGN-IN-WITH-X is too long'],
  ];
  const resource = 'https://a.example/stories/two/';
  expect(call(rows.map(([header]) => ['Wallet_Proof', 'refuse', [header, resource]]))).toEqual(rows.map(([, told]) => told));
  const offerOf = (nonce: unknown) => sent({ x402Version: 2, extensions: { 'sign-in-with-x': { info: { nonce } } } });
  const nonce = 'ab'.repeat(16);
  const nonces = call([1, 2].map(() => ['Wallet_Proof', 'with_own_nonce', [offerOf(nonce)]] as const)).map(
    (header) => JSON.parse(Buffer.from(String(header), 'base64').toString()).extensions['sign-in-with-x'].info.nonce,
  );
  for (const own of nonces) expect(own).toMatch(new RegExp(`^${nonce}[0-9a-f]{20}$`));
  expect(new Set(nonces).size).toBe(2);
  const none = [offerOf('no nonce'), offerOf(1), sent({ x402Version: 2 })];
  expect(call(none.map((header) => ['Wallet_Proof', 'with_own_nonce', [header]]))).toEqual(none);
});

test('a payment for a part of a page is told the price', () => {
  const facts = { who: 'agent', in_scope: true, method: 'GET', payment: 'one', licence: 'none', quote: 'priced' };
  const [part, whole] = call([true, false].map((is_partial) => ['Decision', 'of', [{ ...facts, is_partial }]] as const));
  expect([part, whole]).toMatchObject([{ act: 'discover' }, { act: 'settle' }]);
});

test('after verify: the page, an offer only for what is decided, else waiting', () => {
  const table = [
    [200, '', 'page'],
    [402, 'insufficient_funds', 'offer'],
    [402, 'settlement_pending', 'wait'],
    ...[0, 400, 401, 403, 429, 500, 503].map((status) => [status, '', 'wait'] as const),
  ] as const;
  expect(call(table.map(([status, code]) => ['Decision', 'after_verify', [status, code]]))).toEqual(
    table.map(([, , act]) => act),
  );
});

test('readers are told apart as the JavaScript package tells them', () => {
  const lists = { seoAllowlist: ['googlebot'], crawlerPolicy: { allow: ['friend'], charge: ['odd'], block: ['bad'] } };
  const changed = {
    ...lists,
    visitorClasses: { preview: 'charge', ai: 'read', search: 'charge', feed: 'block', app: 'unheard of' },
  };
  const crawlers = Object.keys(JSON.parse(readFileSync(path('../../packages/publisher/bin/robots.json'), 'utf8')));
  const agents = [
    'bad friend odd',
    'Friend odd',
    'odd Googlebot',
    'Googlebot/2.1 GPTBot',
    'opencode/1',
    'MyCode',
    'x'.repeat(600),
    ...visitors.map(({ userAgent }) => userAgent),
    ...crawlers.flatMap((name) => [name, `Mozilla/5.0 (compatible; ${name}/1.0)`, `Mozilla/5.0 Chrome/142.0.0.0 not${name}`]),
  ];
  for (const policy of [{}, lists, changed]) {
    const classify = createClassifier(Object.keys(policy).length === 0 ? null : { ...lists, ...policy });
    const theirs = agents.map((agent) => classify(agent)).map(({ who, reason }) => [who, reason]);
    expect(call(agents.map((agent) => ['Classifier', 'judge', [agent, policy, false]]))).toEqual(theirs);
  }
  const asks = (accept: string) => call([['Classifier', 'judge', [visitors[0]?.userAgent, lists, false, accept]]])[0];
  expect([asks('text/html'), asks('text/markdown, */*')]).toEqual([
    ['person', 'person'],
    ['agent', 'pretender'],
  ]);
  const [paying] = call([
    ['Classifier', 'judge', ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', lists, true]],
  ]);
  expect(paying).toEqual(['agent', 'paying']);
});

test('keccak-256 is that of Ethereum, and a wallet is taken with its right checksum or with none', () => {
  const texts = ['', 'abc', 'a'.repeat(135), 'a'.repeat(136), 'a'.repeat(137), 'a'.repeat(1_000)];
  const hashes = texts.map((text) => keccak256(Buffer.from(text)).slice(2));
  expect(hashes[0]).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  expect(call(texts.map((text) => ['Keccak', 'hash256', [text]]))).toEqual(hashes);

  const wallets = Array.from({ length: 100 }, newWallet).map((wallet) => checksumAddress(wallet as Address));
  const same = (write: (wallet: string) => string) => call(wallets.map((wallet) => ['Wallet', 'clean', [write(wallet)]]));
  for (const write of [(wallet: string) => wallet, (wallet: string) => wallet.toLowerCase(), (wallet: string) => ` ${wallet}\n`])
    expect(same(write)).toEqual(wallets);
  expect(same((wallet) => `0x${wallet.slice(2).toUpperCase()}`)).toEqual(wallets);
  const turned = (wallet: string) =>
    wallet.replace(/[a-f]/i, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
  const mixed = wallets.map(turned).filter((wallet) => /[a-f]/.test(wallet.slice(2)) && /[A-F]/.test(wallet));
  expect(call(mixed.map((wallet) => ['Wallet', 'clean', [wallet]]))).toEqual(mixed.map(() => null));
  const none = [
    '',
    '0x',
    `0x${'0'.repeat(40)}`,
    `0x${'a'.repeat(39)}`,
    `0x${'a'.repeat(41)}`,
    'a'.repeat(42),
    `0x${'g'.repeat(40)}`,
  ];
  expect(call(none.map((text) => ['Wallet', 'clean', [text]]))).toEqual(none.map(() => null));
});

test('amounts are written with every digit', () => {
  const table = {
    '0': '0',
    '1': '0.000001',
    '3000': '0.003',
    '999999': '0.999999',
    '1000000': '1',
    '1500000': '1.5',
    '12000000000': '12000',
  };
  expect(call(Object.keys(table).map((micro) => ['Money', 'usd', [micro]]))).toEqual(Object.values(table));
});

test('a slug is what follows the longest prefix, in the plain form of the path', () => {
  const prefixes = ['/', '/stories/', '/stories/long/'];
  const paths = ['/', '/stories', '/stories/a', '/stories/long/b', '/other/c', '/stories/long'];
  expect(call(paths.map((one) => ['Page_Address', 'slug_of', [prefixes, one]]))).toEqual(
    paths.map((one) => slugOf(prefixes, one)),
  );
  const urls = ['https://h/', 'https://h/a//b/', 'https://h/%D1%81/?x=1', 'https://h'];
  expect(call(urls.map((url) => ['Page_Address', 'path_of', [url]]))).toEqual(['/', '/a/b', '/с', '/']);
});

test('every spelling of a path is read as the JavaScript package and the service read it', () => {
  const ours = call(SPELLINGS_OF_SOLO.map((one) => ['Page_Address', 'path_of', [`https://h.example${one}`]]));
  expect(ours).toEqual(SPELLINGS_OF_SOLO.map((one) => plainPath(pathnameOf(one) ?? '')));
  expect(ours).toEqual(SPELLINGS_OF_SOLO.map(() => '/articles/solo'));
});

test('the service is called over https, or on this machine', () => {
  const good = {
    'https://svc.example/': 'https://svc.example',
    'http://127.0.0.1:8402': 'http://127.0.0.1:8402',
    'HTTPS://SVC.example:8443/base/': 'https://svc.example:8443/base',
  };
  expect(call(Object.keys(good).map((text) => ['Settings', 'clean_address', [text]]))).toEqual(Object.values(good));
  const bad = [
    '',
    'svc.example',
    'http://svc.example',
    'ftp://svc.example',
    'https://user@svc.example',
    'https://svc.example/?a=1',
    'http://127.0.0.1.evil.example',
    'file:///etc/passwd',
    'http://10.0.0.1',
  ];
  expect(call(bad.map((text) => ['Settings', 'clean_address', [text]]))).toEqual(bad.map(() => null));
});

test('a licence grants its page to whoever shows it, or is the service’s to judge, or grants nothing', () => {
  const now = 1_800_000_000;
  const page = { issuer: 'https://svc.example', host: 'a.example', slug: 'solo', now, is_test: false };
  const svc = { v: 1, grant: 'read', site: 's', kind: 'read', slug: 'solo' };
  const claims = { iss: page.issuer, aud: 'https://a.example', exp: now + 600, nbf: now, iat: now, jti: 'j', svc };
  const rows: (readonly [object, string])[] = [
    [{}, 'plain'],
    [{ aud: ['https://b.example', 'https://a.example'] }, 'plain'],
    [{ svc: { ...svc, kind: 'citation' } }, 'plain'],
    [{ svc: { ...svc, slug: undefined, scope: ['/*'] } }, 'bound'],
    [{ svc: { ...svc, licence: 'l' } }, 'bound'],
    ...[{ address: `0x${'a'.repeat(40)}` }, { jkt: 'x' }, null].map((cnf) => [{ cnf }, 'none'] as const),
    [{ cnf: { address: `0x${'a'.repeat(40)}` }, svc: { ...svc, licence: 'l', scope: ['/*'] } }, 'none'],
    ...[{ iss: 'https://other.example' }, { aud: 'https://b.example' }, { exp: now }, { exp: undefined }, { nbf: now + 61 }].map(
      (change) => [change, 'none'] as const,
    ),
    ...[
      { iat: now + 61 },
      { jti: undefined },
      { svc: undefined },
      { svc: { ...svc, v: 2 } },
      { svc: { ...svc, grant: 'index' } },
    ].map((change) => [change, 'none'] as const),
    ...[{ kind: 'other' }, { slug: 'duo' }, { settlementRefKind: 'mock' }].map(
      (change) => [{ svc: { ...svc, ...change } }, 'none'] as const,
    ),
  ];
  expect(call(rows.map(([change]) => ['Licence_Proof', 'grant', [{ ...claims, ...change }, page]]))).toEqual(
    rows.map(([, grant]) => grant),
  );
  const mock = { ...claims, svc: { ...svc, settlementRefKind: 'mock' } };
  expect(call([['Licence_Proof', 'grant', [mock, { ...page, is_test: true }]]])).toEqual(['plain']);
});

test('what is a form of what, and who wants Markdown, is told as the service and the JavaScript package tell it', () => {
  const forms = FORMS.map(([slug]) => ['Forms', 'articles_of', [slug, DEFAULT_FORMS]] as const);
  expect(call(forms)).toEqual(FORMS.map(([, articles]) => articles));
  const accepts = ACCEPTS.map(([accept]) => ['Forms', 'prefers_markdown', [accept]] as const);
  expect(call(accepts)).toEqual(ACCEPTS.map(([, isMarkdown]) => isMarkdown));
  const texts = ['', 'a', 'four', 'fives', 'слово'];
  expect(call(texts.map((text) => ['Markdown', 'tokens_in', [text]]))).toEqual(
    texts.map((text) => tokensIn(Buffer.byteLength(text))),
  );
});

/** What PHP, with these settings, sends of a page that is converted as after a payment. */
function converted(page: string, settings: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}=${value}`]);
  const input = JSON.stringify([['Markdown', 'or_page', [page]]]);
  return spawnSync('php', [...given, path('site/pure.php')], { input, encoding: 'utf8', maxBuffer: 1e8, timeout: scaled(15_000) })
    .stdout;
}

test('lists are numbered from where they start, within each other, and twenty thousand items take no longer than a page may', () => {
  const nested =
    '<main><ol start="9"><li>a</li> <li>b<ul><li>c</li></ul></li><li>d<ol><li>e</li></ol></li></ol><ol><li>f</li></ol></main>';
  const [text = ''] = JSON.parse(converted(nested));
  expect(text.match(/\S+ [a-f]$/gm)).toEqual(['9. a', '10. b', '- c', '11. d', '1. e', '1. f']);
  const [long = ''] = JSON.parse(converted(`<ol>${'<li>x'.repeat(20_000)}</ol>`));
  expect(long.slice(-9)).toBe('20000. x\n');
});

test.each([
  ['longer than 256 KiB', `<p>${'x'.repeat(256 * 1_024)}</p>`],
  ['of eighty thousand levels', '<b>'.repeat(80_000)],
  ['of too many nodes', '<br>'.repeat(60_000)],
  ['that takes too long', `${'<blockquote>'.repeat(190)}${'<p>x\n</p>'.repeat(20_000)}`],
])('a page %s is given as HTML', (_name, page) => {
  expect(JSON.parse(converted(page))).toEqual([page]);
});

test('a page that was paid for goes out as HTML, whole, where PHP has little memory left, and where it ends the conversion', () => {
  const page = `<ol>${'<li>item</li>'.repeat(15_000)}</ol>`;
  expect(JSON.parse(converted(page, { memory_limit: '30M' }))).toEqual([page]);
  const endless = join(mkdtempSync(join(tmpdir(), 'endless-')), 'table.php');
  const converter = 'class TableConverter { function __construct() { set_time_limit( 1 ); while ( true ); } }';
  writeFileSync(endless, `<?php namespace League\\HTMLToMarkdown\\Converter; ${converter}`);
  expect(converted(page, { auto_prepend_file: endless, display_errors: '1' })).toBe(page);
});

test('every file is PHP 7.4: no syntax and no function of PHP 8', () => {
  const paths = files.map((name) => join(PLUGIN, name));
  for (const file of paths) execFileSync('php', ['-l', file]);
  expect(execFileSync('php', [path('site/since-php-8.php'), ...paths], { encoding: 'utf8' })).toBe('');
});

test('the rule against PHP 8 sees what it is for', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'php8-')), 'new.php');
  const lines = [
    'match ( $a ) { default => 1 };',
    '$a?->b;',
    'f( name: 1 );',
    'str_contains( $a, $b );',
    'function g( int|string $a ) {}',
    'class A { function __construct( private int $b ) {} }',
    'function h( mixed $a ) {}',
    'function i(): static {}',
    'try {} catch ( E ) {}',
    'f( ... );',
    '$x = $y ?? throw new E();',
    'function j( $a, ) {}',
    '$o::class;',
    '#[A] function k() {}',
    'enum S {}',
    'class B { readonly int $c; }',
  ];
  writeFileSync(file, `<?php\n${lines.join('\n')}\n`);
  const told = execFileSync('php', [path('site/since-php-8.php'), file], { encoding: 'utf8' });
  expect(lines.map((_, index) => told.includes(`:${index + 2} `))).toEqual(lines.map(() => true));
});

test('no file but the first can be called by itself to any effect', () => {
  const open = files.filter(
    (name) => !/^(content-settlement|uninstall)\.php$/.test(name) && !/^vendor\/|includes\/.*class-|generated/.test(name),
  );
  expect(open).toEqual([]);
  for (const name of ['content-settlement.php', 'uninstall.php'])
    expect(readFileSync(join(PLUGIN, name), 'utf8')).toMatch(/! defined\( '[A-Z_]+' \)/);
});

test('with every extension on, headers of an offer, of a refusal and of a paid page have 2,560 bytes at most, and an offer what a client needs to pay', async () => {
  // What `Answer::mark` puts on each of them.
  const marked = {
    Vary: 'PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Authorization, User-Agent, Accept',
    'Cache-Control': 'private, no-store',
    'Accept-Ranges': 'none',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': '*',
  };
  const others = { ...marked, 'crawler-price': 'USD 999999999.999999', 'Content-Type': 'text/html; charset=utf-8' };
  const quotes = await Promise.all(LONG_CASES.map((one) => longQuote(one)));
  const reason = `settlement_failed: ${'why '.repeat(60)}`;
  const headers = quotes.map(({ x402: { header } }) => header);
  const plain = call(headers.map((header) => ['Wallet_Proof', 'with_own_nonce', [header]])) as string[];
  const links = call(plain.map((header, at) => ['Offer_Fit', 'links', [header, quotes[at]?.x402.headers ?? {}]])) as Record<
    string,
    string
  >[];
  const refused = call(headers.map((header) => ['Offer_Fit', 'with_error', [header, reason]])) as string[];
  const again = call(refused.map((header) => ['Wallet_Proof', 'with_own_nonce', [header]])) as string[];
  for (const [at, one] of LONG_CASES.entries()) {
    const first = { ...others, 'crawler-error': 'CrawlerForbidden', 'PAYMENT-REQUIRED': plain[at] ?? '', ...links[at] };
    const second = { ...others, 'X-PAYMENT-RESPONSE': LONG_REFUSAL, 'PAYMENT-REQUIRED': again[at] ?? '' };
    expect([bytesOfHeaders(first), bytesOfHeaders(second)].filter((bytes) => bytes > 2_560)).toEqual([]);
    for (const header of [plain[at], again[at]]) {
      const { x402Version, resource, accepts } = JSON.parse(Buffer.from(header ?? '', 'base64').toString());
      expect([x402Version, resource.url.length, accepts[0].extra.version]).toEqual([2, one.urlChars, '2']);
    }
    for (const version of [1, 2] as const) {
      const { licence, response } = await longSale(one, version);
      const paid = { ...others, 'X-PAYMENT-RESPONSE': response, 'x-licence': licence };
      const { 'crawler-price': _price, ...sold } = { ...paid, 'crawler-charged': 'USD 999999999.999999' };
      expect(bytesOfHeaders(sold)).toBeLessThanOrEqual(2_560);
    }
  }
});

test('an offer with a reason in it holds the same as the JavaScript package puts into as much room', async () => {
  const quotes = await Promise.all(LONG_CASES.map((one) => longQuote(one, false)));
  for (const reason of ['settlement_failed: why “not”', `settlement_failed: ${'why '.repeat(60)}`]) {
    const fitted = call(quotes.map(({ x402: { header } }) => ['Offer_Fit', 'with_error', [header, reason]]));
    for (const [at, { x402 }] of quotes.entries()) {
      const offer = { ...JSON.parse(Buffer.from(x402.header, 'base64').toString()), error: clipText(reason) };
      expect(JSON.parse(Buffer.from(String(fitted[at]), 'base64').toString())).toEqual(fitOffer(offer, 1_300));
    }
  }
});

test('what the service says to do about a refusal is handed on, and what is none of its words is not', () => {
  const fund = { action: 'fund', address: '0x1', needsMicro: 3_000 };
  const bodies = [{ next: fund }, {}, null, { next: { action: '<b>' } }, { next: { action: 'fund', more: 'x'.repeat(2_000) } }];
  const shown = bodies.map((body) => call([['Service_Client', 'next_of', [`json:${JSON.stringify(body)}`]]])[0]);
  expect(shown).toEqual(bodies.map((body) => nextOf(body) ?? null));
  expect(shown).toEqual([fund, null, null, null, null]);
});

/** What names are worth to the plugin, each with the addresses that its request may come from. */
function worthOf(
  rows: readonly (readonly [userAgent: string, addresses: readonly string[]])[],
  told = {},
  known = {},
  now = NOW,
) {
  const seconds = Math.floor(now / 1_000);
  return call(rows.map(([userAgent, from]) => ['Claims', 'judge', [userAgent, from, told, seconds, known]])) as [
    string,
    object,
  ][];
}

test('who calls himself Googlebot is told by where he comes from as the JavaScript package tells it', () => {
  const whence = call(
    CLAIM_ROWS.map(([, proxies = null, peer = '', headers]) => ['Whence', 'read', [proxies, peer, headers]]),
  ) as string[][];
  const worth = worthOf(whence.map((addresses) => [GOOGLE, addresses]));
  expect(worth.map(([found], at) => [CLAIM_ROWS[at]?.[0], found === 'false'])).toEqual(
    CLAIM_ROWS.map(([who, , , , becomes]) => [who, becomes === PAYS]),
  );
});

test('a list of robots’ addresses that is old, malformed, empty or the service’s own decides as in the JavaScript package, and name servers correct it', () => {
  const ask = (rows: Parameters<typeof worthOf>[0], ...rest: readonly object[]) => worthOf(rows, ...rest).map(([found]) => found);
  const both: Parameters<typeof worthOf>[0] = [
    [GOOGLE, [OF_GOOGLE]],
    [GOOGLE, [OF_OTHERS]],
  ];
  expect(worthOf(both, {}, {}, NOW + 2 * 86_400_000).map(([found]) => found)).toEqual(['genuine', 'unknown']);
  const checked_at = { 'google-googlebot': Math.floor(NOW / 1_000), 'google-special': Math.floor(NOW / 1_000) };
  const own = (ranges: readonly unknown[]) => ({ version: '2', checked_at, ranges: { 'google-googlebot': ranges } });
  expect(ask(both, own([`${OF_OTHERS}/32`]))).toEqual(['false', 'genuine']);
  const broken = ['', '/', '198.41.0.4/x', '198.41.0.4/-1', '198.41.0.4/33', '198.41.0/8', 'everybody', '::/0'];
  expect(ask(both, own(broken))).toEqual(['false', 'false']);
  expect(ask(both, own([]))).toEqual(['false', 'false']);
  expect(ask(both, { checked_at: {}, ranges: {} })).toEqual(['genuine', 'false']);
  const [wanted = ''] = Object.keys(worthOf([[GOOGLE, [OF_OTHERS]]])[0]?.[1] ?? {});
  expect(ask([[GOOGLE, [OF_OTHERS]]], {}, { [wanted]: [true, 1e12] })).toEqual(['genuine']);
  expect(ask([[GOOGLE, [OF_OTHERS]]], {}, { [wanted]: [null, 1e12] })).toEqual(['false']);
});

test('a proxy that was named wrongly is nobody’s: what strangers write into its header is not believed', () => {
  const wrong = ['10.0.0.0/x', '0.0.0.0/-1', '198.41.0.0/99', 'proxy.example'];
  expect(call([['Whence', 'read', [wrong, OF_OTHERS, { 'x-forwarded-for': OF_GOOGLE }]]])).toEqual([[OF_OTHERS]]);
});
