/** A split with an author whom the token refuses to pay: the others get their money at once, he gets his when the token pays him again. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { splitAmounts } from '../../modules/kernel/money/legs.ts';
import { payToOf, routerAddress, splitOf } from '../../platform/chain/router/split.ts';
import type { Hex, World } from './world.ts';
import { newWallet, startWorld, transfers, USDC } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** The one leg of what waits for a wallet. */
function waitingWords(wallet: Address): readonly Hex[] {
  return [`0x${((1n << 160n) | BigInt(wallet)).toString(16).padStart(64, '0')}`];
}

/** An article of as many new authors. */
function newArticle(weights: readonly bigint[]) {
  return payToOf(weights.map((weight) => ({ wallet: newWallet(), weight })));
}

function walletOf(word: Hex): Address {
  return `0x${word.slice(-40)}`;
}

function payeesOf(words: readonly Hex[]) {
  return words.map((word) => ({ wallet: walletOf(word), weight: BigInt(word.slice(0, -40)) }));
}

test('an author whom the token refuses holds up nobody: the others are paid, his part waits for him alone and is paid later', async () => {
  const { payTo, words } = newArticle([5n, 3n, 2n]);
  const [first, second, third] = words.map(walletOf) as [Address, Address, Address];
  await world.block(second);
  await world.mint([payTo], 1_000n);
  expect((await world.flushAll(words)).status).toBe('reverted');
  const waiting = await world.waitingOf(second);
  expect(transfers(await world.flushAround(words))).toEqual([
    [payTo, first, 500n],
    [payTo, waiting, 300n],
    [payTo, third, 200n],
  ]);
  expect((await world.flushAll(waitingWords(second))).status).toBe('reverted');
  expect(await world.balance(waiting)).toBe(300n);
  await world.unblock(second);
  expect(transfers(await world.flushAll(waitingWords(second)))).toEqual([[waiting, second, 300n]]);
  for (const legs of [words, waitingWords(second)]) expect((await world.flushAll(legs)).logs).toEqual([]);
});

test('an author who can be paid is paid at once, whoever pays out around and with however little gas', async () => {
  const { payTo, words } = newArticle([2n, 1n]);
  const [first, second] = words.map(walletOf);
  await world.mint([payTo], 900n);
  let paid = false;
  for (let gas = 100_000n; !paid; gas += 10_000n) {
    const receipt = await world.flushAround(words, USDC, gas);
    paid = receipt.status === 'success';
    const wanted = [
      [payTo, first, 600n],
      [payTo, second, 300n],
    ];
    expect(transfers(receipt), `${gas} gas`).toEqual(paid ? wanted : []);
  }
});

test('while the token is paused for everyone nothing moves', async () => {
  const { payTo, words } = newArticle([2n, 1n]);
  await world.mint([payTo], 900n);
  await world.pause();
  expect((await world.flushAround(words)).status).toBe('reverted');
  await world.unpause();
  expect(await world.balance(payTo)).toBe(900n);
});

test('one leg of another weight than 1 is the wallet itself, and nothing waits at it', async () => {
  const word: Hex = `0x${((2n << 160n) | BigInt(newWallet())).toString(16).padStart(64, '0')}`;
  expect((await world.flushAll([word])).status).toBe('reverted');
  expect((await world.flushAround(waitingWords(newWallet()))).status).toBe('reverted');
  expect((await world.flushAll([])).status).toBe('reverted');
});

test('the order of legs, weights and wallets that a payout accepts is the split’s own, also around a refused author', async () => {
  const { words } = newArticle([3n, 1n]);
  const wrong = words.toReversed();
  await world.mint([splitOf(wrong, routerAddress)], 100n);
  expect((await world.flushAround(wrong)).status).toBe('reverted');
});

type Step = { readonly kind: 'gift'; readonly micro: bigint } | { readonly kind: 'block' | 'unblock'; readonly author: number };

const step: fc.Arbitrary<Step | { readonly kind: 'flush' | 'around' | 'collect' }> = fc.oneof(
  fc.record({ kind: fc.constant('gift' as const), micro: fc.bigInt(1n, 5_000n) }),
  fc.record({ kind: fc.constantFrom('block' as const, 'unblock' as const), author: fc.nat(4) }),
  fc.record({ kind: fc.constantFrom('flush' as const, 'around' as const, 'collect' as const) }),
);

test('whatever is sent, blocked and paid out in whatever order, each author has or is owed exactly his parts, once', async () => {
  const weights = fc.array(fc.bigInt(1n, 1_000n), { minLength: 2, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(weights, fc.array(step, { minLength: 1, maxLength: 14 }), async (list, steps) => {
      const { payTo, words } = newArticle(list);
      const payees = payeesOf(words);
      const waiting = await Promise.all(payees.map(({ wallet }) => world.waitingOf(wallet)));
      const due = payees.map(() => 0n);
      const blocked = new Set<Address>();
      let lying = 0n;
      const paysOut = (): void => {
        splitAmounts(lying, payees).forEach((amount, at) => {
          due[at] = (due[at] ?? 0n) + amount;
        });
        lying = 0n;
      };
      const collect = async (): Promise<void> => {
        for (const { wallet } of payees) {
          const { status } = await world.flushAll(waitingWords(wallet));
          if (!blocked.has(wallet)) expect(status).toBe('success');
        }
      };
      for (const one of steps) {
        if (one.kind === 'gift') {
          await world.mint([payTo], one.micro);
          lying += one.micro;
        } else if (one.kind === 'block' || one.kind === 'unblock') {
          const wallet = payees[one.author % payees.length]?.wallet ?? payTo;
          if (one.kind === 'block') blocked.add(wallet);
          else blocked.delete(wallet);
          await (one.kind === 'block' ? world.block(wallet) : world.unblock(wallet));
        } else if (one.kind === 'flush') {
          if ((await world.flushAll(words)).status === 'success') paysOut();
        } else if (one.kind === 'around') {
          expect((await world.flushAround(words)).status).toBe('success');
          paysOut();
        } else await collect();
        const held = await Promise.all(
          payees.map(async ({ wallet }, at) => (await world.balance(wallet)) + (await world.balance(waiting[at] ?? wallet))),
        );
        expect(held).toEqual(due);
        expect(await world.balance(payTo)).toBe(lying);
        expect(await world.balance(routerAddress)).toBe(0n);
      }
      for (const wallet of blocked) await world.unblock(wallet);
      blocked.clear();
      await world.flushAround(words);
      paysOut();
      await collect();
      expect(await Promise.all(payees.map(({ wallet }) => world.balance(wallet)))).toEqual(due);
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 300_000);
