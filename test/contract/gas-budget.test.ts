import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupSize } from '../../chain/gas.ts';
import {
  batchGas,
  CONTRACT_AUTH_GAS,
  flushGas,
  groupGas,
  MAX_BATCH_BYTES,
  MAX_BATCH_GAS,
  MAX_BATCH_ITEMS,
  MAX_TRANSACTION_GAS,
  PLAIN_AUTH_GAS,
  transferGas,
} from '../../chain/gas.ts';
import { payToOf } from '../../chain/split.ts';
import type { Address } from '../../domain/legs.ts';
import type { Group, World } from './world.ts';
import { addressOf, batchCall, directCall, newAccount, newWallet, routerEvents, signAuth, startWorld, USDC } from './world.ts';

const payers = Array.from({ length: MAX_BATCH_ITEMS }, newAccount);
let world: World;
let burner: Address;
beforeAll(async () => {
  world = await startWorld();
  burner = await world.deployWallet(addressOf(payers[0] ?? newAccount()), 10_000_000n);
  await world.mint([...payers.map(addressOf), burner], 10_000_000n);
});
afterAll(() => world.stop());

interface Plan {
  readonly legs: number;
  readonly good: number;
  /** Payments of a wallet that burns all the gas it is given. */
  readonly burning: number;
}

function sizeOf({ legs, good, burning }: Plan): GroupSize {
  return { authorizations: good + burning, legs, deployed: false, authGas: PLAIN_AUTH_GAS };
}

/** Groups for new authors, so that every slot written is cold and empty: the dearest case. */
async function buildGroups(plans: readonly Plan[]): Promise<readonly Group[]> {
  let next = 0;
  const groups: Group[] = [];
  for (const { legs, good, burning } of plans) {
    const wallets = Array.from({ length: legs }, (_, i) => ({ wallet: newWallet(), weight: BigInt(1_000 - i) }));
    const { payTo, words } = payToOf(wallets);
    const auths = Array.from({ length: burning + good }, (_, i) => {
      const from = payers[(next + i) % payers.length] ?? newAccount();
      return signAuth({ from, to: payTo, value: 1_001n, ...(i < burning ? { payer: burner } : {}) });
    });
    next += good + burning;
    groups.push({ token: USDC, authGas: PLAIN_AUTH_GAS, legs: words, auths: await Promise.all(auths) });
  }
  return groups;
}

async function settleWithinBudget(plans: readonly Plan[]) {
  const groups = await buildGroups(plans);
  const sizes = plans.map(sizeOf);
  const budgets = sizes.map(groupGas);
  const data = batchCall(groups, budgets);
  const limit = batchGas(sizes, data);
  const receipt = await world.settleBatch(groups, budgets, limit);
  return { receipt, limit, bytes: data.length / 2 - 1 };
}

const plan = fc.record({ legs: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 50 })), good: fc.nat(4), burning: fc.nat(2) });

test('a batch within its budget never runs out of gas, even when payers burn all they get and every author is new', async () => {
  const batches = fc.array(
    plan.filter(({ good, burning }) => good + burning > 0),
    { minLength: 1, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(batches, async (wanted) => {
      const plans: Plan[] = [];
      for (const one of wanted) {
        const total = [...plans, one].reduce((sum, each) => sum + groupGas(sizeOf(each)), 0n);
        if (total < MAX_BATCH_GAS - 1_000_000n) plans.push(one);
      }
      const { receipt, limit } = await settleWithinBudget(plans);
      expect(limit).toBeLessThanOrEqual(MAX_TRANSACTION_GAS);
      expect(receipt.status).toBe('success');
      const events = routerEvents(receipt);
      expect(events.filter(({ eventName }) => eventName === 'GroupFailed')).toEqual([]);
      const burning = plans.reduce((sum, each) => sum + each.burning, 0);
      expect(events.filter(({ eventName }) => eventName === 'ItemFailed')).toHaveLength(burning);
      const paid = plans.filter(({ legs, good }) => legs > 1 && good > 0).length;
      expect(events.filter(({ eventName }) => eventName === 'Paid')).toHaveLength(paid);
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 300_000);

test('a hundred payments to a hundred new authors stay under 12 M gas and 96 KB, whoever burns what', async () => {
  const plans = Array.from({ length: MAX_BATCH_ITEMS }, (_, i) => ({ legs: 1, good: i % 2, burning: 1 - (i % 2) }));
  const { receipt, limit, bytes } = await settleWithinBudget(plans);
  expect(limit).toBeLessThanOrEqual(MAX_BATCH_GAS);
  expect(bytes).toBeLessThanOrEqual(MAX_BATCH_BYTES);
  expect(receipt.status).toBe('success');
  expect(routerEvents(receipt)).toHaveLength(50);
}, 300_000);

test('a hundred payments for one article of fifty new authors run within their budget', async () => {
  const { receipt, limit } = await settleWithinBudget([{ legs: 50, good: 99, burning: 1 }]);
  expect(limit).toBeLessThanOrEqual(MAX_TRANSACTION_GAS);
  expect(routerEvents(receipt).map(({ eventName }) => eventName)).toEqual(['ItemFailed', 'Paid']);
}, 300_000);

test('a lone payment to a new author and a flush of fifty new authors run within their limits', async () => {
  const author = newWallet();
  const auth = await signAuth({ from: payers[0] ?? newAccount(), to: author, value: 1_000n });
  const direct = await world.send(USDC, directCall(author, auth), transferGas(PLAIN_AUTH_GAS, directCall(author, auth)));
  expect(direct.status).toBe('success');
  const { payTo, words } = payToOf(Array.from({ length: 50 }, (_, i) => ({ wallet: newWallet(), weight: BigInt(i + 1) })));
  await world.mint([payTo], 1_000_000n);
  expect((await world.flushAll(words, USDC, flushGas(50, false, '0x'))).status).toBe('success');
  expect(await world.balance(payTo)).toBe(0n);
});

test('the lane of wallets with code holds as many payments as fit its larger cap', () => {
  const size = { authorizations: 1, legs: 1, deployed: false, authGas: CONTRACT_AUTH_GAS };
  expect(
    batchGas(
      Array.from({ length: 40 }, () => size),
      '0x',
    ),
  ).toBeLessThanOrEqual(MAX_BATCH_GAS);
});
