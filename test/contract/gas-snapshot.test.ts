/**
 * Gas per payment, as committed in contracts/gas-snapshot.json. After a wanted change, copy the printed figures there.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import snapshot from '../../contracts/gas-snapshot.json' with { type: 'json' };
import type { Address } from '../../modules/kernel/money/legs.ts';
import { groupGas, PLAIN_AUTH_GAS } from '../../platform/chain/gas/gas.ts';
import { payToOf } from '../../platform/chain/router/split.ts';
import type { Group, World } from './world.ts';
import { addressOf, bytesOf, newAccount, newWallet, signAuth, startWorld, USDC } from './world.ts';

const BATCH = 50;
const payers = Array.from({ length: BATCH }, newAccount);
const authors = Array.from({ length: BATCH }, newWallet);
let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.mint(payers.map(addressOf), 10_000_000n);
  await world.mint(authors, 1n);
});
afterAll(() => world.stop());

/** Payments of the first `count` payers to these wallets, weights descending. */
async function groupFor(wallets: readonly Address[], count: number, firstPayer = 0, scale = 1n): Promise<Group> {
  const { payTo, words } = payToOf(wallets.map((wallet, i) => ({ wallet, weight: BigInt(wallets.length - i) * scale + 1n })));
  const signing = payers.slice(firstPayer, firstPayer + count).map((from) => signAuth({ from, to: payTo, value: 1_001n }));
  return { token: USDC, authGas: PLAIN_AUTH_GAS, legs: words, auths: await Promise.all(signing) };
}

async function batchGasPerPayment(groups: readonly Group[]): Promise<number> {
  const budgets = groups.map(({ auths, legs, authGas }) =>
    groupGas({ authorizations: auths.length, legs: legs.length, deployed: false, authGas, bytes: bytesOf({ legs, auths }) }),
  );
  const receipt = await world.settleBatch(groups, budgets);
  expect(receipt.status).toBe('success');
  const payments = groups.reduce((sum, group) => sum + group.auths.length, 0);
  return Number(receipt.gasUsed) / payments;
}

async function aloneGas(group: Group): Promise<number> {
  const receipt = await world.settleGroup(group);
  expect(receipt.status).toBe('success');
  return Number(receipt.gasUsed);
}

async function measure(): Promise<Record<keyof typeof snapshot, number>> {
  const [payer, author] = [payers[0], authors[0]];
  if (!payer || !author) throw new Error('no payer');
  const direct = await world.transferDirectly(author, await signAuth({ from: payer, to: author, value: 1_000n }));
  const singles = await Promise.all(authors.map((wallet, i) => groupFor([wallet], 1, i)));
  const trio = authors.slice(0, 3);
  return {
    oneAuthorAlone: Number(direct.gasUsed),
    oneAuthorInBatchOf50: await batchGasPerPayment(singles),
    threeAuthorsAloneFirstUse: await aloneGas(await groupFor(trio, 1)),
    threeAuthorsAlone: await aloneGas(await groupFor(trio, 1, 1)),
    oneArticleOfThreeAuthors50Times: await batchGasPerPayment([await groupFor(trio, BATCH, 0, 7n)]),
  };
}

test('gas stays within 1 % of the snapshot, and a batch keeps its promised share of a lone payment', async () => {
  const measured = await measure();
  const text = JSON.stringify(measured);
  for (const [name, gas] of Object.entries(snapshot)) {
    const now = measured[name as keyof typeof snapshot];
    expect(Math.abs(now - gas) / gas, `${name}: ${text}`).toBeLessThan(0.01);
  }
  expect(measured.oneAuthorInBatchOf50 / measured.oneAuthorAlone).toBeLessThanOrEqual(0.72);
  expect(measured.oneArticleOfThreeAuthors50Times / measured.threeAuthorsAlone).toBeLessThanOrEqual(0.42);
}, 300_000);

test('gas stays at or below the design figures', () => {
  expect(snapshot.oneAuthorAlone).toBeLessThanOrEqual(87_000);
  expect(snapshot.oneAuthorInBatchOf50).toBeLessThanOrEqual(58_000);
  expect(snapshot.threeAuthorsAlone).toBeLessThanOrEqual(139_000);
  expect(snapshot.oneArticleOfThreeAuthors50Times).toBeLessThanOrEqual(54_000);
});
