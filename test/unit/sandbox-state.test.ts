import { expect, test } from 'vitest';
import { findMismatch } from '../../sandbox/parts/state.ts';
import { temporalSources } from '../../sandbox/parts/temporal-binary.mjs';

const chain = { chainId: 84532, genesisHash: '0xAB', routerCode: '0x60', relayerNonce: 4 };
const known = { chainId: 84532, genesisHash: '0xab', routerCode: '0x60', minimumRelayerNonce: 4 };

test('a chain that has all the database knows is its chain, also with more transactions', () => {
  expect(findMismatch(chain, known)).toBeNull();
  expect(findMismatch({ ...chain, relayerNonce: 9 }, known)).toBeNull();
});

test.each([
  ['another chain id', { chainId: 1 }, /id 1/],
  ['another genesis', { genesisHash: '0xcd' }, /was reset/],
  ['another router', { routerCode: '0x' }, /router/],
  ['lost transactions', { relayerNonce: 3 }, /nonce 3, at least 4/],
])('a chain with %s is not the one the database knows', (_what, change, reason) => {
  expect(findMismatch({ ...chain, ...change }, known)).toMatch(reason);
});

test('Temporal is cached in a folder of its version, below XDG_CACHE_HOME before HOME, and a relative one is ignored', () => {
  const at = (environment: NodeJS.ProcessEnv) => temporalSources(environment, '/last').cacheFolders;
  expect(at({ XDG_CACHE_HOME: '/x', HOME: '/h' })).toEqual([
    '/x/content-settlement/temporal-1.9.1',
    '/h/.cache/content-settlement/temporal-1.9.1',
    '/last/temporal-1.9.1',
  ]);
  expect(at({ XDG_CACHE_HOME: 'x' })).toEqual(['/last/temporal-1.9.1']);
});
