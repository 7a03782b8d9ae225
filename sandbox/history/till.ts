import { createHash, randomUUID } from 'node:crypto';
import type secp256k1Type from 'secp256k1';
import { privateKeyToAddress } from 'viem/accounts';
import type { Snapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { CrossingKind, ObservedAgent, Terms } from '../../modules/kernel/terms.ts';
import type { Hex, ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { parsePayment } from '../../modules/kernel/x402/payload.ts';
import { openKeyring } from '../../modules/licences/use/keyring.ts';
import { openCreditsBook } from '../../modules/quotes/use/credits/book.ts';
import { findPage, issueQuote } from '../../modules/quotes/use/issue.ts';
import type { Payment, PaymentRef } from '../../modules/settlement/store/payment.ts';
import { listDecided } from '../../modules/settlement/store/waiting.ts';
import { newPaymentId } from '../../modules/settlement/use/accept/paymentId.ts';
import type { SettleDeps, SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import type { Waiter } from '../../modules/settlement/use/accept/waiter.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { confirmCarried, railFor } from '../../modules/settlement/use/rails/rails.ts';
import { prepareRelayers } from '../../modules/settlement/use/startWorkflows.ts';
import { watchSettled } from '../../modules/settlement/use/watch/watch.ts';
import { requireNative } from '../../platform/chain/calls/native.ts';
import { Networks } from '../../platform/chain/network.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { authorizationDigest } from '../../platform/chain/signature/signature.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { Keyring } from '../../platform/tokens/jws.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import type { PreparedChain } from '../parts/chain-setup.ts';
import type { SandboxSecrets } from '../secrets.ts';
import type { Past } from './past.ts';

const secp256k1 = requireNative<typeof secp256k1Type>('secp256k1');

/** Gas as it costs here, and a limit nobody reaches. */
const SETTINGS: SettlementDeps['settings'] = {
  waitMs: 30_000,
  licenceLifeSeconds: 600,
  inFlightLimit: 4,
  gasBudgetWeiPerDay: null,
  networkGasBudgetWeiPerDay: null,
  stuckAfterMs: 86_400_000,
  dustBelowMicro: 1_000n,
};
/** How long payments wait until they are settled, and until they are final: as long, to twice as long. */
const SETTLED_MS = 1_400;
const FINAL_MS = 4_700;
/** A chain that is set by hand moves when it is told to: no node of it stands still. */
const STILL_MS = 40 * 86_400_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Who pays. */
export interface Payer {
  readonly address: Address;
  readonly secret: Uint8Array;
  readonly agent: ObservedAgent;
}

/** One page that one payer buys. */
export interface PageSale {
  readonly payer: Payer;
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  /** What is wrong with it: the price of another page is signed. */
  readonly isShort?: boolean;
}

/** Where the history is sold: the settlement service in this process, its batches made by hand. */
export interface Till {
  readonly deps: SettlementDeps;
  readonly snapshots: Snapshots;
  readonly settle: (request: SettleRequest) => Promise<SettleReceipt>;
  readonly keyring: Keyring;
  /** The text of a payment header for these terms, signed at the moment that is set. */
  signed(payer: Payer, terms: Pick<Terms, 'payTo' | 'priceMicro'>): string;
  /** A payer by name: the same wallet on every machine. */
  payer(name: string, agent: ObservedAgent): Payer;
  /** Sells pages to payers who come at one moment. */
  sellPages(tenantId: string, keyId: string, sales: readonly PageSale[]): Promise<void>;
  /**
   * Does purchases that come at one moment: all are taken in, carried by one transaction, settled within three seconds and final within
   * ten. Resolves when each has its answer; a refusal is an answer.
   */
  carry(purchases: readonly (() => Promise<unknown>)[]): Promise<void>;
  close(): Promise<void>;
}

/** What a till is opened on. */
export interface TillParts {
  readonly past: Past;
  readonly chain: PreparedChain & { readonly rpcUrl: string };
  readonly secrets: SandboxSecrets;
  readonly appUrl: string;
}

/** Opens it. `now` of everything in it is the past's. */
export async function openTill({ past, chain, secrets, appUrl }: TillParts): Promise<Till> {
  const { database, nowMs } = past;
  const { network, rpc, deps } = settlementOn({ past, chain, secrets });
  await prepareRelayers(deps);
  const keyring = await openKeyring(database, { privateKeys: [secrets.licenceKey], clock: nowMs });
  const outbound = createOutbound({ allowLoopback: false });
  const secretBox = createSecretBox(Buffer.from(secrets.secretsKey, 'base64url'));
  const { networks } = deps;
  const credits = openCreditsBook({ database, outbound, secretBox, clock: nowMs, log: quiet, forbidden: networks.contracts });
  const snapshots = await openSnapshots({
    database,
    directUrl: appUrl,
    networkIds: networks.ids,
    priceFloorMicro: 1_000n,
    clock: nowMs,
    log: quiet,
  });
  const room = openWaitingRoom();
  const settling: SettleDeps = {
    ...deps,
    waiter: room.waiter,
    signer: keyring,
    newId: () => newPaymentId(nowMs()),
    licenceLifeSeconds: SETTINGS.licenceLifeSeconds,
    issuerOf: () => Promise.resolve('http://127.0.0.1'),
    baseUrl: 'http://127.0.0.1',
  };
  const offered = { networks, snapshots, credits, clock: nowMs, quoteTokenSecrets: [secrets.quoteTokenSecret] };
  const signed: Till['signed'] = (payer, terms) => signFor({ network, nowMs: nowMs() }, payer, terms);

  const carry: Till['carry'] = async (purchases) => {
    const at = nowMs();
    const answers = purchases.map((buy) => outcomeOf(buy()));
    await room.allCame(answers);
    await past.nextBlock(at + 1_000);
    const batchId = randomUUID();
    const sent = await railFor(network).claim(deps, { network: network.id, batchId, workflowId: null });
    await sent.noted;
    await past.mine();
    await past.at(at + SETTLED_MS + (at % SETTLED_MS));
    if (sent.kind === 'sent') await confirmCarried(deps, batchId, { timeoutMs: 5_000 });
    room.tell(await listDecided(database, room.listWaiting()));
    const defect = (await Promise.all(answers)).find((outcome) => outcome !== null);
    if (defect !== undefined) throw defect;
    await past.mine();
    await past.at(at + FINAL_MS + (at % FINAL_MS));
    await watchSettled(deps, network.id);
  };

  return {
    deps,
    snapshots,
    keyring,
    signed,
    carry,
    settle: (request) => settle(settling, request),
    payer: (name, agent) => payerOf(keyOf(`agent ${name}`), agent),
    sellPages: async (tenantId, keyId, sales) => {
      const tenant = await snapshots.tenant(tenantId);
      if (!tenant) throw new Error('the site of the history is not there');
      const buy = async ({ payer, host, slug, kind, isShort }: PageSale): Promise<void> => {
        const { found } = findPage(offered, { tenant, resource: `https://${host}/stories/${slug}`, kind });
        if (typeof found === 'string') throw new Error(`${slug} is not for sale: ${found}`);
        const { terms } = issueQuote(offered, found);
        const text = signed(payer, isShort ? { ...terms, priceMicro: terms.priceMicro - 1_000n } : terms);
        const payment = parsed(text);
        await settle(settling, { tenantId, keyId, mode: 'live', terms, payment, agent: payer.agent });
      };
      await carry(sales.map((sale) => () => buy(sale)));
    },
    close: async () => {
      await snapshots.close();
      await outbound.close();
      await rpc.close();
    },
  };
}

/** What settles on the chain as it stands still, and the parts of it that a till uses itself. */
function settlementOn({ past, chain, secrets }: Pick<TillParts, 'past' | 'chain' | 'secrets'>) {
  const network = baseSepoliaNetwork({ rpcUrls: [chain.rpcUrl], router: chain.router, nativePriceMicro: 0n, blockTimeMs: 1_000 });
  const rpc = createRpc({ ...network, blockTimeMs: STILL_MS });
  const relayers = [localSigner(secrets.relayerPrivateKey)];
  const deps: SettlementDeps = {
    database: past.database,
    networks: new Networks([network]),
    rpcOf: () => rpc,
    relayersOf: () => relayers,
    facilitatorOf: () => null,
    log: quiet,
    now: past.nowMs,
    settings: SETTINGS,
    crashAt: () => undefined,
  };
  return { network, rpc, deps };
}

/** The private key of somebody in the story. It is public, on a chain without value. */
export function keyOf(name: string): Hex {
  return `0x${createHash('sha256').update(`content-settlement sandbox ${name}`).digest('hex')}`;
}

/** Null for an answer, and a refusal is one; anything else that was thrown is a defect of the story. */
async function outcomeOf(purchase: Promise<unknown>): Promise<unknown> {
  try {
    await purchase;
    return null;
  } catch (error) {
    return error instanceof PaymentError && error.code !== 'settlement_pending' ? null : error;
  }
}

function payerOf(key: Hex, agent: ObservedAgent): Payer {
  const address = privateKeyToAddress(key).toLowerCase() as Address;
  return { address, secret: Buffer.from(key.slice(2), 'hex'), agent };
}

function parsed(text: string): ParsedPayment {
  const read = parsePayment(text);
  if (!read.ok) throw new Error(read.detail);
  return read.payment;
}

function signFor(
  { network, nowMs }: { readonly network: ReturnType<typeof baseSepoliaNetwork>; readonly nowMs: number },
  { address, secret }: Payer,
  { payTo, priceMicro }: Pick<Terms, 'payTo' | 'priceMicro'>,
): string {
  const authorization = {
    from: address,
    to: payTo,
    value: priceMicro,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(nowMs / 1_000) + 300),
    nonce: `0x${createHash('sha256').update(randomUUID()).digest('hex')}` as const,
  };
  const { signature: bytes, recid } = secp256k1.ecdsaSign(authorizationDigest(network, authorization), secret);
  const signature = `0x${Buffer.from(bytes).toString('hex')}${recid === 1 ? '1c' : '1b'}`;
  const { assetName: name, assetVersion: version } = network;
  const accepted = {
    scheme: 'exact',
    network: network.id,
    amount: String(priceMicro),
    asset: network.asset as Address,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version },
  };
  const said = Object.fromEntries(Object.entries(authorization).map(([key, value]) => [key, String(value)]));
  return JSON.stringify({ x402Version: 2, accepted, payload: { signature, authorization: said } });
}

/** Where callers wait for their rows until they are told. */
function openWaitingRoom() {
  const waiting = new Map<string, { readonly ref: PaymentRef; readonly resolve: (payment: Payment | null) => void }>();
  let someoneCame: () => void = () => undefined;
  const waiter: Waiter = {
    wait: (ref) =>
      new Promise((resolve) => {
        waiting.set(ref.paymentId, { ref, resolve });
        someoneCame();
      }),
    close: () => Promise.resolve(),
  };
  return {
    waiter,
    listWaiting: () => [...waiting.values()].map(({ ref }) => ref),
    tell: (payments: readonly Payment[]): void => {
      for (const payment of payments) {
        waiting.get(payment.paymentId)?.resolve(payment);
        waiting.delete(payment.paymentId);
      }
    },
    /** Resolves when each of the purchases waits for its row or has its answer already. */
    allCame: (purchases: readonly Promise<unknown>[]): Promise<void> =>
      new Promise((resolve) => {
        let answered = 0;
        someoneCame = () => {
          if (answered + waiting.size === purchases.length) resolve();
        };
        for (const purchase of purchases) {
          void purchase.finally(() => {
            answered += 1;
            someoneCame();
          });
        }
        someoneCame();
      }),
  };
}
