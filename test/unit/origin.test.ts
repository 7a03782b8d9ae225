import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseName } from '../../modules/kernel/hosts/hostname.ts';
import { MAX_ISSUER_CHARS, parseIssuer, parseOrigin } from '../../modules/kernel/hosts/origin.ts';

test.each([
  ['https://origin.example', 'https://origin.example'],
  ['https://Origin.Example/', 'https://origin.example'],
  ['https://origin.example:8443', 'https://origin.example:8443'],
  ['https://origin.example:443', 'https://origin.example'],
  ['http://127.0.0.1:8404', 'http://127.0.0.1:8404'],
  ['http://localhost:8404/', 'http://localhost:8404'],
])('the origin %s is stored as %s', (text, origin) => expect(parseOrigin(text)).toBe(origin));

const NEITHER = [
  '',
  'not a url',
  'x',
  'origin.example',
  '//origin.example',
  'http://origin.example',
  'ftp://origin.example',
  'javascript:1',
  'https://',
  'https://origin',
  'https://10.0.0.1',
  'https://0x7f.1.example.1',
  'https://[2001:db8::1]',
  'https://a_b.example',
  'https://user@origin.example',
  'https://:pw@origin.example',
  'https://origin.example/?q',
  'https://origin.example/#f',
  ' https://origin.example',
  'https://origin.example\n',
  'https://bücher.example',
  'https://origin.example.',
  'data:text/plain,https://origin.example',
  'https://origin.example\u0000',
];
test.each(NEITHER)('%j is neither an origin nor an issuer', (text) => {
  expect([parseOrigin(text), parseIssuer(text)]).toEqual([null, null]);
});

test('a path belongs to an issuer, not to an origin', () => {
  expect(parseOrigin('https://issuer.example/site')).toBe(null);
  expect(parseIssuer('https://issuer.example/site')).toBe('https://issuer.example/site');
});

test.each([
  'https://issuer.example',
  'https://issuer.example/',
  'https://issuer.example:8443/tenants/a',
  'http://127.0.0.1:8402',
  `https://issuer.example/${'p'.repeat(MAX_ISSUER_CHARS - 23)}`,
])('the issuer %s is kept to the letter', (text) => expect(parseIssuer(text)).toBe(text));

test.each([
  'https://Issuer.example',
  'https://issuer.example:443',
  'https://issuer.example/a/../b',
  'https://issuer.example/?',
  'HTTPS://a.example',
  'https://issuer.example/#',
  `https://issuer.example/${'p'.repeat(MAX_ISSUER_CHARS - 22)}`,
])('the issuer %s is refused, since a URL parser writes it differently or it is too long', (text) => {
  expect(parseIssuer(text)).toBe(null);
});

test('whatever is taken is its own form: taken again it stays the same, and a URL parser finds its host', () => {
  const text = fc.oneof(
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string(),
    fc.domain().map((host) => `https://${host}`),
  );
  fc.assert(
    fc.property(text, (given) => {
      const origin = parseOrigin(given);
      const issuer = parseIssuer(given);
      if (origin !== null)
        expect([parseOrigin(origin), new URL(origin).origin, parseIssuer(origin)]).toEqual([origin, origin, origin]);
      if (issuer !== null) expect([issuer, parseName(new URL(issuer).hostname).ok]).toEqual([given, true]);
    }),
  );
});
