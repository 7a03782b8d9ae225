import { expect, test } from 'vitest';
import { createAddressReader } from '../../api/address.ts';

const OURS = ['10.0.0.0/8', 'fd00::/8'];

function read(peer: string, forwarded?: string, trusted: readonly string[] = OURS): string {
  const headers = { forwarded: 'for=203.0.113.250', ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) };
  return createAddressReader(trusted)({ socket: { remoteAddress: peer } as never, headers });
}

test('a header of a peer that is no proxy of ours means nothing, nor does any while none is named', () => {
  expect(read('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
  expect(read('10.0.0.1', '198.51.100.1', [])).toBe('10.0.0.1');
});

test('behind our proxies the caller is the last address of the chain that is none of them, whatever he wrote himself', () => {
  expect(read('10.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  expect(read('10.0.0.1', '192.0.2.7, 198.51.100.1, 10.0.0.2')).toBe('198.51.100.1');
  expect(read('::ffff:10.0.0.1', '10.9.9.9,198.51.100.1:4711')).toBe('198.51.100.1');
  expect(read('fd00::1', '10.0.0.3, [2001:db8::7]:443')).toBe('2001:db8::');
});

test('a chain that cannot be read, or is all ours, ends at the last proxy that could', () => {
  for (const forwarded of ['', 'unknown', '198.51.100.1, nobody', '1.2.3', '0x7f.1', 'a'.repeat(16_000)]) {
    expect([forwarded.slice(0, 20), read('10.0.0.1', forwarded)]).toEqual([forwarded.slice(0, 20), '10.0.0.1']);
  }
  expect(read('10.0.0.1', 'nobody, 10.0.0.7')).toBe('10.0.0.7');
  expect(read('10.0.0.1', '10.0.0.9, 10.0.0.8')).toBe('10.0.0.9');
});

test('of a chain its last eight are read: more proxies than anybody has cost nothing, and name nobody', () => {
  const ours = (hops: number): string[] => Array.from({ length: hops }, (_, hop) => `10.0.0.${hop + 2}`);
  expect(read('10.0.0.1', ['198.51.100.1', ...ours(7)].join(','))).toBe('198.51.100.1');
  expect(read('10.0.0.1', ['198.51.100.1', ...ours(8)].join(','))).toBe('10.0.0.2');
});

test('of IPv6 a whole /64 is one caller, and IPv4 is the same however it is written', () => {
  expect(read('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::');
  expect(read('2001:db8:1:2::')).toBe('2001:db8:1:2::');
  expect(read('fe80::1%eth0')).toBe('fe80::');
  expect(read('::ffff:198.51.100.1')).toBe(read('198.51.100.1'));
  expect(read('2001:db8:1:3::1')).not.toBe(read('2001:db8:1:2::1'));
});
