/** A trickle of purchases by buyers with keys of their own and the stock x402 client, who ask again with the same payment when told to wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { privateKeyToAddress } from 'viem/accounts';
import { buyPage } from '../../examples/buyer/buyer.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import type { PreparedChain } from '../../sandbox/parts/chain-setup.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';

/** One purchase, from its first request to the page. */
export interface TrickledPurchase {
  readonly tookMs: number;
  /** Null for a page that came; else what came in its place. */
  readonly unserved: string | null;
}

/** A buyer with the money he began with and what he was told. */
export interface TrickleBuyer {
  readonly address: Address;
  readonly chargedMicro: bigint[];
}

/** A running trickle. */
export interface Trickle {
  /** Those that have ended. */
  readonly purchases: readonly TrickledPurchase[];
  /** Answers so far that were neither a page nor an offer: status, or `lost` for a connection. */
  readonly errors: readonly string[];
  readonly buyers: readonly TrickleBuyer[];
  /** No new purchases; resolves when those on their way have ended. */
  stop(): Promise<void>;
}

/** What every buyer begins with, micro. */
export const PURSE_MICRO = 100_000n;
const PAGES = ['solo', 'trio', 'duo'];
const PATIENCE_MS = 180_000;
const ASK_AGAIN_MS = 500;
const CALL_LIMIT_MS = 40_000;

/**
 * Starts it: `atOnce` buyers at a time, each of whom buys three pages one after another with pauses (`pauseMs` on the average) and is
 * followed by another with a new key.
 */
export function startTrickle(options: {
  readonly publisherUrl: string;
  readonly chain: PreparedChain & { readonly rpcUrl: string };
  readonly atOnce: number;
  readonly pauseMs: number;
}): Trickle {
  const { publisherUrl, chain, atOnce, pauseMs } = options;
  const purchases: TrickledPurchase[] = [];
  const errors: string[] = [];
  const buyers: TrickleBuyer[] = [];
  let isOver = false;
  let minted = Promise.resolve();
  const play = async (place: number): Promise<void> => {
    await sleep((place * pauseMs) / atOnce);
    while (!isOver) {
      const privateKey = newPrivateKey();
      const address = privateKeyToAddress(privateKey).toLowerCase() as Address;
      minted = minted.then(() => mintUsdc(chain.rpcUrl, address, PURSE_MICRO)); // one after the other: they share the faucet's nonce
      await minted;
      const buyer: TrickleBuyer = { address, chargedMicro: [] };
      buyers.push(buyer);
      for (const page of PAGES) {
        if (isOver) break;
        purchases.push(await buyOnce(`${publisherUrl}/articles/${page}`, privateKey, buyer, errors));
        await sleep(pauseMs * (0.5 + Math.random()));
      }
    }
  };
  const players = Array.from({ length: atOnce }, (_, place) => play(place));
  return {
    purchases,
    errors,
    buyers,
    stop: async () => {
      isOver = true;
      await Promise.all(players);
    },
  };
}

async function buyOnce(url: string, privateKey: `0x${string}`, buyer: TrickleBuyer, errors: string[]): Promise<TrickledPurchase> {
  const began = performance.now();
  const deadline = began + PATIENCE_MS;
  const patient: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    for (;;) {
      const answer = await fetch(request.clone(), { signal: AbortSignal.timeout(CALL_LIMIT_MS) }).catch(() => null);
      if (answer && (answer.status < 500 || performance.now() > deadline)) return answer;
      if (performance.now() > deadline) throw new Error('no answer in three minutes');
      errors.push(answer ? String(answer.status) : 'lost');
      await answer?.arrayBuffer();
      await sleep(ASK_AGAIN_MS);
    }
  };
  let unserved: string | null = null;
  try {
    const bought = await buyPage(url, privateKey, patient);
    const charged = (bought.settlement as { readonly amount?: string } | null)?.amount;
    if (bought.status !== 200) unserved = `${bought.status} ${bought.page.slice(0, 200)}`;
    else if (charged === undefined) unserved = 'the page came without a receipt';
    else buyer.chargedMicro.push(BigInt(charged));
  } catch (error) {
    unserved = error instanceof Error ? error.message : String(error);
  }
  return { tookMs: performance.now() - began, unserved };
}
