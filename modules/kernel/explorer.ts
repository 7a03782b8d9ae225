/** Where people look at transactions, by CAIP-2 id; the networks that come with defaults (platform/chain/presets.ts). */
const EXPLORERS: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://basescan.org',
  'eip155:84532': 'https://sepolia.basescan.org',
  'eip155:137': 'https://polygonscan.com',
  'eip155:80002': 'https://amoy.polygonscan.com',
  'eip155:42161': 'https://arbiscan.io',
  'eip155:421614': 'https://sepolia.arbiscan.io',
};

/** Where to look at a transaction; null where no explorer of the network is known, or the hash is none. */
export function transactionUrl(network: string, txHash: string): string | null {
  const explorer = EXPLORERS[network];
  return explorer !== undefined && /^0x[0-9a-f]{64}$/.test(txHash) ? `${explorer}/tx/${txHash}` : null;
}
