/** The settlement services on a real Postgres and a real chain, without Temporal: batches run in the test's own process. */

import { randomUUID } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey } from 'viem/accounts';
import { openDatabase } from '../../db/database.ts';
import { listen } from '../../db/listen.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { canonicalPayees, splitAmounts } from '../../modules/kernel/money/legs.ts';
import type { CrossingKind, Terms } from '../../modules/kernel/terms.ts';
import type { Authorization, ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { openKeyring } from '../../modules/licences/use/keyring.ts';
import { ACCEPTED_CHANNEL } from '../../modules/settlement/store/announce.ts';
import type { SettleDeps, SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import { openWaiter } from '../../modules/settlement/use/accept/waiter.ts';
import { openFlights } from '../../modules/settlement/use/batch/flights.ts';
import type { SettlementDeps, SettlementSettings } from '../../modules/settlement/use/deps.ts';
import { confirmCarried, railFor } from '../../modules/settlement/use/rails/rails.ts';
import { prepareRelayers } from '../../modules/settlement/use/startWorkflows.ts';
import type { Facilitator } from '../../platform/chain/facilitator.ts';
import type { Network } from '../../platform/chain/network.ts';
import { Networks } from '../../platform/chain/network.ts';
import { payToOf } from '../../platform/chain/router/split.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import type { Signer } from '../../platform/chain/signature/signer.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { newSigningKey } from './api.ts';
import { createDatabase, startTestChain } from './parts.ts';
import { addressOf, newAccount, newWallet, signPayment, testNetwork } from './payments.ts';
import type { RpcProxy } from './rpc-proxy.ts';
import { startRpcProxy } from './rpc-proxy.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** One author, or several with weights. */
export type Authors = readonly { readonly wallet: Address; readonly weight: bigint }[];

/** Starts the world; `automine` mines every transaction at once, otherwise a block a second. */
export async function startSettlement(
  options: {
    automine?: boolean;
    network?: Partial<Network>;
    /** False: nothing is sent unless the test does it. */
    runBatches?: boolean;
    /** How long a caller waits for its row, ms. */
    waitMs?: number;
    /** Stands between the services and the node, for tests that cut the line. */
    wrap?: (rpc: Rpc) => Rpc;
    /** Starts something in front of the node, and returns the address, or addresses, that the services ask instead. */
    inFront?: (rpcUrl: string) => Promise<string | readonly string[]>;
    /** How many relayer keys there are; one unless told. */
    relayers?: number;
    /** The keys themselves, in place of new ones. */
    signers?: readonly Signer[];
    settings?: Partial<SettlementSettings>;
    /** Moves the money instead of the relayer where `network.settler` says so. */
    facilitator?: Facilitator;
  } = {},
) {
  const relayers = options.signers ?? Array.from({ length: options.relayers ?? 1 }, () => localSigner(generatePrivateKey()));
  const chain = await startTestChain(
    { relayers: relayers.map((relayer) => relayer.address), mint: [] },
    { blockTimeSeconds: options.automine ? null : 1 },
  );
  const urls = await createDatabase();
  const database = await openDatabase({ pipelined: true, url: urls.appUrl, poolSize: 10 });
  const rpcUrls = options.inFront ? [await options.inFront(chain.rpcUrl)].flat() : [chain.rpcUrl];
  const network = testNetwork(chain, { blockTimeMs: 1_000, rpcUrls, ...options.network });
  // A node that mines only when it is told to stands still for as long as a test thinks.
  const patient = options.automine ? { ...network, blockTimeMs: 60_000 } : network;
  const rpc = (options.wrap ?? ((line) => line))(createRpc(patient));
  const deps: SettlementDeps = {
    database,
    networks: new Networks([network]),
    rpcOf: () => rpc,
    relayersOf: () => relayers,
    facilitatorOf: () => options.facilitator ?? null,
    log: quiet,
    now: Date.now,
    settings: {
      waitMs: options.waitMs ?? 60_000,
      licenceLifeSeconds: 600,
      inFlightLimit: 4,
      gasBudgetWeiPerDay: null,
      networkGasBudgetWeiPerDay: null,
      stuckAfterMs: 60_000, // a test that wants a dearer replacement asks for one; a busy machine makes none
      dustBelowMicro: 1_000n,
      ...options.settings,
    },
    crashAt: () => undefined,
  };
  await prepareRelayers(deps);
  const tenantId = randomUUID();
  await database.query("insert into tenant (tenant_id, status, plan, price_usdc) values ($1, 'active', 'studio', '0.001')", [
    tenantId,
  ]);
  const woken = options.runBatches === false ? null : openWoken(deps, urls.ownerUrl);
  const waiter = openWaiter({ database, directUrl: urls.appUrl, log: quiet });
  const signer = await openKeyring(database, { privateKeys: [newSigningKey()], clock: Date.now });
  const settleDeps: SettleDeps = {
    ...deps,
    waiter,
    signer,
    newId: randomUUID,
    licenceLifeSeconds: 600,
    issuerOf: async () => 'https://issuer.example',
    baseUrl: 'https://issuer.example',
  };
  return {
    chain,
    database,
    ownerUrl: urls.ownerUrl,
    appUrl: urls.appUrl,
    network,
    rpc,
    deps,
    settleDeps,
    tenantId,
    fund: (to: Address, amountMicro: bigint) => mintUsdc(chain.rpcUrl, to, amountMicro),
    close: async () => {
      await woken?.close();
      await waiter.close();
      await database.close();
      await chain.stop();
      await urls.drop();
    },
  };
}

/** What `startSettlement` gives. */
export type SettlementWorld = Awaited<ReturnType<typeof startSettlement>>;

/** The same in front of two nodes of one chain, each behind a proxy that lies or is away when it is told to; nothing is sent by itself. */
export async function startOnTwoNodes(): Promise<{ world: SettlementWorld; line: RpcProxy; other: RpcProxy }> {
  let started: readonly RpcProxy[] = [];
  const world = await startSettlement({
    ...{ automine: true, runBatches: false, waitMs: 50 },
    inFront: async (rpcUrl) => {
      started = await Promise.all([startRpcProxy(rpcUrl), startRpcProxy(rpcUrl)]);
      return started.map(({ url }) => url);
    },
  });
  const [line, other] = started as [RpcProxy, RpcProxy];
  return { world, line, other };
}

/** What a worker does when it is told of a payment, without Temporal: it stays with its batches until they are decided. */
function openWoken(deps: SettlementDeps, directUrl: string) {
  const flights = openFlights(deps, async ({ batchId }) => {
    // No workflow will ever hold it: a test that sweeps waits for none.
    await deps.database.query('update settlement_batch set held_until = now() where batch_id = $1', [batchId]);
    throw new Error('there is no Temporal here');
  });
  const listener = listen(directUrl, ACCEPTED_CHANNEL, () => {
    for (const id of deps.networks.ids) flights.wake(id);
  });
  return {
    close: async () => {
      await listener.close();
      await flights.close();
    },
  };
}

/** What waits of the world's network, claimed, sent and confirmed batch by batch until nothing can be sent. */
export async function runBatches(deps: SettlementDeps): Promise<void> {
  const network = deps.networks.first;
  for (let round = 0; round < 600; round++) {
    const batchId = randomUUID();
    const sent = await railFor(network).claim(deps, { network: network.id, batchId, workflowId: null });
    await sent.noted;
    if (sent.kind === 'idle' && sent.others === 'none') return;
    if (sent.kind === 'busy') await new Promise((resolve) => setTimeout(resolve, 100));
    for (let look = 0; sent.kind === 'sent' && look < 40; look++) {
      if ((await confirmCarried(deps, batchId, { timeoutMs: 1_500 })).undecided === 0) break;
    }
  }
}

/** Terms of a page of the world's tenant. */
export function termsFor(
  world: SettlementWorld,
  authors: Authors,
  options: { slug?: string; kind?: CrossingKind; priceMicro?: bigint } = {},
): Terms {
  const canonical = canonicalPayees(authors);
  const { payTo, words } = payToOf(canonical, world.network.router);
  const priceMicro = options.priceMicro ?? 1_000n;
  const amounts = splitAmounts(priceMicro, canonical);
  const total = canonical.reduce((sum, payee) => sum + payee.weight, 0n);
  const slug = options.slug ?? 'page';
  return {
    tenantId: world.tenantId,
    host: 'alpha.example',
    slug,
    resource: `https://alpha.example/articles/${slug}`,
    resourceKey: `alpha.example/articles/${slug}`,
    kind: options.kind ?? 'read',
    priceMicro,
    payees: canonical.map(({ wallet, weight }, n) => ({
      authorId: `author-${n}`,
      wallet,
      share: Number(weight) / Number(total),
    })),
    legs: canonical.map(({ wallet }, n) => ({
      toAddress: wallet,
      amountMicro: amounts[n] ?? 0n,
      role: 'author',
      authorId: `author-${n}`,
    })),
    legWords: words.length === 1 ? null : words,
    payTo,
    network: world.network.id,
    asset: world.network.asset,
    router: world.network.router,
    quoteId: randomUUID(),
  };
}

/** A payer with test USDC. */
export async function newPayer(world: SettlementWorld, amountMicro = 1_000_000n): Promise<PrivateKeyAccount> {
  const account = newAccount();
  await world.fund(addressOf(account), amountMicro);
  return account;
}

/** A parsed x402 payment for the terms. */
export async function paymentFor(
  world: SettlementWorld,
  payer: PrivateKeyAccount,
  terms: Terms,
  changes: Partial<Authorization> = {},
): Promise<ParsedPayment> {
  const signed = await signPayment(world.network, payer, {
    to: terms.payTo,
    value: terms.priceMicro,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 300),
    ...changes,
  });
  return { x402Version: 1, scheme: 'exact', network: world.network.v1Name ?? '', ...signed, erc6492: false };
}

/** Settles as the REST API would ask for it. */
export function pay(world: SettlementWorld, terms: Terms, payment: ParsedPayment, changes: Partial<SettleRequest> = {}) {
  const request = { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, ...changes } as const;
  return settle(world.settleDeps, request);
}

/** Some authors with fresh wallets. */
export function newAuthors(...weights: bigint[]): Authors {
  return weights.map((weight) => ({ wallet: newWallet(), weight }));
}
