import { expect, test } from 'vitest';
import { judgeAddress } from '../../adapters/outbound/address.ts';
import { checkOutboundUrl } from '../../adapters/outbound/url.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
];
const LOOPBACK = ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1', '64:ff9b::7f00:1'];
const BLOCKED = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::8.8.8.8',
  '::127.0.0.1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '2001::1',
  '2001:10::1',
  '3fff::1',
  '5f00::1',
  '100::1',
  '64:ff9b:1::808:808',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a00:1',
  '64:ff9b::a9fe:a9fe',
  '2002:a00:1::',
  '2002:a9fe:a9fe::1',
  '2002:c0a8:101::1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '8.8.8.8.8',
  '08.8.8.8',
  'localhost',
  '',
];

test.each(PUBLIC)('%s may be connected to', (address) => expect(judgeAddress(address)).toBe('public'));
test.each(LOOPBACK)('%s is this machine', (address) => expect(judgeAddress(address)).toBe('loopback'));
test.each(BLOCKED)('%j is never connected to', (address) => expect(judgeAddress(address)).toBe('blocked'));

const REFUSED: readonly (readonly [string, string])[] = [
  ['http://receiver.example/', 'invalid_url'],
  ['ftp://receiver.example/', 'invalid_url'],
  ['file:///etc/passwd', 'invalid_url'],
  ['https://user@receiver.example/', 'invalid_url'],
  ['https://user:pass@receiver.example/', 'invalid_url'],
  ['https://receiver.example:8080/', 'invalid_url'],
  ['https://receiver.example:22/', 'invalid_url'],
  ['https://', 'invalid_url'],
  ['receiver.example', 'invalid_url'],
  ['//receiver.example/', 'invalid_url'],
  ['https://8.8.8.8/', 'blocked_address'],
  ['https://127.0.0.1/', 'blocked_address'],
  ['https://2130706433/', 'blocked_address'],
  ['https://0x7f000001/', 'blocked_address'],
  ['https://0177.0.0.1/', 'blocked_address'],
  ['https://127.1/', 'blocked_address'],
  ['https://[::1]/', 'blocked_address'],
  ['https://[::ffff:169.254.169.254]/', 'blocked_address'],
  ['https://[2606:4700:4700::1111]/', 'blocked_address'],
  ['https://localhost/', 'blocked_address'],
  ['https://localhost./', 'blocked_address'],
  ['https://a.localhost/', 'blocked_address'],
  ['https://intranet/', 'blocked_address'],
  ['https://metadata.google.internal/', 'blocked_address'],
  ['https://printer.local/', 'blocked_address'],
  ['https://x.onion/', 'blocked_address'],
  ['https://1.0.0.127.in-addr.arpa/', 'blocked_address'],
  ['https://①②⑦.0.0.1/', 'blocked_address'],
];
test.each(REFUSED)('%s is refused as %s', (url, reason) => {
  expect(checkOutboundUrl(url, { allowLoopback: false, extraPorts: [8443] })).toEqual({ ok: false, reason });
});

test('a URL of more than 2,048 characters is refused', () => {
  const url = `https://receiver.example/${'a'.repeat(2_048)}`;
  expect(checkOutboundUrl(url, { allowLoopback: false })).toEqual({ ok: false, reason: 'invalid_url' });
});

test.each([
  'https://receiver.example/hook?a=1',
  'https://receiver.example:443/',
  'https://receiver.example:8443/',
  'https://BÜCHER.example/',
])('%s may be sent to', (url) => expect(checkOutboundUrl(url, { allowLoopback: false, extraPorts: [8443] }).ok).toBe(true));

test('with the sandbox override loopback hosts are allowed, over http and on any port, and nothing else', () => {
  const policy = { allowLoopback: true };
  for (const url of ['http://127.0.0.1:5000/', 'http://localhost:80/', 'http://[::1]:9/', 'https://127.0.0.1:9/']) {
    expect(checkOutboundUrl(url, policy).ok, url).toBe(true);
  }
  for (const url of ['http://10.0.0.1/', 'http://receiver.example/', 'https://169.254.169.254/', 'ftp://127.0.0.1/']) {
    expect(checkOutboundUrl(url, policy).ok, url).toBe(false);
  }
});
