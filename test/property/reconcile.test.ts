import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address, WeightedPayee } from '../../modules/kernel/money/legs.ts';
import { canonicalPayees, legWord, splitAmounts } from '../../modules/kernel/money/legs.ts';
import type { SplitTransfer } from '../../modules/kernel/money/splitPayouts.ts';
import { payeeOfWord, traceSplit } from '../../modules/kernel/money/splitPayouts.ts';

const payees = fc
  .uniqueArray(fc.integer({ min: 1, max: 0xffff }), { minLength: 2, maxLength: 6 })
  .chain((wallets) => fc.tuple(...wallets.map((n) => fc.bigInt(1n, 50n).map((weight) => ({ wallet: walletOf(n), weight })))))
  .map((list) => canonicalPayees(list));
/** Prices the service takes, or any donation. */
const price = fc.bigInt(1_000n, 5_000_000n);
const batches = fc.array(
  fc.record({
    own: fc.array(price, { minLength: 1, maxLength: 4 }),
    paidOut: fc.boolean(),
    donation: fc.option(fc.bigInt(1n, 9_999n)),
    flush: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

function walletOf(n: number): Address {
  return `0x${n.toString(16).padStart(40, '0')}`;
}

/** Plays a split: groups pay the sums of their own legs, flushes the split of what lies there. */
function play(list: readonly WeightedPayee[], plan: typeof batches extends fc.Arbitrary<infer T> ? T : never) {
  const transfers: SplitTransfer[] = [];
  const values = new Map<string, bigint>();
  let lying = 0n;
  const pay = (txHash: string, amounts: readonly bigint[]): void => {
    list.forEach(({ wallet }, index) => {
      if (amounts[index])
        transfers.push({ txHash, direction: 'out', to: wallet, amountMicro: amounts[index], authorization: null });
    });
  };
  plan.forEach(({ own, paidOut, donation, flush }, batch) => {
    own.forEach((amountMicro, index) => {
      const authorization = `${batch}/${index}`;
      values.set(authorization, amountMicro);
      transfers.push({ txHash: `0x${batch}`, direction: 'in', to: 'split', amountMicro, authorization });
    });
    const sums = own.map((value) => splitAmounts(value, list));
    if (paidOut)
      pay(
        `0x${batch}`,
        list.map((_, index) => sums.reduce((sum, amounts) => sum + (amounts[index] ?? 0n), 0n)),
      );
    else lying += own.reduce((sum, value) => sum + value, 0n);
    if (donation !== null) {
      transfers.push({ txHash: `0xd${batch}`, direction: 'in', to: 'split', amountMicro: donation, authorization: null });
      lying += donation;
    }
    if (!flush || lying === 0n) return;
    pay(`0xf${batch}`, splitAmounts(lying, list));
    lying = 0n;
  });
  return { transfers, values, lying };
}

test('a group pays each authorization exactly its own legs', () => {
  fc.assert(
    fc.property(payees, fc.array(price, { minLength: 1, maxLength: 8 }), (list, own) => {
      const { transfers, values } = play(list, [{ own, paidOut: true, donation: null, flush: false }]);
      const paid = traceSplit(list, transfers);
      expect(paid.size).toBe(own.length);
      for (const [authorization, found] of paid) {
        expect(found.byFlush).toBe(false);
        expect([...found.amounts.values()]).toEqual(splitAmounts(values.get(authorization) ?? 0n, list));
      }
    }),
    { numRuns: 200 },
  );
});

test('what still lies at a split, and a payout of which one micro is missing, is traced to nobody', () => {
  fc.assert(
    fc.property(payees, fc.array(price, { minLength: 1, maxLength: 5 }), (list, own) => {
      const lying = play(list, [{ own, paidOut: false, donation: null, flush: false }]);
      expect(traceSplit(list, lying.transfers).size).toBe(0);
      const { transfers } = play(list, [{ own, paidOut: true, donation: null, flush: false }]);
      const at = transfers.findIndex(({ direction }) => direction === 'out');
      const altered = transfers.map((transfer, index) =>
        index === at ? { ...transfer, amountMicro: transfer.amountMicro - 1n } : transfer,
      );
      expect(traceSplit(list, altered).size).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a payout that no rule explains takes the oldest money and no more than it paid: what came after is traced to its own payout', () => {
  const list = canonicalPayees([1, 2].map((n) => ({ wallet: walletOf(n), weight: 1n })));
  const bring = (txHash: string, amountMicro: bigint): SplitTransfer => ({
    txHash,
    direction: 'in',
    to: 'split',
    amountMicro,
    authorization: txHash,
  });
  const out = (txHash: string, to: string, amountMicro: bigint): SplitTransfer => ({
    txHash,
    direction: 'out',
    to,
    amountMicro,
    authorization: null,
  });
  const [first = '', second = ''] = list.map(({ wallet }) => wallet);
  const odd = out('0xodd', walletOf(9), 1_000n);
  const paid = traceSplit(list, [
    bring('0xa', 1_000n),
    bring('0xb', 2_000n),
    odd,
    out('0xf', first, 1_000n),
    out('0xf', second, 1_000n),
  ]);
  expect([...paid.keys()]).toEqual(['0xb']);
  const partly = traceSplit(list, [
    bring('0xa', 3_000n),
    bring('0xb', 2_000n),
    odd,
    out('0xf', first, 2_000n),
    out('0xf', second, 2_000n),
  ]);
  expect([...partly.keys()]).toEqual(['0xb']);
});

/** What anybody can do to a split, and where one transaction ends. */
const step = fc.oneof(
  { weight: 3, arbitrary: price.map((amountMicro) => ({ type: 'pull', amountMicro }) as const) },
  { weight: 2, arbitrary: fc.bigInt(0n, 2_000n).map((amountMicro) => ({ type: 'gift', amountMicro }) as const) },
  { weight: 2, arbitrary: fc.integer({ min: -1, max: 3 }).map((payee) => ({ type: 'nothing', payee }) as const) },
  { weight: 3, arbitrary: fc.constant({ type: 'flush' } as const) },
  {
    weight: 2,
    arbitrary: fc.array(fc.nat(5), { minLength: 1, maxLength: 2 }).map((refused) => ({ type: 'around', refused }) as const),
  },
  { weight: 3, arbitrary: fc.array(price, { minLength: 1, maxLength: 4 }).map((own) => ({ type: 'group', own }) as const) },
  { weight: 2, arbitrary: fc.constant({ type: 'next transaction' } as const) },
);
const steps = fc.array(step, { maxLength: 30 });
const manyPayees = fc
  .uniqueArray(fc.integer({ min: 1, max: 0xffff }), { minLength: 2, maxLength: 50 })
  .chain((wallets) => fc.tuple(fc.boolean(), fc.tuple(...wallets.map((n) => fc.tuple(fc.constant(n), fc.bigInt(1n, 90n))))))
  .map(([equal, list]) => canonicalPayees(list.map(([n, weight]) => ({ wallet: walletOf(n), weight: equal ? 1n : weight }))));

/** Where the part of a wallet waits. */
function placeOf(wallet: Address): Address {
  return `0xaa${wallet.slice(4)}`;
}

/** The contract: a group pulls and pays the legs of what it pulled, a flush pays the split of the balance, also around payees refused. `before` lay there unread. */
function playChain(
  list: readonly WeightedPayee[],
  plan: readonly (typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never)[],
  before: bigint,
) {
  const transfers: SplitTransfer[] = [];
  const values = new Map<string, bigint>();
  const paidBy = new Map<string, string>();
  let lying: { authorization: string | null; amountMicro: bigint }[] = [{ authorization: null, amountMicro: before }];
  let transaction = 0;
  const bring = (authorization: string | null, amountMicro: bigint): void => {
    const txHash = `0x${transaction}`;
    transfers.push({ txHash, direction: 'in', to: 'split', amountMicro, authorization });
    if (authorization !== null) values.set(authorization, amountMicro);
    lying.push({ authorization, amountMicro });
  };
  const waits = new Map<string, readonly Address[]>();
  const push = (count: number, amounts: readonly bigint[], refused: readonly number[] = []): void => {
    const txHash = `0x${transaction}`;
    const around: Address[] = [];
    for (const [place, { wallet }] of list.entries()) {
      const amountMicro = amounts[place] ?? 0n;
      if (amountMicro === 0n) continue;
      const isRefused = refused.includes(place);
      if (isRefused) around.push(wallet);
      const end = isRefused ? { to: placeOf(wallet), waitsFor: wallet } : { to: wallet };
      transfers.push({ txHash, direction: 'out', ...end, amountMicro, authorization: null });
    }
    for (const { authorization } of lying.slice(-count)) if (authorization !== null) waits.set(authorization, around);
    for (const { authorization } of lying.slice(-count)) if (authorization !== null) paidBy.set(authorization, txHash);
    lying = lying.slice(0, -count);
  };
  const flush = (refused: readonly number[] = []): void => {
    const total = lying.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
    if (total > 0n) push(lying.length, splitAmounts(total, list), refused);
  };
  for (const one of plan) {
    if (one.type === 'next transaction') transaction += 1;
    if (one.type === 'pull') bring(`a${values.size}`, one.amountMicro);
    if (one.type === 'gift') bring(null, one.amountMicro);
    if (one.type === 'nothing') {
      // transferFrom(split, anybody, 0), which anybody may call
      const to = list[one.payee]?.wallet ?? walletOf(0xfffff);
      transfers.push({ txHash: `0x${transaction}`, direction: 'out', to, amountMicro: 0n, authorization: null });
    }
    if (one.type === 'flush') flush();
    if (one.type === 'around') flush(one.refused);
    if (one.type !== 'group') continue;
    for (const amountMicro of one.own) bring(`a${values.size}`, amountMicro);
    const legs = one.own.map((value) => splitAmounts(value, list));
    push(
      one.own.length,
      list.map((_, place) => legs.reduce((sum, amounts) => sum + (amounts[place] ?? 0n), 0n)),
    );
  }
  return { transfers, values, paidBy, waits };
}

const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((total, amount) => total + amount, 0n);

test('whatever strangers do in one transaction or several, each authorization is traced to the payout that paid it, once and to the micro', () => {
  fc.assert(
    fc.property(manyPayees, steps, fc.constantFrom(0n, 0n, 7n, 3_000n), (list, plan, before) => {
      const { transfers, values, paidBy, waits } = playChain(list, plan, before);
      const paid = traceSplit(list, transfers);
      expect(new Map([...paid].map(([authorization, { txHash }]) => [authorization, txHash]))).toEqual(paidBy);
      for (const [authorization, { amounts, waitsAt }] of paid) {
        expect([...waitsAt]).toEqual(waits.get(authorization)?.map((wallet) => [wallet, placeOf(wallet)]));
        expect(sum(amounts.values())).toBe(values.get(authorization));
        expect([...amounts.values()].every((amount) => amount >= 0n)).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('what all payouts gave an author is what the authorizations gave him and his part of the gifts, which is never negative', () => {
  fc.assert(
    fc.property(manyPayees, steps, fc.constantFrom(0n, 7n, 3_000n), (list, plan, before) => {
      const { transfers, values } = playChain(list, [...plan, { type: 'flush' }], before);
      const paid = traceSplit(list, transfers);
      const gifts = list.map(({ wallet }) => {
        const out = transfers.filter(({ direction, to }) => direction === 'out' && (to === wallet || to === placeOf(wallet)));
        return (
          sum(out.map(({ amountMicro }) => amountMicro)) - sum([...paid.values()].map(({ amounts }) => amounts.get(wallet) ?? 0n))
        );
      });
      expect(paid.size).toBe(values.size);
      expect(gifts.every((gift) => gift >= 0n)).toBe(true);
      const given = transfers.filter(({ direction, authorization }) => direction === 'in' && authorization === null);
      const isSeen = transfers.some(({ direction, amountMicro }) => direction === 'out' && amountMicro > 0n);
      expect(sum(gifts)).toBe(isSeen ? before + sum(given.map(({ amountMicro }) => amountMicro)) : 0n);
    }),
    { numRuns: 500 },
  );
});

test('a leg word and its payee are each other’s inverse', () => {
  fc.assert(
    fc.property(payees, (list) => {
      expect(list.map(legWord).map(payeeOfWord)).toEqual(list);
    }),
  );
});
