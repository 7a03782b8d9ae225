/** Texts that the commands read and print: options, robots.txt, sitemaps, offers, spellings, rows for people. */
import { expect, test } from 'vitest';
import { openBudget } from '../../../packages/publisher/src/cli/budget.ts';
import { spellingsOf } from '../../../packages/publisher/src/cli/checks/spellings.ts';
import { microOfUsd, readOffer } from '../../../packages/publisher/src/cli/offer.ts';
import type { Order } from '../../../packages/publisher/src/cli/options.ts';
import { readWish } from '../../../packages/publisher/src/cli/options.ts';
import { readRobots } from '../../../packages/publisher/src/cli/robotsText.ts';
import { writeRow } from '../../../packages/publisher/src/cli/screen.ts';
import { readConfig } from '../../../packages/publisher/src/cli/site.ts';
import { pathOn, readSitemap, spread } from '../../../packages/publisher/src/cli/sitemap.ts';
import { chooseAgent } from '../../../packages/publisher/src/cli/world.ts';
import { readSources } from '../../../tools/check/sources.ts';
import { spentMs } from '../../support/turns.ts';

test.each([
  ['no command', [], 'help'],
  ['help', ['doctor', '--help'], 'help'],
  ['a command that there is not', ['cure'], 'wrong'],
  ['an option that there is not', ['status', '--key', 'x'], 'wrong'],
  ['two commands', ['status', 'doctor'], 'wrong'],
  ['a site with a path', ['doctor', '--site', 'https://alpha.example/articles/'], 'wrong'],
  ['a site without a scheme', ['doctor', '--site', 'alpha.example'], 'wrong'],
  ['another scheme', ['doctor', '--site', 'file:///'], 'wrong'],
  ['a page that is no path', ['doctor', '--site', 'https://alpha.example', '--page', 'trio'], 'wrong'],
  ['a page with a line break', ['doctor', '--site', 'https://alpha.example', '--page', '/a\r\nX: y'], 'wrong'],
  ['nothing to buy', ['selftest'], 'selftest'],
  ['status', ['status'], 'status'],
  ['doctor', ['doctor', '--site', 'https://alpha.example'], 'doctor'],
])('a command line with %s is read as %s', (_name, argv, command) => {
  expect(readWish(argv, {}).command).toBe(command);
});

test('addresses are cut to their origin, pages to their path, and the key comes from the environment alone', () => {
  const argv = ['doctor', '--site', 'https://Alpha.example', '--page', 'https://alpha.example/a?b', '--page', '/c', '--quiet'];
  const order = readWish(argv, { SVC_URL: 'https://svc.example/', SVC_API_KEY: ' svc_live_x\n' }) as Order;
  expect(order).toMatchObject({
    pages: ['/a?b', '/c'],
    serviceUrl: 'https://svc.example',
    apiKey: 'svc_live_x',
    isQuiet: true,
    isJson: false,
  });
  expect(order.site?.origin).toBe('https://alpha.example');
});

test.each([
  ['User-agent: *\nDisallow: /articles/', '/articles/x', false],
  ['User-agent: *\nDisallow: /articles/\nAllow: /articles/x', '/articles/x', true],
  ['User-agent: *\nDisallow: /*.pdf$', '/articles/x.pdf', false],
  ['User-agent: *\nDisallow: /*.pdf$', '/articles/x.pdf?y', true],
  ['User-agent: *\nDisallow: /a*b*c', '/aXbYc', false],
  ['User-agent: GPTBot\nDisallow:\n\nUser-agent: *\nDisallow: /', '/articles/x', true],
  ['User-agent: other\nUser-agent: gptbot\nCrawl-delay: 1\nDisallow: /', '/articles/x', false],
  ['User-agent: other\nDisallow: /', '/articles/x', true],
  ['Disallow: /', '/articles/x', true],
  ['User-agent: * # all\nDisallow: /articles # ours', '/articles/x', false],
])('robots.txt %j lets GPTBot read %s: %s', (text, path, allowed) => {
  expect(readRobots(text).allows('GPTBot', path)).toBe(allowed);
});

test('a robots.txt made to be slow to read is read in no time', () => {
  const read = (): void => {
    const robots = readRobots(`User-agent: *\nDisallow: /${'a*'.repeat(900)}b\n`.repeat(100));
    expect(robots.allows('GPTBot', `/${'a'.repeat(2_000)}`)).toBe(true);
  };
  expect(spentMs(read)).toBeLessThan(2_000);
});

test.each([
  ['256 KB of empty lines', '\n'.repeat(256 * 1_024)],
  [
    '2,500 names with 2,400 rules',
    `${Array.from({ length: 2_500 }, (_, index) => `User-agent: a${index}\n`).join('')}${'Disallow: /x\n'.repeat(2_400)}`,
  ],
  ['one name 2,500 times with 2,400 rules', `${'User-agent: gptbot\n'.repeat(2_500)}${'Disallow: /x\n'.repeat(2_400)}`],
])('a robots.txt of %s is read in no time', (_name, text) => {
  expect(spentMs(() => expect(readRobots(text).allows('GPTBot', '/articles/x')).toBe(true))).toBeLessThan(500);
});

test('sitemaps give addresses, of pages or of sitemaps; anything else is none', () => {
  const text =
    '<?xml version="1.0"?><urlset><url><loc> https://a.example/x?a=1&amp;b=2 </loc></url><url><loc>https://b.example/</loc></url></urlset>';
  expect(readSitemap(text)).toEqual({ isIndex: false, addresses: ['https://a.example/x?a=1&b=2', 'https://b.example/'] });
  expect(readSitemap('<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>')?.isIndex).toBe(true);
  expect([readSitemap('<!doctype html>'), readSitemap('<urlset><loc>x')?.addresses]).toEqual([null, []]);
  expect([
    pathOn('a.example', 'https://a.example/x?y'),
    pathOn('a.example', 'https://b.example/'),
    pathOn('a.example', 'x'),
  ]).toEqual(['/x?y', null, null]);
  expect(spread([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3)).toEqual([0, 3, 6]);
});

test('prices are read as exact decimals', () => {
  expect(['0.003', '1', '0.000001', '12.5'].map(microOfUsd)).toEqual([3_000n, 1_000_000n, 1n, 12_500_000n]);
  expect(['', 'x', '-1', '1e3', '0.0000001', '1.'].map(microOfUsd)).toEqual([null, null, null, null, null, null]);
});

test.each([undefined, '', 'e30=', 'not base64', Buffer.from('{"x402Version":2,"accepts":[null,7]}').toString('base64')])(
  'a PAYMENT-REQUIRED header %j is no offer',
  (header) => {
    expect(readOffer(header, '').ok).toBe(false);
  },
);

test('other spellings of a page are those that servers take for it, never the page itself', () => {
  expect(spellingsOf('/articles/trio')).toEqual([
    '/articles//trio',
    '/ARTICLES/TRIO',
    '/articles/TRIO',
    '/articles/%74rio',
    '/articles/trio/',
    'ftp://host.invalid/articles/trio',
  ]);
  expect(spellingsOf('/articles/Trio')).toContain('/articles/trio');
  expect(spellingsOf('/articles/trio/?a=b')).not.toContain('/articles/trio/?a=b');
  expect(spellingsOf('/')).not.toContain('/');
});

test('an agent is played under a name that the owner neither lets in free nor shuts out', () => {
  const policy = { allow: ['gptbot'], charge: [], block: ['claude'] };
  expect([chooseAgent(null), chooseAgent(policy)]).toEqual(['GPTBot', 'PerplexityBot']);
});

test('settings of the gate are read, and what is none is told', () => {
  const config = (gateScope: object) => readConfig({ enforcement: { articlePrefixes: ['/articles/'], gateScope } });
  expect(config({ mode: 'prefixes' })).toMatchObject({ articlePrefixes: ['/articles/'], gateScope: { mode: 'prefixes' } });
  const whole = { mode: 'site', excludePrefixes: ['/shop'], includeExtensions: ['.html'] };
  expect([config(whole)?.gateScope, readConfig('nothing')]).toEqual([whole, null]);
});

test('a row keeps its columns, and control characters of strangers stay out of the terminal', () => {
  const lines: string[] = [];
  const screen = { write: (text: string) => void lines.push(text), columns: 60, hasColours: false };
  writeRow(screen, '✓', 'offer', `${'word '.repeat(14)}\u001b]0;owned\u0007\r\nend`);
  expect(lines.join('').replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(61);
  expect(lines.slice(1).every((line) => line.startsWith(' '.repeat(17)))).toBe(true);
});

test('a run asks as often as its budget says, and no more', () => {
  const budget = openBudget({ requests: 2 });
  expect([budget.take(), budget.take(), budget.take(), budget.taken]).toEqual([true, true, false, 2]);
  expect(openBudget({ runMs: 0 }).take()).toBe(false);
});

test('the package uses nothing that Node 20 lacks', () => {
  const newer = /\bURL\.parse\(|\bAbortSignal\.any\(|\.groupBy\(|\.withResolvers\(|\bimport\.meta\.main\b|\.fromAsync\(/;
  const sources = readSources(/^packages\/publisher\/src\/.*\.ts$/);
  expect([sources.length > 30, sources.filter(({ text }) => newer.test(text)).map(({ path }) => path)]).toEqual([true, []]);
});
