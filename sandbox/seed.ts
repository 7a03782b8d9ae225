import { randomUUID } from 'node:crypto';
import { privateKeyToAddress } from 'viem/accounts';
import type { Database } from '../db/database.ts';
import { insertBuyerAccount } from '../modules/identity/store/keys.ts';
import { findKeyByHash, generateToken, mintKey } from '../modules/identity/use/keys/keys.ts';
import { MINTABLE_SCOPES, SCOPES } from '../modules/kernel/access/key.ts';
import type { Address } from '../modules/kernel/money/legs.ts';
import type { Hex } from '../modules/kernel/x402/payload.ts';
import { findOwnerToken, insertOwnerToken } from '../modules/tenants/store/owners.ts';
import { findStanding } from '../modules/tenants/store/tenants.ts';
import { createTenant } from '../modules/tenants/use/tenants.ts';
import { createEndpoint } from '../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../platform/outbound/outbound.ts';
import { hashCredential, pepperOf } from '../platform/tokens/pepper.ts';
import { createSecretBox } from '../platform/tokens/secretBox.ts';
import { balanceOf } from './balances.ts';
import { DEMO } from './history/cast.ts';
import { pointToSink } from './history/webhooks.ts';
import type { PreparedChain } from './parts/chain-setup.ts';
import { mintUsdc } from './parts/chain-setup.ts';
import type { SeededPublisher } from './publishers.ts';
import { PUBLISHERS, TEST_KEY } from './publishers.ts';
import type { SandboxSecrets } from './secrets.ts';
import { writePrivateJson } from './secrets.ts';

/** What seeding works on. */
export interface SeedDeps {
  readonly database: Database;
  readonly chain: PreparedChain & { readonly rpcUrl: string };
  readonly secrets: SandboxSecrets;
  readonly secretsFile: string;
  /** Where webhooks are to go in this run. */
  readonly sinkUrl: string;
}

/** A seeded site with its credentials, as `sandbox.json` shows it. */
export interface SeededSite {
  readonly tenantId: string;
  readonly host: string;
  readonly plan: string;
  readonly status?: string;
  readonly ownerToken: string;
  readonly keys: Readonly<Record<string, string>>;
}

/** A buyer with test USDC and an account. */
export interface SeededBuyer {
  readonly privateKey: Hex;
  readonly address: Address;
  readonly accountToken: string;
}

/** Everything that was seeded. */
export interface Seeded {
  readonly publishers: Readonly<Record<SeededPublisher['name'], SeededSite>>;
  readonly buyer: SeededBuyer;
  readonly otherBuyer: SeededBuyer;
  readonly webhookSecret: string;
}

/** Test USDC a buyer has at least when the sandbox is ready. */
const BUYER_MICRO = 1_000_000_000n;
const LEAST_MICRO = 100_000_000n;

/** Puts sites, keys, buyers and the sink's endpoint in place. What is there already stays: a second call adds nothing. */
export async function seed(deps: SeedDeps): Promise<Seeded> {
  const publishers: Partial<Record<SeededPublisher['name'], SeededSite>> = {};
  for (const publisher of PUBLISHERS) publishers[publisher.name] = await seedPublisher(deps, publisher);
  const buyer = await seedBuyer(deps, 'buyer');
  const otherBuyer = await seedBuyer(deps, 'otherBuyer');
  const webhookSecret = await seedEndpoint(deps, (publishers.alpha as SeededSite).tenantId);
  return { publishers: publishers as Seeded['publishers'], buyer, otherBuyer, webhookSecret };
}

/** The demo site with its credentials, its endpoints pointed to the sink of this run; null where no history was written. */
export async function seedDemo(deps: SeedDeps): Promise<SeededSite | null> {
  const { tenantId, host, userId } = DEMO;
  if ((await findStanding(deps.database, tenantId)) === null) return null;
  await pointToSink(deps.database, deps.sinkUrl);
  const known = { name: 'demo', tenantId, userId, keys: { all: SCOPES, [TEST_KEY]: MINTABLE_SCOPES } };
  return { tenantId, host, plan: 'studio', ...(await seedCredentials(deps, known)) };
}

/** The key by which everything of the history is sold. */
export function demoKeyOf({ secretsFile, secrets }: Pick<SeedDeps, 'secrets' | 'secretsFile'>): string {
  return tokenOf(secretsFile, secrets, 'demo all', 'svc_live_');
}

async function seedPublisher(deps: SeedDeps, publisher: SeededPublisher): Promise<SeededSite> {
  const { database, chain } = deps;
  const { name, tenantId, host, plan, status, pricing } = publisher;
  const userId = `owner-of-${name}`;
  if ((await findStanding(database, tenantId)) === null) {
    const networks = { contracts: [chain.usdc, chain.router] };
    await createTenant({ database, networks }, { tenantId, hosts: [host], status, plan, ownerUserId: userId, pricing });
  }
  const credentials = await seedCredentials(deps, { name, tenantId, userId, keys: publisher.keys });
  return { tenantId, host, plan, ...(status === 'active' ? {} : { status }), ...credentials };
}

/** Keys and owner token of a site, of those that are missing. */
async function seedCredentials(
  { database, secrets, secretsFile }: SeedDeps,
  site: Pick<SeededPublisher, 'tenantId' | 'keys'> & { readonly name: string; readonly userId: string },
): Promise<Pick<SeededSite, 'ownerToken' | 'keys'>> {
  const { name, tenantId, userId } = site;
  const pepper = pepperOf(secrets);
  const keys: Record<string, string> = {};
  for (const [keyName, scopes] of Object.entries(site.keys)) {
    const prefix = keyName === TEST_KEY ? 'svc_test_' : 'svc_live_';
    const value = tokenOf(secretsFile, secrets, `${name} ${keyName}`, prefix);
    const known = await findKeyByHash({ database }, hashCredential(pepper, value));
    if (known === null) await mintKey({ database, pepper }, { tenantId, name: keyName, scopes, prefix, value });
    keys[keyName] = value;
  }
  const ownerToken = tokenOf(secretsFile, secrets, `${name} owner`, 'svc_owner_');
  const { current: tokenHash, pepperId } = hashCredential(pepper, ownerToken);
  if ((await findOwnerToken(database, [tokenHash])) === null) {
    const last4 = ownerToken.slice(-4);
    await insertOwnerToken(database, { tenantId, userId, tokenHash, pepperId, last4, expiresAt: null });
  }
  return { ownerToken, keys };
}

async function seedBuyer(deps: SeedDeps, name: 'buyer' | 'otherBuyer'): Promise<SeededBuyer> {
  const { database, chain, secrets, secretsFile } = deps;
  const privateKey = secrets.buyerPrivateKeys[name];
  const address = privateKeyToAddress(privateKey);
  const wallet = address.toLowerCase() as Address;
  if ((await balanceOf(chain, wallet)) < LEAST_MICRO) await mintUsdc(chain.rpcUrl, wallet, BUYER_MICRO);
  const accountToken = tokenOf(secretsFile, secrets, name, 'svc_buyer_');
  const { current: keyHash, pepperId } = hashCredential(pepperOf(secrets), accountToken);
  const known = await database.query('select 1 from buyer_key where key_hash = $1', [keyHash]);
  if (known.length === 0) {
    const key = { keyHash, pepperId, last4: accountToken.slice(-4) };
    await insertBuyerAccount(database, { accountId: randomUUID(), name, wallet }, key);
  }
  return { privateKey, address: address as Address, accountToken };
}

/** The sink's endpoint; its port may be another one in this run. */
async function seedEndpoint(deps: SeedDeps, tenantId: string): Promise<string> {
  const { database, secrets, secretsFile, sinkUrl } = deps;
  if (secrets.webhook !== null) {
    const { endpointId, secret } = secrets.webhook;
    const change = 'update webhook_endpoint set url = $3 where tenant_id = $1 and endpoint_id = $2 returning 1';
    const changed = await database.query(change, [tenantId, endpointId, sinkUrl]);
    if (changed.length === 1) return secret;
  }
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(Buffer.from(secrets.secretsKey, 'base64url'));
  const description = 'the sink of the sandbox';
  secrets.webhook = await createEndpoint({ database, secretBox, outbound }, tenantId, { url: sinkUrl, description });
  await outbound.close();
  writePrivateJson(secretsFile, secrets);
  return secrets.webhook.secret;
}

/** The credential of that name, made and stored at the first call. */
function tokenOf(file: string, secrets: SandboxSecrets, name: string, prefix: string): string {
  const known = secrets.tokens[name];
  if (known !== undefined) return known;
  const token = generateToken(prefix);
  secrets.tokens[name] = token;
  writePrivateJson(file, secrets);
  return token;
}
