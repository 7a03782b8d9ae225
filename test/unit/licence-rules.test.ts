import { expect, test } from 'vitest';
import { buildSignInMessage, parseSignInMessage, refuseSignIn } from '../../modules/identity/rules/siwx.ts';
import { accessClaims, accessEndSeconds } from '../../modules/kernel/access/accessToken.ts';
import { pagePriceMicro, parsePeriod, parseTerms, validatePeriodFactors } from '../../modules/kernel/licence/period.ts';
import { canonicalPath, compilePattern, matches, parseScope } from '../../modules/kernel/pages/scope.ts';
import { PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import { parseProof, proofMessage } from '../../modules/licences/rules/proof.ts';
import { newsOf } from '../../modules/licences/rules/purchaseNews.ts';
import { guardLicence } from '../../modules/settlement/rules/guard.ts';

const match = (pattern: string, path: string): boolean => matches(compilePattern(pattern), canonicalPath(path));

test.for([
  ['/', '/anything', true],
  ['/a', '/a', true],
  ['/a', '/ab/c', true],
  ['/a$', '/a', true],
  ['/a$', '/ab', false],
  ['/a*', '/abc', true],
  ['/*.html$', '/x/y.html', true],
  ['/*.html$', '/x/y.html.bak', false],
  ['/a*b*c$', '/a-b-c', true],
  ['/a*b*c$', '/acb', false],
  ['/a*$', '/abc', true],
  ['/*a$', '/a', true],
  ['/aa*aa$', '/aaa', false],
  ['/a$b', '/a$b', true],
  ['/a$b', '/a', false],
  ['/a%20b', '/a b', true],
  ['/a b', '/a b', true],
  ['/%41', '/A', true],
  ['/caf%C3%A9', '/café', true],
  ['/caf%c3%a9', '/café', true],
  ['/a%2Ab$', '/a*b', true],
  ['/a%2Ab$', '/axb', false],
  ['/a%24', '/a$', true],
] as const)('%s and %s: %s (RFC 9309)', ([pattern, path, expected]) => {
  expect(match(pattern, path)).toBe(expected);
});

test('a pattern of eight stars against a long path that nearly matches ends, and one of nine is refused', () => {
  const pattern = compilePattern(`/${'*a'.repeat(8)}b$`);
  expect(matches(pattern, `/${'a'.repeat(8_190)}`)).toBe(false);
  expect(matches(compilePattern(`/${'a*'.repeat(8)}$`), `/${'a'.repeat(8_190)}`)).toBe(true);
  expect(() => compilePattern(`/${'*a'.repeat(9)}`, 'scope.3')).toThrow(/^scope\.3 has more than 8 \*$/);
});

test('absolute patterns lose their origin, and name one site', () => {
  expect(parseScope(['https://Alpha.example/a/*', 'http://alpha.example./b'])).toEqual({
    patterns: ['/a/*', '/b'],
    host: 'alpha.example',
  });
  expect(parseScope(['https://alpha.example'])).toEqual({ patterns: ['/'], host: 'alpha.example' });
  expect(() => parseScope(['https://user@alpha.example/'])).toThrow(/not the URL of a site/);
});

test('a period is whole seconds from now or its start, and at most 366 days', () => {
  const now = 1_800_000_000_500;
  expect(parsePeriod(30, null, now)).toEqual({ fromMs: 1_800_000_000_000, untilMs: 1_800_000_000_000 + 30 * 86_400_000 });
  expect(parsePeriod(1 / 24, now + 5_000, now)).toEqual({ fromMs: 1_800_000_005_000, untilMs: 1_800_003_605_000 });
  for (const days of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 366.1, 0.04])
    expect(() => parsePeriod(days, null, now)).toThrow();
});

test('terms are known words, each once', () => {
  expect(parseTerms(['ai-input', 'search'])).toEqual(['search', 'ai-input']);
  for (const terms of [[], ['x'], ['all', 'all'], ['all', 'x']]) expect(() => parseTerms(terms)).toThrow(/terms must be a list/);
});

test('each begun 30 days beyond the first cost half a price more; a table decides for itself', () => {
  const prices = [0.5, 30, 30.1, 60, 90, 91].map((days) => pagePriceMicro(1_001n, days, null));
  expect(prices).toEqual([1_001n, 1_001n, 1_502n, 1_502n, 2_002n, 2_503n]);
  expect(pagePriceMicro(1_000n, 400, [{ upToDays: 7, factor: '0.25' }])).toBe(250n);
  for (const table of [[{ upToDays: 0, factor: '1' }], [{ upToDays: 1, factor: '0' }], [{ upToDays: 1, factor: '-1' }]]) {
    expect(() => validatePeriodFactors(table)).toThrow();
  }
});

test('a token ends with its life or its period, and a licence that has not begun begins later', () => {
  const period = { fromMs: 1_000_000, untilMs: 2_000_000 };
  expect(accessEndSeconds(period, 1_100_000, 600)).toBe(1_700);
  expect(accessEndSeconds(period, 1_900_000, 600)).toBe(2_000);
  expect(accessEndSeconds(period, 500_000, 600)).toBe(1_600);
});

test('a token lists its pages while they fit into 4 KB', () => {
  const facts = (patterns: readonly string[]) => ({
    issuer: 'https://i.example',
    tenantId: 's',
    host: 'h.example',
    accountId: 'acc',
    licenceJti: 'l',
    jti: 't',
    kid: 'k',
    issuedAtSeconds: 1,
    notBeforeSeconds: 1,
    expiresAtSeconds: 2,
    kind: 'read' as const,
    terms: ['all'],
    patterns,
    period: { fromMs: 0, untilMs: 1 },
    holder: null,
    priceMicro: 1n,
    network: 'eip155:1',
    settlementRef: null,
    settlementRefKind: 'none' as const,
    legs: [],
  });
  const hash = (text: string): string => `h${text.length}`;
  const short = Array.from({ length: 65 }, (_, n) => `/p${n}$`);
  expect(accessClaims(facts(short.slice(0, 64)), hash).isByHash).toBe(false);
  expect(accessClaims(facts(short), hash).isByHash).toBe(true);
  expect(accessClaims(facts(Array.from({ length: 20 }, (_, n) => `/${'x'.repeat(200)}${n}$`)), hash).isByHash).toBe(true);
});

test('a proof is three parts within two minutes', () => {
  expect(parseProof('1000.nonce-123.0xabcd', 1_120)).toEqual({ tsSeconds: 1_000, nonce: 'nonce-123', signature: '0xabcd' });
  for (const bad of [
    '',
    '1000.nonce-123.0xabcd.x',
    '1000.short.0xab',
    '1000.nonce-123.0xabc',
    '-1.nonce-123.0xab',
    '1e3.nonce-123.0xab',
  ]) {
    expect(parseProof(bad, 1_000), bad).toBeNull();
  }
  expect([parseProof('1000.nonce-123.0xab', 1_121), parseProof('1000.nonce-123.0xab', 879)]).toEqual([null, null]);
  const message = proofMessage({ aud: 'https://h.example', jti: 'j', slug: 's' }, { tsSeconds: 1, nonce: 'n' });
  expect(message).toBe('svc licence proof 1\nhttps://h.example\nj\ns\n1\nn');
});

test('a purchase waits behind an undecided one, is answered by a covering licence, and goes otherwise', () => {
  const sibling = {
    paymentId: 'p',
    state: 'broadcast',
    amountMicro: 5n,
    settledAtMs: null,
    licenceExpiresAtSeconds: null,
  } as const;
  expect(guardLicence({ amountMicro: 5n }, [sibling], 'x')).toEqual({ state: 'held' });
  expect(guardLicence({ amountMicro: 6n }, [sibling], null)).toEqual({ state: 'accepted' });
  expect(guardLicence({ amountMicro: 6n }, [], 'x')).toEqual({ state: 'superseded', successorId: 'x', repeatsLicence: true });
});

test('what a held licence covers is answered under it and moves nothing, whatever else of the request is undecided or over', () => {
  const repeated = { state: 'superseded', successorId: 'x', repeatsLicence: true };
  const sibling = { paymentId: 'p', amountMicro: 5n, settledAtMs: 1, decidedAtMs: 1, licenceExpiresAtSeconds: null };
  for (const state of ['held', 'settled', 'final', 'failed', 'expired', 'superseded'] as const) {
    expect(guardLicence({ amountMicro: 5n }, [{ ...sibling, state }], 'x'), state).toEqual(repeated);
    expect(guardLicence({ amountMicro: 5n }, [{ ...sibling, state }], null), state).toEqual({ state: 'accepted' });
  }
  for (const state of ['accepted', 'broadcast', 'review'] as const) {
    expect(guardLicence({ amountMicro: 6n }, [{ ...sibling, state }], 'x'), state).toEqual(repeated);
    expect(guardLicence({ amountMicro: 5n }, [{ ...sibling, state }], 'x'), state).toEqual({ state: 'held' });
  }
});

test('an account is told of a purchase only what nothing can change', () => {
  const news = PAYMENT_STATES.map((state) => [
    state,
    ...[true, false].map((watched) => newsOf({ state, watched, told: null, isTakenBack: false })),
  ]);
  const [open, granted, looked] = [
    { notice: null, isOpen: true },
    { notice: 'licence_granted', isOpen: false },
    { notice: 'purchase_in_review', isOpen: true },
  ];
  expect(news).toEqual([
    ['accepted', open, open],
    ['held', open, open],
    ['broadcast', open, open],
    ['settled', { ...granted, isOpen: true }, { ...granted, isOpen: true }],
    ['final', granted, granted],
    ['failed', open, { notice: 'purchase_failed', isOpen: false }],
    ['superseded', open, { notice: null, isOpen: false }],
    ['expired', open, { notice: 'purchase_expired', isOpen: false }],
    ['review', looked, looked],
  ]);
  const lost = { state: 'failed', watched: false, isTakenBack: true } as const;
  expect(newsOf({ ...lost, told: 'licence_granted' })).toEqual({ notice: 'licence_taken_back', isOpen: true });
  expect(newsOf({ ...lost, told: 'licence_taken_back' })).toEqual({ notice: 'purchase_failed', isOpen: false });
});

test('a sign-in message is read back only in the form it was issued in', () => {
  const fields = {
    domain: 'svc.example',
    address: `0x${'a'.repeat(40)}`,
    statement: 'Sign in.',
    uri: 'https://svc.example',
    chainId: 8453,
    nonce: '0123456789abcdef',
    issuedAt: '2026-01-01T00:00:00.000Z',
    expirationTime: '2026-01-01T00:05:00.000Z',
  };
  const message = buildSignInMessage(fields);
  expect(parseSignInMessage(message)).toEqual(fields);
  for (const bad of [
    `${message}\n`,
    message.replace('Version: 1', 'Version: 2'),
    message.replaceAll('\n', '\r\n'),
    '',
    'x'.repeat(2_001),
  ]) {
    expect(parseSignInMessage(bad)).toBeNull();
  }
  expect(parseSignInMessage(buildSignInMessage({ ...fields, statement: 'two\nlines' }))).toBeNull();
  const expected = { domain: 'svc.example', uri: 'https://svc.example', chainIds: [8453], nowMs: Date.parse(fields.issuedAt) };
  expect(refuseSignIn(fields, expected)).toBeNull();
  expect(refuseSignIn(fields, { ...expected, nowMs: Date.parse(fields.expirationTime) })).toMatch(/expired/);
  expect(refuseSignIn({ ...fields, nonce: 'é' }, expected)).toMatch(/nonce/);
});
