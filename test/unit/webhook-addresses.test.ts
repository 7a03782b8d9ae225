import { expect, test } from 'vitest';
import { judgeAddress } from '../../platform/outbound/address.ts';
import { checkOutboundUrl } from '../../platform/outbound/url.ts';
import { BLOCKED, LOOPBACK, REFUSED } from '../support/unsafe-addresses.ts';

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

test.each(PUBLIC)('%s may be connected to', (address) => expect(judgeAddress(address)).toBe('public'));
test.each(LOOPBACK)('%s is this machine', (address) => expect(judgeAddress(address)).toBe('loopback'));
test.each(BLOCKED)('%j is never connected to', (address) => expect(judgeAddress(address)).toBe('blocked'));

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
