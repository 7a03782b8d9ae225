import { expect, test } from 'vitest';
import { findSecretsIn } from '../support/canary.ts';

const secrets = [{ name: 'the pepper', value: 'a-pepper-that-nobody-may-read' }];

test('a secret of the run is found wherever it stands in a log, and named without being shown', () => {
  expect(findSecretsIn('{"msg":"x a-pepper-that-nobody-may-read y"}', secrets)).toEqual(['the pepper']);
  expect(findSecretsIn('{"msg":"nothing"}', secrets)).toEqual([]);
});

test('keys, bearers, signed tokens, webhook secrets and passwords of URLs are found by their shape', () => {
  const lines: Readonly<Record<string, string>> = {
    'a publisher key': `key ${'svc_live_'}abcdefghijklmnopqrstuvwx`,
    'a bearer credential': 'authorization: Bearer abcdefghijklmnopqrstuvwxyz',
    'a signed token': 'eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJ4IiwiYSI6MX0.abcdefghijklmno',
    'a webhook secret': `${'whsec_'}abcdefghijklmnopqrst`,
    'a password of a URL': 'postgres://svc_app:hunter2@127.0.0.1:5432/x',
  };
  for (const [name, line] of Object.entries(lines)) expect(findSecretsIn(line, [])).toContain(name);
});
