import { createConfig, lintFromString } from '@redocly/openapi-core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeService } from '../../api/app.ts';
import { parseName } from '../../modules/kernel/hosts/hostname.ts';
import { MAX_PERIOD_DAYS, parsePeriod, parseTerms, TERMS } from '../../modules/kernel/licence/period.ts';
import { compilePattern, MAX_PATTERN_CHARS, parseScope } from '../../modules/kernel/pages/scope.ts';

type Schema = { pattern?: string; enum?: string[]; minimum?: number; maximum?: number; items?: Schema };
const { components, paths } = describeService('https://svc.example') as {
  components: { schemas: Record<string, { properties: Record<string, Schema> }> };
  paths: Record<
    string,
    Record<string, { parameters?: { name?: string; $ref?: string }[]; responses: Record<string, { headers?: object }> }>
  >;
};
const propertyOf = (schema: string, name: string): Schema => components.schemas[schema]?.properties[name] ?? {};
const patternOf = ({ pattern = '' }: Schema = {}): RegExp => new RegExp(pattern, 'u');
const takes = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

test('the pattern of a host lets through every name the service takes, and no ASCII name without labels of the right form', () => {
  const host = patternOf(propertyOf('VerifyHostOpenBody', 'host'));
  const label = fc.stringMatching(/^[A-Za-z0-9-]{0,4}$/);
  const name = fc.oneof(
    fc.array(label, { maxLength: 4 }).map((labels) => labels.join('.')),
    fc.constantFrom(
      'a'.repeat(64).concat('.example'),
      `${'a'.repeat(63)}.example`,
      'müller.example',
      'a..example',
      'a.example.',
      '*.example',
    ),
  );
  fc.assert(
    fc.property(name, (text) => {
      if (parseName(text).ok) expect(host.test(text)).toBe(true);
      const isFormed = text
        .split('.')
        .every((part) => /^[A-Za-z0-9\u0080-\uffff]([A-Za-z0-9\u0080-\uffff-]{0,61}[A-Za-z0-9\u0080-\uffff])?$/.test(part));
      expect(host.test(text)).toBe(isFormed && text.includes('.'));
    }),
  );
});

test('terms, periods and patterns are described as the service takes them', () => {
  const [terms, days] = [propertyOf('LicenceRequest', 'terms'), propertyOf('LicenceRequest', 'periodDays')];
  expect(terms.items?.enum).toEqual(TERMS);
  expect(takes(() => parseTerms(terms.items?.enum ?? []))).toBe(true);
  const { minimum = 0, maximum = 0 } = days;
  expect(maximum).toBe(MAX_PERIOD_DAYS);
  expect([minimum, maximum].map((asked) => takes(() => parsePeriod(asked, null, 0)))).toEqual([true, true]);
  expect([minimum * 0.999, maximum + 0.001].map((asked) => takes(() => parsePeriod(asked, null, 0)))).toEqual([false, false]);
  const scope = patternOf(propertyOf('LicenceRequest', 'scope').items);
  const path = patternOf(propertyOf('AccessBody', 'paths').items);
  for (const text of [
    '/',
    '/a*b$',
    `/${'x'.repeat(MAX_PATTERN_CHARS - 1)}`,
    'https://a.example/b',
    'http://a.example',
    'a',
    '',
    '/é',
    'ftp://a/',
  ]) {
    if (takes(() => parseScope([text]))) expect([text, scope.test(text)]).toEqual([text, true]);
    expect([text, path.test(text)]).toEqual([text, takes(() => compilePattern(text))]);
  }
  expect(['a', '', '/é', 'ftp://a/', 'https://'].filter((text) => scope.test(text))).toEqual([]);
  expect(path.test(`/${'x'.repeat(MAX_PATTERN_CHARS)}`)).toBe(false);
});

test('every answer that must wait says Retry-After, every error its code, and every 304 its ETag', () => {
  const answers = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.entries(responses).map(([status, { headers = {} }]) => ({ name: `${method} ${path} ${status}`, status, headers })),
    ),
  );
  const without = (header: string, isMeant: (status: string) => boolean) =>
    answers.filter(({ status, headers }) => isMeant(status) && !(header in headers)).map(({ name }) => name);
  expect(without('Retry-After', (status) => status === '429' || status === '503')).toEqual([]);
  expect(without('X-SVC-Error-Code', (status) => status >= '400')).toEqual([]);
  expect(without('ETag', (status) => status === '304')).toEqual([]);
});

test('a linter of OpenAPI documents finds no error in it', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: JSON.stringify(describeService('https://svc.example')), config });
  expect(found.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
});

/** The 22 operations of the specification and the statuses it names. */
const SPECIFIED: Readonly<Record<string, string>> = {
  'post /_svc/verify': '200 400 401 402 403',
  'get /_svc/quote': '200 204 400 401 403',
  'get /_svc/enforce-config': '200 400 401 403',
  'post /_svc/observe': '202 400 401 403',
  'get /_svc/enforce-status': '200 401',
  'post /_svc/license/check': '200 400 401 403',
  'post /_svc/verify-host': '201 400 401 409',
  'get /_svc/verify-host': '200 401',
  'post /_svc/verify-host/check': '200 400 401 409 429',
  'post /_svc/licenses/quote': '200 400 404 409',
  'get /_svc/licenses/held': '200 401',
  'post /_svc/licenses/{jti}/access': '200 401 403 404 409 503',
  'post /_svc/licenses': '200 401 402',
  'get /_svc/tenants/self': '200 401 403',
  'get /_svc/earnings': '200 401 403',
  'get /_svc/earnings/statements': '200 401 403',
  'get /_svc/earnings/reconciliation': '200 401 403',
  'get /_svc/earnings/export.csv': '200 401 403',
  'get /_svc/earnings/export.pdf': '200 401 403',
  'get /_svc/audit': '200 401 403',
  'get /_svc/members': '200 401 403',
  'get /_svc/openapi.json': '200',
};

test('every operation of the specification is described with its statuses, and that which sells licences with the headers that pay', () => {
  for (const [name, statuses] of Object.entries(SPECIFIED)) {
    const [method = '', path = ''] = name.split(' ');
    const described = Object.keys(paths[path]?.[method]?.responses ?? {});
    expect([name, described]).toEqual([name, expect.arrayContaining(statuses.split(' '))]);
  }
  const sent = paths['/_svc/licenses']?.['post']?.parameters?.map(({ name, $ref }) => name ?? $ref?.split('/').at(-1));
  expect(sent).toEqual(expect.arrayContaining(['PAYMENT-SIGNATURE', 'X-PAYMENT', 'Idempotency-Key', 'SIGN-IN-WITH-X']));
});
