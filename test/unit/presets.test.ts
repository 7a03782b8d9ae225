import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDefaultAsset } from '@x402/evm';
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1';
import { domainSeparator } from 'viem';
import { expect, test } from 'vitest';
import { PRESETS, presetNetwork } from '../../platform/chain/presets.ts';
import { routerAddress } from '../../platform/chain/router/split.ts';
import { readConfig } from '../../process/config/read.ts';

/** What each token's `DOMAIN_SEPARATOR()` answers on its chain; Polygon's test network has no published one. */
const SEPARATORS: Readonly<Record<string, string>> = {
  'eip155:8453': '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  'eip155:84532': '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
  'eip155:137': '0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca',
  'eip155:42161': '0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78',
  'eip155:421614': '0x85944e1292d007732838d6eadfa67589b78ffcededbd4df60488d0af251308bb',
};
const ids = Object.keys(PRESETS);
const presetOf = (id: string) => presetNetwork(id, { rpcUrls: ['http://127.0.0.1:1'], router: routerAddress });

test.each(ids)('buyers of %s sign for the domain that its USDC has on chain', (id) => {
  const { chainId, asset, assetName: name, assetVersion: version } = presetOf(id);
  expect(`eip155:${chainId}`).toBe(id);
  const separator = domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } });
  expect(separator).toBe(SEPARATORS[id] ?? separator);
});

test.each(ids.filter((id) => id in SEPARATORS))('%s has the USDC that stock x402 clients know there', (id) => {
  const { asset, name, version } = getDefaultAsset(id as `eip155:${number}`);
  const { assetName, assetVersion, ...preset } = presetOf(id);
  expect([preset.asset, assetName, assetVersion]).toEqual([asset.toLowerCase(), name, version]);
});

test.each(ids)('%s goes by the name that version 1 of x402 has for its chain, or by none', (id) => {
  const { v1Name, chainId } = presetOf(id);
  const [known = null] = Object.entries(EVM_NETWORK_CHAIN_ID_MAP).find(([, number]) => Number(number) === chainId) ?? [];
  expect(v1Name).toBe(known);
});

test('secrets are written for the networks that are named, in that order, and the configuration reads them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  execFileSync(process.execPath, ['bin/secrets.ts', folder, ...ids]);
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const { networks, relayerPrivateKeys } = readConfig(
    { NETWORKS: read('networks'), RELAYER_PRIVATE_KEYS: read('relayer_private_keys') },
    [],
  );
  expect(networks?.map(({ id }) => id)).toEqual(ids);
  expect(networks?.map(({ asset }) => asset)).toEqual(ids.map((id) => PRESETS[id]?.asset));
  expect(Object.keys(relayerPrivateKeys ?? {})).toEqual(ids);
  rmSync(folder, { recursive: true });
});
