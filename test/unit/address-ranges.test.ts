/** Lists of addresses in the shapes in which operators of robots publish them; addresses are examples, shapes as recorded. */
import { expect, test } from 'vitest';
import { keepsHalf, MAX_RANGES, readRanges } from '../../platform/addressRanges.ts';

const both = ['66.249.64.0/26', '2001:4860:4801:10::/64'];
test.each([
  [
    'Google, Bing, Apple, OpenAI, Perplexity, DuckDuckGo, Common Crawl',
    {
      creationTime: '2026-09-02T14:46:11.000000',
      prefixes: [{ ipv6Prefix: '2001:4860:4801:10::/64' }, { ipv4Prefix: '66.249.64.0/26' }],
    },
  ],
  [
    'Amazon',
    {
      createDate: '2026-09-02',
      prefixes: [{ ip_prefix: '66.249.64.0/26', region: 'us' }, { ipv6_prefix: '2001:4860:4801:10::/64' }],
    },
  ],
  ['Ahrefs', { ips: ['66.249.64.0/26', '2001:4860:4801:10::/64'] }],
  ['a bare array', ['66.249.64.0/26', '2001:4860:4801:10::/64']],
  ['UptimeRobot, Better Stack, Pingdom', '66.249.64.0/26\r\n2001:4860:4801:10::/64\r\n\r\n'],
  ['a commented text', '# robots\n66.249.64.0/27 # first\n66.249.64.32/27\n2001:4860:4801:10::/64'],
])('reads the list of %s', (_operator, list) => {
  expect(readRanges(typeof list === 'string' ? list : JSON.stringify(list))).toEqual(both);
});

test('ranges become as few as can be, and hold the same addresses', () => {
  expect(readRanges('8.8.8.8\n8.8.8.9\n8.8.8.10/31\n8.8.8.8/31\n9.9.9.9')).toEqual(['8.8.8.8/30', '9.9.9.9/32']);
  expect(readRanges('8.8.8.3\n8.8.8.4\n8.8.8.5')).toEqual(['8.8.8.3/32', '8.8.8.4/31']);
  expect(readRanges('8.8.8.77/24')).toEqual(['8.8.8.0/24']);
});

test.each([
  ['nothing', ''],
  ['an empty list', '{"prefixes":[]}'],
  ['a page that says it is down', '<!doctype html><p>Sorry</p>'],
  ['JSON that is none', '{"prefixes":['],
  ['JSON as deep as the door lets in', `${'['.repeat(250_000)}${']'.repeat(250_000)}`],
  ['IPv4 inside IPv6', '::ffff:808:808/128'],
  ['a private network', '{"prefixes":[{"ipv4Prefix":"66.249.64.0/26"},{"ipv4Prefix":"10.0.0.0/24"}]}'],
  ['this machine', '127.0.0.1'],
  ['everybody', '0.0.0.0/0'],
  ['everybody of IPv6', '::/0'],
  ['half of the internet', '0.0.0.0/1'],
  ['a wide range', '64.0.0.0/11'],
  ['a wide range of IPv6', '2600::/20'],
  ['half of the internet in parts', Array.from({ length: 200 }, (_, at) => `${at + 11}.16.0.0/12`).join('\n')],
  ['more of IPv6 than any network', Array.from({ length: 17 }, (_, at) => `2600:${(at + 1) * 2}::/32`).join('\n')],
  ['a name', 'crawl.example'],
  ['a longer list', Array.from({ length: MAX_RANGES + 1 }, (_, at) => `8.${at >> 8}.${at & 255}.1`).join('\n')],
])('takes no list that has %s', (_what, text) => {
  expect(readRanges(text)).toBeNull();
});

test('a list keeps half of another when half of its ranges are in it, in whatever pieces', () => {
  const before = ['8.8.8.0/24', '9.9.9.0/25', '2001:4860:4801:10::/64', '2001:4860:4801:11::/64'];
  expect(keepsHalf(before, before)).toBe(true);
  expect(keepsHalf(before, ['8.8.0.0/16', '9.9.9.0/26', '9.9.9.64/26'])).toBe(true);
  expect(keepsHalf(before, ['8.8.8.0/24', '9.9.9.0/26', '7.7.7.7'])).toBe(false);
  expect(keepsHalf(before, ['7.7.7.7'])).toBe(false);
});
