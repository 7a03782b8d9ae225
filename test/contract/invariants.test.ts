/** The eight invariants of the legs split, each held against random groups, payers, legs and failures. */
import fc from 'fast-check';
import type { TransactionReceipt } from 'viem';
import { concat, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address, WeightedPayee } from '../../modules/kernel/money/legs.ts';
import { canonicalPayees, splitAmounts } from '../../modules/kernel/money/legs.ts';
import { batchGas, groupGas, PLAIN_AUTH_GAS } from '../../platform/chain/gas/gas.ts';
import { implementationOf, payToOf, routerAddress, splitAddress } from '../../platform/chain/router/split.ts';
import { splitAbi } from '../support/abi.ts';
import type { Auth, Group, Hex, World } from './world.ts';
import {
  addressOf,
  batchCall,
  bytesOf,
  newAccount,
  newWallet,
  routerEvents,
  signAuth,
  startWorld,
  transfers,
  USDC,
} from './world.ts';

const PAYER_FUNDS = 10n ** 15n;
const payers = Array.from({ length: 8 }, newAccount);
const pauper = newAccount();
const authors = Array.from({ length: 12 }, newWallet);
const blockedAuthor = newWallet();
let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.mint(payers.map(addressOf), PAYER_FUNDS);
  await world.block(blockedAuthor);
});
afterAll(() => world.stop());

type Fate = 'good' | 'repeated' | 'poor' | 'forged' | 'misdirected';
interface PlannedPayment {
  readonly payer: number;
  readonly value: bigint;
  readonly fate: Fate;
}
interface PlannedGroup {
  readonly payees: readonly WeightedPayee[];
  readonly blocked: boolean;
  readonly dust: bigint;
  readonly payments: readonly PlannedPayment[];
}
interface BuiltGroup extends PlannedGroup {
  readonly payTo: Address;
  readonly words: readonly Hex[];
  readonly auths: readonly Auth[];
}

const fate = fc.oneof(
  { arbitrary: fc.constant<Fate>('good'), weight: 5 },
  { arbitrary: fc.constantFrom<Fate>('repeated', 'poor', 'forged', 'misdirected'), weight: 1 },
);
const payment = fc.record({
  payer: fc.nat(payers.length - 1),
  value: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1_000n, 5_000_000n)),
  fate,
});
const weight = fc.oneof(fc.bigInt(1n, 9n), fc.bigInt(1n, (1n << 96n) - 1n));
const payees = fc.uniqueArray(fc.record({ wallet: fc.constantFrom(...authors), weight }), {
  selector: ({ wallet }) => wallet,
  minLength: 1,
  maxLength: 7,
});
const group = fc.record({
  payees,
  blocked: fc.boolean(),
  dust: fc.oneof(fc.constant(0n), fc.bigInt(1n, 10_000n)),
  payments: fc.array(payment, { minLength: 1, maxLength: 5 }),
});

/** One group a payTo, signed; a blocked group gets the blocked author as one more leg. */
async function build(planned: readonly PlannedGroup[]): Promise<readonly BuiltGroup[]> {
  const built = new Map<Address, BuiltGroup>();
  for (const one of planned) {
    const blocked = one.blocked && one.payees.length > 1 && one.payees.length % 3 === 0;
    const all = blocked ? [...one.payees, { wallet: blockedAuthor, weight: 1n << 90n }] : one.payees;
    const { payTo, words } = payToOf(all);
    const auths: Auth[] = [];
    for (const { payer, value, fate } of one.payments) {
      const from = fate === 'poor' ? pauper : (payers[payer] ?? pauper);
      const previous = auths.at(-1);
      if (fate === 'repeated' && previous) auths.push(previous);
      else if (fate === 'forged') auths.push({ ...(await signAuth({ from, to: payTo, value })), value: value + 1n });
      else auths.push(await signAuth({ from, to: fate === 'misdirected' ? newWallet() : payTo, value }));
    }
    const dust = words.length > 1 ? one.dust : 0n;
    if (!built.has(payTo)) built.set(payTo, { ...one, payees: canonicalPayees(all), blocked, dust, payTo, words, auths });
  }
  return [...built.values()];
}

/** The payments of a group that must succeed: first use of a good authorization. */
function expectedGood({ payments, auths }: BuiltGroup): readonly Auth[] {
  const seen = new Set<Hex>();
  return auths.filter(({ nonce }, i) => {
    const fate = payments[i]?.fate ?? 'good';
    const good = fate === 'good' || (fate === 'repeated' && i === 0);
    if (!good || seen.has(nonce)) return false;
    seen.add(nonce);
    return true;
  });
}

function expectedAmounts(built: BuiltGroup): readonly bigint[] {
  const totals = built.payees.map(() => 0n);
  for (const { value } of expectedGood(built)) {
    splitAmounts(value, built.payees).forEach((amount, i) => {
      totals[i] = (totals[i] ?? 0n) + amount;
    });
  }
  return totals;
}

async function settle(groups: readonly BuiltGroup[]) {
  for (const { payTo, dust } of groups) if (dust > 0n) await world.mint([payTo], dust);
  const sent: Group[] = groups.map(({ words, auths }) => ({ token: USDC, authGas: PLAIN_AUTH_GAS, legs: words, auths }));
  const sizes = groups.map(({ words, auths }) => ({
    authorizations: auths.length,
    legs: words.length,
    deployed: false,
    authGas: PLAIN_AUTH_GAS,
    bytes: bytesOf({ legs: words, auths }),
  }));
  const budgets = sizes.map(groupGas);
  return world.settleBatch(sent, budgets, batchGas(sizes, batchCall(sent, budgets)));
}

async function checkGroup(index: number, groups: readonly BuiltGroup[], built: BuiltGroup, receipt: TransactionReceipt) {
  const good = expectedGood(built);
  const pulled = good.reduce((sum, { value }) => sum + value, 0n);
  const moved = transfers(receipt);
  const failed = routerEvents(receipt).filter((log) => log.eventName === 'GroupFailed' && log.args.group === BigInt(index));
  const out = moved.filter(([from]) => from === built.payTo);
  const amounts = expectedAmounts(built);
  const blockedAmount = amounts[built.payees.findIndex(({ wallet }) => wallet === blockedAuthor)] ?? 0n;
  if (blockedAmount > 0n) {
    expect(failed).toHaveLength(1);
    expect(out).toEqual([]);
    for (const { from, nonce } of good) expect(await world.isUsed(from, nonce)).toBe(false);
    return;
  }
  expect(failed).toHaveLength(0);
  for (const { from, nonce } of good) expect(await world.isUsed(from, nonce)).toBe(true);
  const received = moved.filter(([from, to]) => to === built.payTo && !isSplit(from, groups, built.payTo));
  expect(received.map(([from, , value]) => ({ from, value }))).toEqual(good.map(({ from, value }) => ({ from, value })));
  if (built.words.length === 1) return;
  const wanted = built.payees.map(({ wallet }, i) => [built.payTo, wallet, amounts[i] ?? 0n] as const);
  expect(out).toEqual(wanted.filter(([, , amount]) => amount > 0n));
  expect(out.reduce((sum, [, , amount]) => sum + amount, 0n)).toBe(pulled);
}

async function checkFlush({ payTo, words, dust, blocked, payees: list }: BuiltGroup) {
  if (words.length === 1 || blocked) return;
  expect(await world.balance(payTo)).toBe(dust);
  const receipt = await world.flushAll(words);
  expect(receipt.status).toBe('success');
  const amounts = splitAmounts(dust, list);
  const wanted = list.map(({ wallet }, i) => [payTo, wallet, amounts[i] ?? 0n] as const);
  expect(transfers(receipt)).toEqual(wanted.filter(([, , amount]) => amount > 0n));
  expect(await world.balance(payTo)).toBe(0n);
}

test('random batches pay exactly what the twin says: only legs, all or nothing a group, groups apart, dust left to flush', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(group, { minLength: 1, maxLength: 5 }), async (planned) => {
      const groups = await build(planned);
      const receipt = await settle(groups);
      expect(receipt.status).toBe('success');
      for (const [index, built] of groups.entries()) await checkGroup(index, groups, built, receipt);
      for (const built of groups) await checkFlush(built);
      expect(await world.balance(routerAddress)).toBe(0n);
    }),
    { numRuns: 40, endOnFailure: true },
  );
}, 300_000);

test('a group does the same alone as before and after others', async () => {
  await fc.assert(
    fc.asyncProperty(group, fc.array(group, { minLength: 1, maxLength: 3 }), async (one, others) => {
      const results: (readonly (readonly [Address, Address, bigint])[])[] = [];
      for (const place of ['alone', 'first', 'last'] as const) {
        // Signed anew for each place, since a nonce can be used once; the chain is never put back, which would race its pool.
        const groups = await build([one, ...others]);
        const payTo = groups[0]?.payTo;
        const order = { alone: groups.slice(0, 1), first: groups, last: groups.toReversed() }[place];
        const moved = transfers(await settle(order));
        results.push(
          moved.filter(([from, to]) => from === payTo || to === payTo).filter(([from]) => !isSplit(from, groups, payTo)),
        );
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 300_000);

/** True for the split of another group, which may pay the wallet of this one. */
function isSplit(address: Address, groups: readonly BuiltGroup[], payTo: Address | undefined): boolean {
  return address !== payTo && groups.some((other) => other.payTo === address);
}

test('the chain derives the same address from legs as the twin, for any legs', async () => {
  const many = fc.uniqueArray(fc.record({ wallet: fc.bigInt(1n, (1n << 160n) - 1n), weight }), {
    selector: ({ wallet }) => wallet,
    minLength: 1,
    maxLength: 50,
  });
  await fc.assert(
    fc.asyncProperty(many, async (list) => {
      const { payTo, words } = payToOf(list.map(({ wallet, weight }) => ({ wallet: asAddress(wallet), weight })));
      expect((await world.splitOf(words)).toLowerCase()).toBe(payTo);
    }),
    { numRuns: 60, endOnFailure: true },
  );
}, 300_000);

function asAddress(value: bigint): Address {
  return `0x${value.toString(16).padStart(40, '0')}`;
}

test('legs out of order, twice, without weight, zero, the router, or more than fifty are refused', async () => {
  const word = (weight: bigint, wallet: Address): Hex =>
    `0x${((weight << 160n) | BigInt(wallet)).toString(16).padStart(64, '0')}`;
  const [low, high] = [asAddress(5n), asAddress(6n)];
  const refused: readonly (readonly Hex[])[] = [
    [],
    [word(1n, low), word(2n, high)],
    [word(1n, high), word(1n, low)],
    [word(1n, low), word(1n, low)],
    [word(3n, low), word(2n, high), word(1n, low)],
    [word(1n, low), word(0n, high)],
    [word(0n, low)],
    [word(1n, asAddress(0n))],
    [word(2n, low), word(1n, asAddress(0n))],
    [word(1n, routerAddress)],
    [word(2n, routerAddress), word(1n, low)],
    Array.from({ length: 51 }, (_, i) => word(1n, asAddress(BigInt(i + 1)))),
  ];
  for (const words of refused) await expect(world.splitOf(words), concat(words)).rejects.toThrow(/NotCanonical/);
});

test('a split of legs the router refuses can neither settle nor be flushed', async () => {
  const payer = payers[0] ?? pauper;
  const { words } = payToOf([
    { wallet: asAddress(7n), weight: 2n },
    { wallet: asAddress(8n), weight: 1n },
  ]);
  const wrong = words.toReversed();
  const payTo = splitAddress(routerAddress, implementationOf(routerAddress), wrong);
  const auth = await signAuth({ from: payer, to: payTo, value: 1_000n });
  const receipt = await world.settleGroup({ token: USDC, authGas: PLAIN_AUTH_GAS, legs: wrong, auths: [auth] });
  expect(receipt.status).toBe('reverted');
  expect(await world.isUsed(auth.from, auth.nonce)).toBe(false);
  await world.mint([payTo], 5n);
  expect((await world.flushAll(wrong)).status).toBe('reverted');
});

test('nobody but the router can make a split pay, deployed clone and implementation alike', async () => {
  const list = authors.slice(0, 2).map((wallet) => ({ wallet, weight: 1n }));
  const { payTo, words } = payToOf(list);
  await world.mint([payTo], 10n);
  await world.flushAll(words);
  await world.mint([payTo], 10n);
  const data = encodeFunctionData({ abi: splitAbi, functionName: 'push', args: [USDC, words, [5n, 5n]] });
  for (const target of [payTo, implementationOf(routerAddress)]) expect((await world.send(target, data)).status).toBe('reverted');
  expect(await world.balance(payTo)).toBe(10n);
});

test('the asset as a leg is refused when settling and when flushing', async () => {
  const { payTo, words } = payToOf([
    { wallet: USDC, weight: 1n },
    { wallet: asAddress(9n), weight: 1n },
  ]);
  const auth = await signAuth({ from: payers[1] ?? pauper, to: payTo, value: 1_000n });
  const receipt = await world.settleGroup({ token: USDC, authGas: PLAIN_AUTH_GAS, legs: words, auths: [auth] });
  expect(receipt.status).toBe('reverted');
  await world.mint([payTo], 5n);
  expect((await world.flushAll(words)).status).toBe('reverted');
});
