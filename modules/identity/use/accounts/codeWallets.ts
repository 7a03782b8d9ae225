/**
 * Wallets of code that sign in. To ask one costs a call of every URL, in which foreign code runs, and anyone can name any contract; so they
 * have turns of their own: few at once, so many a minute, and of both a part at most for one address.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import { isConfirmedByWallet } from '../../../../platform/chain/signature/message.ts';
import { openTurns } from '../../../../platform/pacing/fairQueue.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Rate } from '../../../kernel/rate.ts';
import { spend, steadyClock } from '../../../kernel/rate.ts';

/** What a wallet is asked. */
export type WalletQuestion = Parameters<typeof isConfirmedByWallet>[1];

/** The turns of one process. */
export interface CodeWallets {
  /**
   * True when the wallet's code confirms the signature, by the word of two nodes where there are several. `from` is the address the request came from. Throws overloaded (503 with
   * Retry-After) when there is no room, and chain_unavailable.
   */
  confirms(from: string, question: WalletQuestion): Promise<boolean>;
}

/** What bounds it; a bucket of a minute holds as many calls as come in one. */
export interface CodeWalletLimits {
  readonly atOnce: number;
  readonly perMinute: number;
  /** Of one address. */
  readonly perMinuteOfOne: number;
}

/** The limits of a process: a call of every URL for each, so 600 a minute at a URL, 60 of them for one address. */
export const CODE_WALLET_LIMITS: CodeWalletLimits = { atOnce: 4, perMinute: 600, perMinuteOfOne: 60 };
const WAIT_MS = 2_000;
const ANSWER_MS = 1_500;
const MINUTE_MS = 60_000;
/** What a wallet said to the very same question is good for a minute: a repeated request costs nothing. */
const ANSWERS = 1_000;

/** Opens their turns. */
export function openCodeWallets(
  { rpc, clock }: { readonly rpc: Rpc; readonly clock: () => number },
  limits: CodeWalletLimits = CODE_WALLET_LIMITS,
): CodeWallets {
  const { atOnce, perMinute, perMinuteOfOne } = limits;
  const turns = openTurns({
    atOnce,
    mostOfOne: Math.max(1, Math.floor(atOnce / 2)),
    mostWaiting: 8,
    mostWaitingInAll: 64,
    waitMs: WAIT_MS,
    refusal: () => full(2),
  });
  const [rate, rateOfOne] = [minutely(perMinute), minutely(perMinuteOfOne)];
  const now = steadyClock(clock);
  let allFullAtMs = 0;
  /** More names than are let in within a minute, after which a bucket is full: none is pushed out before. */
  const fullAtMs = new LRUCache<string, number>({ max: 2 * perMinute + 1 });
  const count = (from: string): void => {
    const nowMs = now();
    const all = spend(allFullAtMs, 1, rate, nowMs);
    const own = spend(fullAtMs.get(from) ?? 0, 1, rateOfOne, nowMs);
    const waitMs = Math.max(all.waitMs, own.waitMs);
    if (waitMs > 0) throw full(Math.ceil(waitMs / 1000));
    allFullAtMs = all.fullAtMs;
    fullAtMs.set(from, own.fullAtMs);
  };
  const answers = new LRUCache<string, { readonly isConfirmed: boolean; readonly atMs: number }>({ max: ANSWERS });
  const hurried: Rpc = {
    ...rpc,
    request: (method, params) => rpc.request(method, params, { timeoutMs: ANSWER_MS }),
    each: (method, params) => rpc.each(method, params, { timeoutMs: ANSWER_MS }),
  };
  return {
    confirms: async (from, question) => {
      const words = hash('sha256', JSON.stringify([question.address, question.message, question.signature]), 'base64');
      const known = answers.get(words);
      if (known && now() - known.atMs < MINUTE_MS) return known.isConfirmed;
      const leave = await turns.enter([from]);
      try {
        count(from);
        const isConfirmed = await isConfirmedByWallet(hurried, question);
        answers.set(words, { isConfirmed, atMs: now() });
        return isConfirmed;
      } finally {
        leave();
      }
    },
  };
}

/** So many a minute, all of them at once after a minute of none. */
function minutely(calls: number): Rate {
  return { perSecond: (calls * 1_000) / MINUTE_MS, burst: calls };
}

function full(retryAfterSeconds: number): ServiceError {
  return new ServiceError('overloaded', 'too many contract wallets are signing in right now; try again', { retryAfterSeconds });
}
