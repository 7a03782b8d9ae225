/** Networks with Circle's own USDC that come with defaults: one row each, which a deployment completes and may change. */
import type { Network, NetworkSettings } from './network.ts';

/** What is known of a network before anything is configured. */
type Preset = Omit<Network, 'id' | 'rpcUrls' | 'router'>;

const GWEI = 1_000_000_000n;
/** Grant at 1 confirmation below 1 USDC, 2 above: blocks of a single sequencer. */
const SEQUENCED: Network['confirmations'] = [
  { belowMicro: 1_000_000n, blocks: 1 },
  { belowMicro: null, blocks: 2 },
];
/** Many validators take turns there, and one may build beside another. */
const VALIDATED: Network['confirmations'] = [
  { belowMicro: 1_000_000n, blocks: 2 },
  { belowMicro: null, blocks: 5 },
];
const USD_COIN = { assetName: 'USD Coin', assetVersion: '2' } as const;
const USDC = { assetName: 'USDC', assetVersion: '2' } as const;
/** Bytes are paid besides gas: written to Ethereum. */
const OP_STACK = {
  blockTimeMs: 2_000,
  confirmations: SEQUENCED,
  maxFeePerGasWei: 5n * GWEI,
  priorityFeePerGasWei: GWEI / 1_000n,
  dataFeeWeiPerByte: 5n * GWEI,
};
/** The sequencer takes no tip, and bytes are paid as gas; `block.number` of a contract is Ethereum's. */
const ARBITRUM = {
  ...({ blockTimeMs: 250, confirmations: SEQUENCED, blockNumberFrom: 'arbsys' } as const),
  maxFeePerGasWei: 5n * GWEI,
  priorityFeePerGasWei: 0n,
};
/**
 * Validators take nothing below a tip of 25 gwei. A POL was above one USDC for the last time in 2024. Its node knows milestones at the tag `finalized`,
 * and no block at `safe`.
 */
const POLYGON = {
  finality: 'finalized' as const,
  blockTimeMs: 2_000,
  confirmations: VALIDATED,
  maxFeePerGasWei: 1_000n * GWEI,
  priorityFeePerGasWei: 30n * GWEI,
  nativePriceMicro: 1_000_000n,
};

/** By CAIP-2 id. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  'eip155:8453': { chainId: 8453, v1Name: 'base', asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', ...USD_COIN, ...OP_STACK },
  'eip155:84532': {
    chainId: 84532,
    v1Name: 'base-sepolia',
    asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    ...USDC,
    ...OP_STACK,
  },
  'eip155:137': { chainId: 137, v1Name: 'polygon', asset: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', ...USD_COIN, ...POLYGON },
  'eip155:80002': {
    chainId: 80002,
    v1Name: 'polygon-amoy',
    asset: '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582',
    ...USDC,
    ...POLYGON,
  },
  'eip155:42161': { chainId: 42161, v1Name: null, asset: '0xaf88d065e77c8cc2239327c5edb3a432268e5831', ...USD_COIN, ...ARBITRUM },
  'eip155:421614': {
    chainId: 421614,
    v1Name: null,
    asset: '0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d',
    ...USD_COIN,
    ...ARBITRUM,
  },
};

/** A network by its preset, with what the deployment says over it. Throws RangeError for an id without one. */
export function presetNetwork(id: string, settings: NetworkSettings): Network {
  const preset = PRESETS[id];
  if (!preset) throw new RangeError(`there is no preset for ${id}`);
  return { id, ...preset, ...settings };
}

/** Base Sepolia: also the network of the sandbox and of the tests. */
export function baseSepoliaNetwork(settings: NetworkSettings): Network {
  return presetNetwork('eip155:84532', settings);
}
