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

/** What bounds it. */
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
  /** Of the minute that `since` began; there are no more names than calls. */
  let asked = new Map<string, number>();
  let total = 0;
  let sinceMs = 0;
  const count = (from: string): void => {
    const nowMs = clock();
    if (nowMs - sinceMs >= MINUTE_MS || nowMs < sinceMs) [asked, total, sinceMs] = [new Map(), 0, nowMs];
    const own = asked.get(from) ?? 0;
    if (total >= perMinute || own >= perMinuteOfOne) throw full(Math.ceil((sinceMs + MINUTE_MS - nowMs) / 1000));
    total++;
    asked.set(from, own + 1);
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
      if (known && Math.abs(clock() - known.atMs) < MINUTE_MS) return known.isConfirmed;
      const leave = await turns.enter([from]);
      try {
        count(from);
        const isConfirmed = await isConfirmedByWallet(hurried, question);
        answers.set(words, { isConfirmed, atMs: clock() });
        return isConfirmed;
      } finally {
        leave();
      }
    },
  };
}

function full(retryAfterSeconds: number): ServiceError {
  return new ServiceError('overloaded', 'too many contract wallets are signing in right now; try again', { retryAfterSeconds });
}
