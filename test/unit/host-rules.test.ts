import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Challenge } from '../../modules/hosts/rules/challenge.ts';
import { DNS_ONLY_MS, isExpired, methodInForce, TOKEN_LIFE_MS } from '../../modules/hosts/rules/challenge.ts';
import { findMetaTags } from '../../modules/hosts/rules/challengeMeta.ts';
import { detectCapability } from '../../modules/hosts/rules/challengePlatform.ts';
import { delayOf, HOST_TIMES, judgeRecheckFailure, nextOpenCheckMs } from '../../modules/hosts/rules/challengeSchedule.ts';
import { parseHostname } from '../../modules/kernel/hosts/hostname.ts';
import { isPublicSuffix } from '../../platform/outbound/publicSuffix.ts';

const NAME = 'svc-site-verification';
const tag = (content: string): string => `<meta name="${NAME}" content="${content}">`;

test.each([
  ['a plain tag', `<head>${tag('x')}</head>`, ['x']],
  ['single quotes and other order', `<head><meta content='x' name='${NAME}'/></head>`, ['x']],
  ['no quotes', `<META NAME=${NAME} CONTENT=x>`, ['x']],
  ['several', `${tag('a')}${tag('b')}`, ['a', 'b']],
  ['a page without a head tag', `<!doctype html>${tag('x')}<p>`, ['x']],
  ['a comment', `<head><!-- ${tag('x')} --></head>`, []],
  ['an unended comment', `<head><!-- ${tag('x')}`, []],
  ['a script', `<head><script>var a = '${tag('x')}'</script></head>`, []],
  ['a title', `<head><title>${tag('x')}</title></head>`, []],
  ['a style that ends in capitals', `<head><style>${tag('x')}</STYLE>${tag('y')}</head>`, ['y']],
  ['a template', `<head><template>${tag('x')}</template></head>`, []],
  ['an attribute of another tag', `<head><link title='${tag('x')}'></head>`, []],
  ['the body', `<head></head><body>${tag('x')}</body>`, []],
  ['after the head', `<head></head>${tag('x')}`, []],
  ['a name in capitals', `<meta name="${NAME.toUpperCase()}" content="x">`, []],
  ['a longer name', `<meta name="${NAME}2" content="x">`, []],
  ['a second name attribute', `<meta name="a" name="${NAME}" content="x">`, []],
  ['a property', `<meta property="${NAME}" content="x">`, []],
  ['nothing', '', []],
])('meta tags of a head: %s', (_name, html, expected) => expect(findMetaTags(html, NAME)).toEqual(expected));

test('looking for tags takes time in proportion to the page, whatever is in it', () => {
  for (const piece of ['<', '<a ', '<meta ', '<meta name="', "<a b='", '<!--', '<script>', '</', '<a b=" ', '<a/'.concat(' ')]) {
    const html = piece.repeat(Math.ceil((512 * 1024) / piece.length));
    expect(findMetaTags(html, NAME), piece).toEqual([]); // anything worse than linear outlasts the limit of a test
  }
});

test('no text makes the tag reader throw or run on', () => {
  const piece = fc.constantFrom('<', '>', '"', "'", '=', '/', '!--', '-->', 'meta ', 'name', NAME, ' ', 'head', 'script');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      expect(findMetaTags(pieces.join(''), NAME).length).toBeLessThan(50);
    }),
  );
});

test.each([
  ['WordPress by its generator', {}, '<head><meta name="generator" content="WordPress 6.9">', 'code', 'wordpress_plugin'],
  ['WordPress by its folders', {}, '<link href="/wp-content/themes/x.css">', 'code', 'wordpress_plugin'],
  ['Next.js', { 'x-powered-by': 'Next.js' }, '', 'code', 'npm'],
  ['Vercel', { 'x-vercel-id': 'fra1::x' }, '<p>', 'prefer_code', 'npm'],
  ['Express', { 'x-powered-by': 'Express' }, '', 'code', 'npm'],
  ['Wix', {}, '<script src="https://static.parastorage.com/x.js">', 'dns_only', null],
  ['Squarespace on its own server', { server: 'Squarespace' }, '', 'dns_only', null],
  ['Substack', {}, '<img src="https://substackcdn.com/x.png">', 'locked', null],
  ['nothing known', { server: 'nginx' }, '<p>hello</p>', 'unknown', null],
])('what a site can install: %s', (_name, headers, html, capability, codeArtifact) => {
  expect(detectCapability({ headers, html })).toEqual({ capability, codeArtifact });
});

test('a host name has one form, which is a fixed point', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.domain(), (noise, domain) => {
      for (const text of [noise, domain, `${noise}.${domain}`, domain.toUpperCase()]) {
        const parsed = parseHostname(text);
        if (!parsed.ok) continue;
        expect(parsed.host).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
        expect(parsed.host.length).toBeLessThanOrEqual(253);
        expect(parseHostname(parsed.host)).toEqual(parsed);
        expect(new URL(`https://${parsed.host}/`).hostname).toBe(parsed.host);
      }
    }),
  );
});

test.each(['co.uk', 'com.au', 'github.io', 'vercel.app', 's3.amazonaws.com', 'com'])('%s is a public suffix', (host) => {
  expect(isPublicSuffix(host)).toBe(true);
});
test.each(['example.co.uk', 'me.github.io', 'blog.alpha.example', 'alpha.example'])('%s is no public suffix', (host) => {
  expect(isPublicSuffix(host)).toBe(false);
});

const CHALLENGE: Challenge = {
  tenantId: 't',
  host: 'h.example',
  state: 'open',
  method: 'well-known',
  token: 'x',
  capability: 'unknown',
  codeArtifact: null,
  lookedAtMs: null,
  scheduledChecks: 0,
  failingSinceMs: null,
  confirmations: 0,
  tokenIssuedAtMs: 0,
  nextCheckAtMs: 60_000,
  openedAtMs: 0,
  verifiedAtMs: null,
  routingVerifiedAtMs: null,
  lapsedAtMs: null,
};

test('an open challenge is checked after a minute, then ever more rarely, at least daily', () => {
  const gaps = Array.from({ length: 30 }, (_, index) => nextOpenCheckMs(index, HOST_TIMES));
  expect(gaps[0]).toBe(60_000);
  expect([...gaps].sort((a, b) => a - b)).toEqual(gaps);
  expect(gaps.at(-1)).toBe(86_400_000);
});

test('an unproven token dies after 30 days, and nothing is due any more then', () => {
  expect(isExpired(CHALLENGE, TOKEN_LIFE_MS - 1)).toBe(false);
  expect(isExpired(CHALLENGE, TOKEN_LIFE_MS)).toBe(true);
  expect(isExpired({ ...CHALLENGE, state: 'verified' }, TOKEN_LIFE_MS * 2)).toBe(false);
  expect(delayOf(CHALLENGE, 20_000)).toBe(40_000);
  expect(delayOf(CHALLENGE, 90_000)).toBe(0);
  expect(delayOf({ ...CHALLENGE, nextCheckAtMs: TOKEN_LIFE_MS * 2 }, 0)).toBe(TOKEN_LIFE_MS);
  expect(delayOf(CHALLENGE, TOKEN_LIFE_MS)).toBeNull();
  expect(delayOf(null, 0)).toBeNull();
});

test('for 72 hours after a lapse only DNS proves a host', () => {
  const lapsed = { ...CHALLENGE, lapsedAtMs: 1_000 };
  expect(methodInForce(lapsed, 1_000 + DNS_ONLY_MS - 1)).toBe('dns-txt');
  expect(methodInForce(lapsed, 1_000 + DNS_ONLY_MS)).toBe('well-known');
  expect(methodInForce({ ...lapsed, state: 'verified' }, 1_000)).toBe('well-known');
});

test('a failing recheck is confirmed after 5 s, 1 h, 24 h and 72 h, the owner hears of it once, and then ownership lapses', () => {
  let state: Pick<Challenge, 'failingSinceMs' | 'confirmations'> = { failingSinceMs: null, confirmations: 0 };
  let nowMs = 1_000_000;
  const dues: number[] = [];
  const alerts: boolean[] = [];
  for (;;) {
    const judged = judgeRecheckFailure(state, nowMs, HOST_TIMES);
    if (judged.kind === 'lapse') break;
    dues.push(judged.nextCheckAtMs - 1_000_000);
    alerts.push(judged.isAlert);
    state = judged;
    nowMs = judged.nextCheckAtMs;
  }
  expect(dues).toEqual([5_000, 3_600_000, 86_400_000, 259_200_000]);
  expect(alerts).toEqual([false, true, false, false]);
  expect(nowMs - 1_000_000).toBe(259_200_000);
});
