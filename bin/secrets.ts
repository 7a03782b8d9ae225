/**
 * `node bin/secrets.ts <folder> [<network> …]`: writes the secret files docker-compose.yml reads, random ones, for Base unless networks
 * with a preset are named (cheapest first). The folder is its owner's alone, also when it was there before; the files in it can be read
 * by whatever user a container runs as. A file that is there stays as it is, so a second run adds only what is missing. What cannot be
 * made up, it says; what only some need is left empty (not set).
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRESETS } from '../platform/chain/presets.ts';
import { routerAddress } from '../platform/chain/router/split.ts';
import { createServiceSecrets } from '../process/serviceSecrets.ts';

const [folder, ...named] = process.argv.slice(2);
const networks = named.length === 0 ? ['eip155:8453'] : named;
if (folder === undefined || networks.some((id) => !Object.hasOwn(PRESETS, id))) {
  process.stderr.write(`usage: node bin/secrets.ts <folder> [<network> …]\nnetworks: ${Object.keys(PRESETS).join(', ')}\n`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
chmodSync(folder, 0o700);

/** The text of a file, written at the first call. */
function secret(name: string, make: () => string): string {
  const file = join(folder as string, name);
  if (!existsSync(file)) writeFileSync(file, make(), { mode: 0o644, flag: 'wx' });
  return readFileSync(file, 'utf8').trim();
}

/** A public node of each network, to begin with. */
const PUBLIC_NODES: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://mainnet.base.org',
  'eip155:84532': 'https://sepolia.base.org',
  'eip155:137': 'https://polygon-rpc.com',
  'eip155:80002': 'https://rpc-amoy.polygon.technology',
  'eip155:42161': 'https://arb1.arbitrum.io/rpc',
  'eip155:421614': 'https://sepolia-rollup.arbitrum.io/rpc',
};
const password = (): string => randomBytes(24).toString('base64url');
const made = createServiceSecrets();
secret('postgres_password', password);
secret('temporal_database_password', password);
secret('replication_password', password);
secret('grafana_admin_password', password);
const owner = secret('database_owner_password', password);
const app = secret('database_app_password', password);
secret('database_owner_url', () => `postgres://svc_owner:${owner}@postgres:5432/svc`);
secret('database_url', () => `postgres://svc_app:${app}@postgres:5432/svc`);
secret('quote_token_secrets', () => made.quoteTokenSecret);
secret('api_key_pepper', () => made.apiKeyPepper);
secret('secrets_key', () => made.secretsKey);
secret('licence_keys', () => JSON.stringify({ keys: [made.licenceKey] }));
secret('relayer_private_keys', () => JSON.stringify(Object.fromEntries(networks.map((id) => [id, [made.relayerPrivateKey]]))));
secret('networks', () => JSON.stringify(networks.map((id) => ({ id, rpcUrls: [PUBLIC_NODES[id]], router: routerAddress }))));
for (const name of [
  'database_ca',
  'database_direct_url',
  'database_read_url',
  'api_key_pepper_previous',
  'secrets_key_previous',
  'facilitator_token',
  'smtp_url',
  'oidc_client_secret',
  'alert_webhook_url',
])
  secret(name, () => '');
process.stdout.write(
  `The secrets are in ${folder}; keep a copy apart from the database's backups.\n` +
    `Now put RPC addresses of your own into ${join(folder, 'networks')}, two providers at least, and send gas money to the relayer\n` +
    'whose key is in relayer_private_keys, on every network (`admin router deploy` names its address).\n',
);
