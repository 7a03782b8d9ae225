import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address, WeightedPayee } from '../../domain/legs.ts';
import { canonicalPayees, legWord, splitAmounts } from '../../domain/legs.ts';
import type { SplitTransfer } from '../../domain/reconcile.ts';
import { payeeOfWord, traceSplit } from '../../domain/reconcile.ts';

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

test('what is traced of an authorization sums to its value, and all traced amounts of a payout to what was paid', () => {
  fc.assert(
    fc.property(payees, batches, (list, plan) => {
      const { transfers, values } = play(list, plan);
      const paid = traceSplit(list, transfers);
      for (const [authorization, { amounts }] of paid) {
        expect([...amounts.values()].reduce((sum, amount) => sum + amount, 0n)).toBe(values.get(authorization));
        expect([...amounts.values()].every((amount) => amount >= 0n)).toBe(true);
      }
      for (const { wallet } of list) {
        const out = transfers.filter(({ direction, to }) => direction === 'out' && to === wallet);
        const traced = [...paid.values()].reduce((sum, { amounts }) => sum + (amounts.get(wallet) ?? 0n), 0n);
        // A donation's own share may be negative by the rounding of the others, less than one micro a payee and donation.
        const slack = BigInt(plan.length * list.length);
        expect(traced).toBeLessThanOrEqual(out.reduce((sum, { amountMicro }) => sum + amountMicro, 0n) + slack);
      }
    }),
    { numRuns: 300 },
  );
});

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

test('what still lies at a split, and a payout of which one micro is missing or one too many, is traced to nobody', () => {
  fc.assert(
    fc.property(payees, fc.array(price, { minLength: 1, maxLength: 5 }), fc.constantFrom(-1n, 1n), (list, own, error) => {
      const lying = play(list, [{ own, paidOut: false, donation: null, flush: false }]);
      expect(traceSplit(list, lying.transfers).size).toBe(0);
      const { transfers } = play(list, [{ own, paidOut: true, donation: null, flush: false }]);
      const at = transfers.findIndex(({ direction }) => direction === 'out');
      const altered = transfers.map((transfer, index) =>
        index === at ? { ...transfer, amountMicro: transfer.amountMicro + error } : transfer,
      );
      expect(traceSplit(list, altered).size).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a leg word and its payee are each other’s inverse', () => {
  fc.assert(
    fc.property(payees, (list) => {
      expect(list.map(legWord).map(payeeOfWord)).toEqual(list);
    }),
  );
});
