import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { BatchItem } from '../../platform/chain/calls/calldata.ts';
import { planBatch } from '../../platform/chain/calls/calldata.ts';
import type { GroupSize } from '../../platform/chain/gas/gas.ts';
import {
  batchGas,
  CONTRACT_AUTH_GAS,
  flushAroundGas,
  flushGas,
  groupBytes,
  groupGas,
  itemBytes,
  MAX_BATCH_BYTES,
  MAX_BATCH_GAS,
  MAX_BATCH_ITEMS,
  PLAIN_AUTH_GAS,
  transferGas,
} from '../../platform/chain/gas/gas.ts';
import { payToOf, routerAddress } from '../../platform/chain/router/split.ts';
import type { Group, Hex, World } from './world.ts';
import { addressOf, batchCall, directCall, newAccount, newWallet, routerEvents, signAuth, startWorld, USDC } from './world.ts';

/** A transaction above this is refused by networks (EIP-7825). */
const MAX_TRANSACTION_GAS = 16_777_216n;

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
  const bytes = groupBytes(legs) + (good + burning) * itemBytes(65);
  return { authorizations: good + burning, legs, deployed: false, authGas: PLAIN_AUTH_GAS, bytes };
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

test('a flush around refused authors runs within its limit, however many of fifty new ones are refused', async () => {
  for (const refused of [0, 1, 25, 50]) {
    const { payTo, words } = payToOf(Array.from({ length: 50 }, (_, i) => ({ wallet: newWallet(), weight: BigInt(i + 1) })));
    for (const word of words.slice(50 - refused)) await world.block(`0x${word.slice(-40)}`);
    await world.mint([payTo], 1_000_000n);
    expect((await world.flushAround(words, USDC, flushAroundGas(50, '0x'))).status, `${refused} refused`).toBe('success');
    expect(await world.balance(payTo)).toBe(0n);
  }
  const two = payToOf([newWallet(), newWallet()].map((wallet) => ({ wallet, weight: 1n })));
  await world.mint([two.payTo], 1_000n);
  expect((await world.flushAround(two.words, USDC, flushAroundGas(2, '0x'))).status).toBe('success');
}, 300_000);

test('a batch of wallets with code holds as many payments as fit its larger cap', () => {
  const size = { authorizations: 1, legs: 1, deployed: false, authGas: CONTRACT_AUTH_GAS, bytes: groupBytes(1) + itemBytes(65) };
  expect(
    batchGas(
      Array.from({ length: 40 }, () => size),
      '0x',
    ),
  ).toBeLessThanOrEqual(MAX_BATCH_GAS);
});

/** Accepts every signature. */
const YES_CODE = '0x631626ba7e60e01b60005260206000f3';

/** Payments of one page: keys and wallets of code that pay, and some whose signature is nothing but long. */
interface Page {
  readonly legs: number;
  readonly good: number;
  readonly bad: number;
  readonly signatureBytes: number;
}

async function itemsOf(pages: readonly Page[], payerKind: BatchItem['payerKind'], yes: Address): Promise<readonly BatchItem[]> {
  const noise = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;
  let next = 0;
  const items: Promise<BatchItem>[] = [];
  for (const { legs, good, bad, signatureBytes } of pages) {
    const { payTo, words } = payToOf(
      Array.from({ length: legs }, (_, at) => ({ wallet: newWallet(), weight: BigInt(1_000 - at) })),
    );
    for (let at = 0; at < good + bad; at += 1) {
      const from = payers[next++ % payers.length] ?? newAccount();
      const isGood = at >= bad;
      const signing = signAuth({
        from,
        to: payTo,
        value: 1_001n,
        ...(payerKind === 'contract' ? { payer: isGood ? yes : burner } : {}),
      });
      items.push(
        signing.then(({ signature, ...auth }) => ({
          paymentId: `${isGood ? 'good' : 'bad'}-${items.length}-${auth.nonce}`,
          authorization: { ...auth, to: payTo },
          signature: payerKind === 'plain' && isGood ? signature : noise(signatureBytes),
          payTo,
          words: words.length === 1 ? null : words,
          payerKind,
        })),
      );
    }
  }
  return Promise.all(items);
}

/** Sends one plan; every payment of it that is good must have moved its money. */
async function expectPlanHolds(items: readonly BatchItem[]): Promise<void> {
  const plan = planBatch(items, { asset: USDC, router: routerAddress });
  const receipt = await world.send(plan.to, plan.data, plan.gasLimit);
  expect(plan.gasLimit).toBeLessThanOrEqual(MAX_TRANSACTION_GAS);
  expect(receipt.status).toBe('success');
  const planned = new Set(plan.items.map(({ paymentId }) => paymentId));
  const chosen = items.filter(({ paymentId }) => planned.has(paymentId));
  const used = await Promise.all(chosen.map(({ authorization: { from, nonce } }) => world.isUsed(from, nonce)));
  expect(used).toEqual(chosen.map(({ paymentId }) => paymentId.startsWith('good')));
}

const pageOf = fc.record({
  legs: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 50 })),
  good: fc.integer({ min: 1, max: 12 }),
  bad: fc.nat(3),
  signatureBytes: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 201, max: 4_096 })),
});

test('a batch as it is planned is mined and moves every good payment, whatever the payer kind, the legs and the length of signatures', async () => {
  const yes = newWallet();
  await world.rpc('anvil_setCode', [yes, YES_CODE]);
  await world.mint([yes], 100_000_000n);
  const pages = fc.array(pageOf, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(pages, fc.constantFrom('plain' as const, 'contract' as const), async (list, payerKind) => {
      const items = await itemsOf(list, payerKind, yes);
      if (items.length > 1) await expectPlanHolds(items);
    }),
    {
      numRuns: 14,
      endOnFailure: true,
      // The batch that no block would take: 22 payments to one split, 4 KiB of signature each.
      examples: [2, 3, 10, 50].map((legs): [Page[], BatchItem['payerKind']] => [
        [{ legs, good: 22, bad: 0, signatureBytes: 4_096 }],
        'contract',
      ]),
    },
  );
}, 300_000);
