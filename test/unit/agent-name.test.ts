import fc from 'fast-check';
import { expect, test } from 'vitest';
import { claimOf, operatorOf } from '../../modules/gate/rules/agent.ts';
import { nameOf } from '../../modules/gate/rules/agentName.ts';
import { CRAWLERS, categoryOf } from '../../modules/gate/rules/crawlers.ts';

test.each([
  ['NewBot/1.0', 'newbot'],
  ['NewBot', 'newbot'],
  [' NewBot/1.0 (+https://new.example)', 'newbot'],
  ['Mozilla/5.0 (compatible; NewBot/2.1; +https://new.example/bot)', 'newbot'],
  ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; New-Bot/1.2; +https://new.example)', 'new-bot'],
  ['archive.org_bot', 'archive_org_bot'],
  ['python-requests/2.32', 'python-requests'],
  ['Go-http-client/2.0', 'go-http-client'],
  ['openai.com', 'openai_com'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', null],
  ['Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)', null],
  ['Opera/9.80 (Windows NT 6.1)', null],
  ['other', null],
  ['Unknown/1', null],
  ['removed', null],
  ['=HYPERLINK("x")', null],
  ['-1+2', null],
  ['@SUM/1', null],
  ['<script>alert(1)</script>', null],
  ['Bot<b>', null],
  ['B\u0000t/1', null],
  ['Bот/1', null],
  ['\u212aing/1', null],
  ['x', null],
  ['', null],
  ['a'.repeat(40), 'a'.repeat(40)],
  ['a'.repeat(41), null],
  [`${'Mozilla/5.0 '.padEnd(600)}(compatible; Late/1)`, null],
])('%j gives itself the name %j', (userAgent, name) => {
  expect(nameOf(userAgent)).toBe(name);
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.stringMatching(/^[\w.=+@<>"'/ ()-]{0,60}$/),
  fc
    .constantFrom(...Object.keys(CRAWLERS), 'openai.com', 'claude.ai', 'cohere.ai')
    .chain((name) => fc.constantFrom('', '/1', '.', '-', '_', 'x').map((end) => `${name}${end}`)),
);

test('a name is short, safe text, and never what a verified host or a known crawler is called', () => {
  fc.assert(
    fc.property(hostile, fc.boolean(), (ua, isCompatible) => {
      const claim = claimOf({ ua: isCompatible ? `Mozilla/5.0 (compatible; ${ua})` : ua });
      if ('label' in claim) return;
      expect(claim.name).toMatch(/^[a-z0-9][a-z0-9_-]{1,39}$/);
      expect([operatorOf(claim.name), categoryOf(claim.name)]).toEqual([null, null]);
    }),
    { numRuns: 3_000 },
  );
});

test('only a host that was verified is a label with a dot, and it wins over every name', () => {
  const ua = 'NewBot/1.0';
  expect(claimOf({ ua, verified: true, verifiedAgent: 'Agent.Example' })).toEqual({ label: 'agent.example' });
  expect(claimOf({ ua, verified: true, verifiedAgent: 'newbot' })).toEqual({ name: 'newbot' });
  expect(claimOf({ ua, verified: false, verifiedAgent: 'agent.example' })).toEqual({ name: 'newbot' });
  expect(claimOf({ ua: 'NewBot/1.0 GPTBot/1' })).toEqual({ label: 'gptbot' });
  expect(claimOf({})).toEqual({ label: 'other' });
});
