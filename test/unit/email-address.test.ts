import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEmail } from '../../modules/kernel/access/emailAddress.ts';

test.each([
  ['ann@example.org', 'ann@example.org', 'ann@example.org'],
  [' Ann@Example.ORG\n', 'ann@example.org', 'ann@example.org'],
  ['ann+1@example.org', 'ann+1@example.org', 'ann@example.org'],
  ['Ann+a+b@mail.example.org', 'ann+a+b@mail.example.org', 'ann@mail.example.org'],
  ['+1@example.org', '+1@example.org', '@example.org'],
])('%j is stored as %s and counted as %s', (text, address, mailbox) => {
  expect(readEmail(text)).toEqual({ address, mailbox });
});

test.each([
  '',
  'ann',
  '@example.org',
  'ann@',
  'ann@host',
  'ann@example.',
  'ann@@example.org',
  'a b@example.org',
  'ann@exa_mple.org',
  'a@b.example, c@d.example',
  'Ann <ann@example.org>',
  'ann@example.org;bob@example.org',
  'a\u0000b@example.org',
  'ann@example.org\r\nBcc: bob@example.org',
  `${'a'.repeat(243)}@example.org`,
  '"ann"@example.org',
])('%j is not one address', (text) => {
  expect(() => readEmail(text)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
});

test('whatever stands after the plus sign and in whatever case, it is one mailbox', () => {
  const word = fc.stringMatching(/^[a-zA-Z0-9.+-]{0,20}$/);
  fc.assert(
    fc.property(word, (tag) => {
      expect(readEmail(`Ann+${tag}@Example.org`).mailbox).toBe('ann@example.org');
      expect(readEmail(readEmail(`ann+${tag}@example.org`).address).address).toBe(`ann+${tag}@example.org`.toLowerCase());
    }),
  );
});
