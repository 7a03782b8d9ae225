import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flushPayers, isFlushWorth } from '../../modules/settlement/rules/flush.ts';
import { shareGas } from '../../modules/settlement/rules/gasShare.ts';
import { firstFreeNonce, judgeNonce } from '../../modules/settlement/rules/relayerNonce.ts';
import { costToday, dataFee, requiredBalance } from '../../platform/chain/gas/fees.ts';

test('shares of gas follow the weights and add up to the total, to the wei', () => {
  const wei = fc.bigInt({ min: 0n, max: 10n ** 24n });
  fc.assert(
    fc.property(wei, fc.dictionary(fc.uuid(), wei, { minKeys: 1, maxKeys: 20 }), (total, record) => {
      const weights = new Map(Object.entries(record));
      const shares = shareGas(total, weights);
      const sum = [...weights.values()].reduce((all, one) => all + one, 0n);
      expect([...shares.values()].reduce((all, one) => all + one, 0n)).toBe(total);
      for (const [key, weight] of weights) {
        const share = shares.get(key) ?? -1n;
        expect(share).toBeGreaterThanOrEqual(0n);
        if (sum === 0n) continue;
        const off = share * sum - total * weight;
        expect(off < sum && off > -sum).toBe(true);
      }
    }),
  );
  expect(shareGas(1_000n, new Map())).toEqual(new Map());
  expect(
    shareGas(
      9n,
      new Map([
        ['a', 0n],
        ['b', 0n],
      ]),
    ),
  ).toEqual(
    new Map([
      ['a', 4n],
      ['b', 5n],
    ]),
  );
  expect(
    shareGas(
      10n,
      new Map([
        ['a', 0n],
        ['b', 3n],
      ]),
    ),
  ).toEqual(
    new Map([
      ['a', 0n],
      ['b', 10n],
    ]),
  );
});

test('a flush is worth its gas only when more lies there than it costs, and never less than the lowest price', () => {
  const offer = { costWei: 10n ** 15n, nativePriceMicro: 4_000_000_000n, floorMicro: 1_000n };
  expect(isFlushWorth({ ...offer, balanceMicro: 4_000_000n })).toBe(false);
  expect(isFlushWorth({ ...offer, balanceMicro: 4_000_001n })).toBe(true);
  expect(isFlushWorth({ ...offer, nativePriceMicro: 0n, balanceMicro: 999n })).toBe(false);
  expect(isFlushWorth({ ...offer, nativePriceMicro: 0n, balanceMicro: 1_000n })).toBe(true);
});

test('sites that have used half of their day bear no flush, and without any other there is none', () => {
  const sellers = [
    { tenantId: 'half', gasWeiToday: 50n },
    { tenantId: 'less', gasWeiToday: 49n },
  ];
  expect(flushPayers(sellers, 100n)).toEqual(['less']);
  expect(flushPayers(sellers.slice(0, 1), 100n)).toEqual([]);
  expect(flushPayers(sellers, null)).toEqual(['half', 'less']);
});

test('the bytes of a transaction count in what a relayer must hold, and in what a flush costs today', () => {
  const network = { maxFeePerGasWei: 5_000n, priorityFeePerGasWei: 10n, dataFeeWeiPerByte: 7n };
  const fee = dataFee(network, '0x00ff00');
  expect(fee).toBe(7n * 123n);
  expect(dataFee({}, '0x00')).toBe(0n);
  expect(requiredBalance(100n, { maxFeePerGasWei: 20n, maxPriorityFeePerGasWei: 1n }, fee)).toBe(2_000n + fee);
  expect(costToday(network, 90n, 1_000n, fee)).toBe(100_000n + fee);
  expect(costToday(network, 9_000n, 1_000n, 0n)).toBe(5_000_000n);
});

test('a count that is ahead is believed when two rounds see it near, and never when one answer does', () => {
  const facts = { nextNonce: 10n, inFlight: 2, safeCount: 13n, latestCount: 13n, seenBefore: null };
  expect(judgeNonce({ ...facts, safeCount: 10n })).toEqual({ kind: 'keep' });
  expect(judgeNonce({ ...facts, latestCount: 12n, seenBefore: 13n })).toEqual({ kind: 'keep' });
  expect(judgeNonce(facts)).toEqual({ kind: 'seen', count: 13n });
  expect(judgeNonce({ ...facts, seenBefore: 12n })).toEqual({ kind: 'adopt', count: 12n });
  expect(judgeNonce({ ...facts, seenBefore: 14n })).toEqual({ kind: 'adopt', count: 13n });
  expect(judgeNonce({ ...facts, seenBefore: 1_000_000n })).toEqual({ kind: 'seen', count: 13n });
  const far = { ...facts, safeCount: 21n, latestCount: 21n, seenBefore: 21n };
  expect(judgeNonce(far)).toEqual({ kind: 'suspect', count: 21n });
  expect(judgeNonce({ ...far, inFlight: 3 })).toEqual({ kind: 'adopt', count: 21n });
});

test('the free nonce of a queue is the first from the mined one on that no batch holds', () => {
  expect(firstFreeNonce(5n, new Set([3n, 5n, 6n, 8n]))).toBe(7n);
  expect(firstFreeNonce(5n, new Set())).toBe(5n);
});
