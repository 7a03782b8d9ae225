/** What others may try, or what may go wrong, with signed payments and splits; each ends with no money lost or misdirected. */
import { decodeFunctionResult, encodeFunctionData, parseEventLogs, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import permissiveArtifact from '../../contracts/artifacts/test/PermissiveToken.json' with { type: 'json' };
import type { Address } from '../../modules/kernel/money/legs.ts';
import { splitAmounts } from '../../modules/kernel/money/legs.ts';
import { routerAbi, tokenAbi } from '../../platform/chain/calls/abi.ts';
import { CONTRACT_AUTH_GAS, groupGas, PLAIN_AUTH_GAS } from '../../platform/chain/gas/gas.ts';
import { payToOf, routerAddress } from '../../platform/chain/router/split.ts';
import type { Auth, Group, World } from './world.ts';
import { addressOf, bytesOf, newAccount, newWallet, routerEvents, signAuth, startWorld, transfers, USDC } from './world.ts';

const payer = newAccount();
let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.mint([addressOf(payer)], 10n ** 12n);
});
afterAll(() => world.stop());

const PRICE = 10_001n;

/** A new article of three new authors. */
function newTrio() {
  const payees = [5n, 3n, 2n].map((weight) => ({ wallet: newWallet(), weight }));
  return { payees, ...payToOf(payees) };
}

function groupOf(legs: Group['legs'], auths: readonly Auth[], authGas = PLAIN_AUTH_GAS): Group {
  return { token: USDC, authGas, legs, auths };
}

function budgetOf({ legs, auths, authGas }: Group): bigint {
  const bytes = bytesOf({ legs, auths });
  return groupGas({ authorizations: auths.length, legs: legs.length, deployed: false, authGas, bytes });
}

function settle(groups: readonly Group[], gas?: bigint) {
  return world.settleBatch(groups, groups.map(budgetOf), gas);
}

function eventNames(receipt: Awaited<ReturnType<typeof settle>>) {
  return routerEvents(receipt).map(({ eventName }) => eventName);
}

test('a front-run authorization reaches the split; our item fails, and a flush by anyone pays the same authors the same amounts', async () => {
  const { payees, payTo, words } = newTrio();
  const auth = await signAuth({ from: payer, to: payTo, value: PRICE });
  expect((await world.transferDirectly(payTo, auth)).status).toBe('success');
  expect(eventNames(await settle([groupOf(words, [auth])]))).toEqual(['ItemFailed']);
  expect(await world.client.getCode({ address: payTo })).toBeUndefined();
  const flush = await world.flushAll(words);
  const amounts = splitAmounts(PRICE, payees);
  expect(transfers(flush)).toEqual(payees.map(({ wallet }, i) => [payTo, wallet, amounts[i]]));
  expect(await world.balance(payTo)).toBe(0n);
});

test('a relayer that changes the legs, or their weights, moves nothing', async () => {
  const { payees, payTo } = newTrio();
  const auth = await signAuth({ from: payer, to: payTo, value: PRICE });
  const own = { wallet: newWallet(), weight: 1n };
  const changed = [[...payees, own], payees.slice(0, 2), payees.map(({ wallet }) => ({ wallet, weight: 1n })), [own]];
  for (const list of changed) {
    const receipt = await settle([groupOf(payToOf(list).words, [auth])]);
    expect(eventNames(receipt)).toEqual(['ItemFailed']);
    expect(transfers(receipt)).toEqual([]);
  }
  expect(await world.isUsed(auth.from, auth.nonce)).toBe(false);
});

test('the same payload twice in one group, and again in another group, is paid once', async () => {
  const { payTo, words } = newTrio();
  const auth = await signAuth({ from: payer, to: payTo, value: PRICE });
  const receipt = await settle([groupOf(words, [auth, auth]), groupOf(words, [auth])]);
  expect(eventNames(receipt)).toEqual(['ItemFailed', 'Paid', 'ItemFailed']);
  expect(transfers(receipt).filter(([, to]) => to === payTo)).toHaveLength(1);
});

test('two payments of one article are rounded each on its own and paid to each author once', async () => {
  const { payees, payTo, words } = newTrio();
  const values = [10_001n, 7n, 3n];
  const auths = await Promise.all(values.map((value) => signAuth({ from: payer, to: payTo, value })));
  const receipt = await settle([groupOf(words, auths)]);
  const wanted = payees.map(({ wallet }, i) => {
    const amount = values.reduce((sum, value) => sum + (splitAmounts(value, payees)[i] ?? 0n), 0n);
    return [payTo, wallet, amount];
  });
  expect(transfers(receipt).filter(([from]) => from === payTo)).toEqual(wanted);
});

test('an author blocked by the token fails the whole group, whose authorizations settle once the block is lifted', async () => {
  const { payees, payTo, words } = newTrio();
  const other = newTrio();
  const auths = await Promise.all([1_000n, 2_000n].map((value) => signAuth({ from: payer, to: payTo, value })));
  const neighbour = await signAuth({ from: payer, to: other.payTo, value: PRICE });
  const blocked = payees[2]?.wallet ?? USDC;
  await world.block(blocked);
  const before = await world.balance(addressOf(payer));
  expect(eventNames(await settle([groupOf(words, auths), groupOf(other.words, [neighbour])]))).toEqual(['GroupFailed', 'Paid']);
  expect(before - (await world.balance(addressOf(payer)))).toBe(PRICE);
  for (const { from, nonce } of auths) expect(await world.isUsed(from, nonce)).toBe(false);
  await world.unblock(blocked);
  expect(eventNames(await settle([groupOf(words, auths)]))).toEqual(['Paid']);
  expect(await world.balance(blocked)).toBe(600n);
});

test('a single blocked author fails only the payments to that author', async () => {
  const [blocked, fine] = [newWallet(), newWallet()];
  await world.block(blocked);
  const groups = await Promise.all(
    [blocked, fine].map(async (wallet) =>
      groupOf(payToOf([{ wallet, weight: 1n }]).words, [await signAuth({ from: payer, to: wallet, value: PRICE })]),
    ),
  );
  const receipt = await settle(groups);
  expect(eventNames(receipt)).toEqual(['ItemFailed']);
  expect(transfers(receipt)).toEqual([[addressOf(payer), fine, PRICE]]);
});

test('a wallet with code pays with the signature of its owner, alone and for several authors', async () => {
  const wallet = await world.deployWallet(addressOf(payer));
  await world.mint([wallet], 10n * PRICE);
  const { payTo, words } = newTrio();
  const auth = await signAuth({ from: payer, payer: wallet, to: payTo, value: PRICE });
  const author = newWallet();
  const single = await signAuth({ from: payer, payer: wallet, to: author, value: PRICE });
  const receipt = await settle([
    groupOf(words, [auth], CONTRACT_AUTH_GAS),
    groupOf(payToOf([{ wallet: author, weight: 1n }]).words, [single], CONTRACT_AUTH_GAS),
  ]);
  expect(eventNames(receipt)).toEqual(['Paid']);
  expect(await world.balance(author)).toBe(PRICE);
});

test('a wallet that burns 100 k or 5 M gas costs us no more than its cap, and its neighbours are paid', async () => {
  for (const gasToBurn of [100_000n, 5_000_000n]) {
    const wallet = await world.deployWallet(addressOf(payer), gasToBurn);
    await world.mint([wallet], 10n * PRICE);
    const { payTo, words } = newTrio();
    const hostile = await signAuth({ from: payer, payer: wallet, to: payTo, value: PRICE });
    const honest = await signAuth({ from: payer, to: payTo, value: PRICE });
    const receipt = await settle([groupOf(words, [hostile, honest])]);
    expect(eventNames(receipt)).toEqual(['ItemFailed', 'Paid']);
    expect(receipt.gasUsed).toBeLessThan(PLAIN_AUTH_GAS + 350_000n);
    expect(await world.isUsed(hostile.from, hostile.nonce)).toBe(false);
  }
});

test('a larger gas cap of its own lets a dear but honest wallet pay', async () => {
  const wallet = await world.deployWallet(addressOf(payer), 100_000n);
  await world.mint([wallet], PRICE);
  const { payTo, words } = newTrio();
  const auth = await signAuth({ from: payer, payer: wallet, to: payTo, value: PRICE });
  expect(eventNames(await settle([groupOf(words, [auth])]))).toEqual(['ItemFailed']);
  expect(eventNames(await settle([groupOf(words, [auth], CONTRACT_AUTH_GAS)]))).toEqual(['Paid']);
});

test('a token whose fallback accepts every call moves nothing and fails the group, whatever the split holds of it', async () => {
  const token = await world.deploy(permissiveArtifact);
  const { payTo, words } = newTrio();
  const mint = encodeFunctionData({
    abi: [
      {
        type: 'function',
        name: 'mint',
        stateMutability: 'nonpayable',
        inputs: [{ type: 'address' }, { type: 'uint256' }],
        outputs: [],
      },
    ],
    functionName: 'mint',
    args: [payTo, 5_000n],
  });
  await world.send(token, mint);
  const auth = await signAuth({ from: payer, to: payTo, value: 1_000n });
  const group = { ...groupOf(words, [auth]), token };
  const receipt = await settle([group]);
  const [failed] = routerEvents(receipt);
  expect(failed?.eventName === 'GroupFailed' && failed.args.why).toBe(toFunctionSelector('BalanceMismatch(uint256,uint256)'));
  expect((await world.settleGroup(group)).status).toBe('reverted');
  expect(await world.balance(payTo, token)).toBe(5_000n);
  expect((await world.flushAll(words, token)).status).toBe('success');
  expect(await world.balance(payTo, token)).toBe(0n);
});

test('an asset without code fails its group and no other', async () => {
  const { payTo, words } = newTrio();
  const author = newWallet();
  const auth = await signAuth({ from: payer, to: payTo, value: 1_000n });
  const none = newWallet();
  const groups = [
    { ...groupOf(words, [auth]), token: none },
    { ...groupOf(payToOf([{ wallet: author, weight: 1n }]).words, [auth]), token: none },
    groupOf(words, [auth]),
  ];
  expect(eventNames(await settle(groups))).toEqual(['GroupFailed', 'GroupFailed', 'Paid']);
});

test('a batch with too little gas reverts as a whole and loses nothing', async () => {
  const trios = Array.from({ length: 3 }, newTrio);
  const auths = await Promise.all(trios.map(({ payTo }) => signAuth({ from: payer, to: payTo, value: PRICE })));
  const groups = trios.map(({ words }, i) => groupOf(words, auths.slice(i, i + 1)));
  const used = (await world.rpc('eth_estimateGas', [batchRequest(groups)])) as unknown as string;
  for (const gas of [BigInt(used) / 2n, BigInt(used) - 200_000n, 300_000n]) {
    const receipt = await settle(groups, gas);
    expect(receipt.status).toBe('reverted');
    expect(receipt.logs).toEqual([]);
  }
  for (const { from, nonce } of auths) expect(await world.isUsed(from, nonce)).toBe(false);
  expect(eventNames(await settle(groups))).toEqual(['Paid', 'Paid', 'Paid']);
});

test('whatever gas a batch is given, it either settles every payment or reverts: none fails for want of gas', async () => {
  const newGroup = async (): Promise<Group> => {
    const { payTo, words } = newTrio();
    return groupOf(words, [await signAuth({ from: payer, to: payTo, value: PRICE })]);
  };
  const outcomes = new Set<string>();
  for (let gas = 200_000n; gas <= 1_400_000n; gas += 15_000n) {
    const receipt = await settle(await Promise.all([newGroup(), newGroup(), newGroup()]), gas);
    const names = eventNames(receipt).join();
    expect(names, `${gas} gas`).toBe(receipt.status === 'success' ? 'Paid,Paid,Paid' : '');
    outcomes.add(receipt.status);
  }
  expect([...outcomes]).toEqual(['reverted', 'success']);
});

function batchRequest(groups: readonly Group[]) {
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'settleBatch', args: [groups, groups.map(budgetOf)] });
  return { from: addressOf(payer), to: routerAddress, data };
}

test('a group with a budget that is too small fails alone and stays usable', async () => {
  const [small, fine] = [newTrio(), newTrio()];
  const auths = await Promise.all([small, fine].map(({ payTo }) => signAuth({ from: payer, to: payTo, value: PRICE })));
  const groups = [groupOf(small.words, auths.slice(0, 1)), groupOf(fine.words, auths.slice(1))];
  const [, enough] = groups.map(budgetOf);
  for (const budget of [0n, 30_000n, 130_000n]) {
    const receipt = await world.settleBatch([groupOf(small.words, auths.slice(0, 1))], [budget]);
    expect(eventNames(receipt)).toEqual(['GroupFailed']);
  }
  expect(eventNames(await world.settleBatch(groups, [130_000n, enough ?? 0n]))).toEqual(['GroupFailed', 'Paid']);
  expect(eventNames(await settle(groups.slice(0, 1)))).toEqual(['Paid']);
});

test('dust and donations at a split go to its authors at the next flush, deployed or not, and a second flush is harmless', async () => {
  const { payees, payTo, words } = newTrio();
  for (const dust of [1n, 10n, 999n]) {
    await world.mint([payTo], dust);
    const amounts = splitAmounts(dust, payees);
    const moved = transfers(await world.flushAll(words));
    expect(moved).toEqual(payees.map(({ wallet }, i) => [payTo, wallet, amounts[i]]).filter(([, , amount]) => amount !== 0n));
    expect(await world.balance(payTo)).toBe(0n);
    const again = await world.flushAll(words);
    expect(again.status).toBe('success');
    expect(again.logs).toEqual([]);
  }
  const single = payToOf([{ wallet: newWallet(), weight: 1n }]);
  expect((await world.flushAll(single.words)).logs).toEqual([]);
});

test('an author may buy an article of which he is one author, but not one whose whole payTo he is', async () => {
  const self = addressOf(payer);
  const joint = payToOf([
    { wallet: self, weight: 1n },
    { wallet: newWallet(), weight: 1n },
  ]);
  const jointAuth = await signAuth({ from: payer, to: joint.payTo, value: 1_000n });
  const own = payToOf([{ wallet: self, weight: 1n }]);
  const ownAuth = await signAuth({ from: payer, to: self, value: 1_000n });
  const receipt = await settle([groupOf(joint.words, [jointAuth]), groupOf(own.words, [ownAuth])]);
  const [paid, failed] = routerEvents(receipt);
  expect(paid?.eventName).toBe('Paid');
  expect(failed?.eventName === 'ItemFailed' && failed.args.why).toBe(toFunctionSelector('PayerIsPayTo()'));
  expect(await world.isUsed(self, ownAuth.nonce)).toBe(false);
});

test('the router, the asset and the zero address are refused as the wallet of a group, and others are paid', async () => {
  const author = newWallet();
  const fine = await signAuth({ from: payer, to: author, value: PRICE });
  const zero: Address = `0x${'0'.repeat(40)}`;
  const groups: Group[] = [];
  for (const wallet of [routerAddress, USDC, zero]) {
    const auth = await signAuth({ from: payer, to: wallet, value: PRICE });
    const words = [`0x${((1n << 160n) | BigInt(wallet)).toString(16).padStart(64, '0')}` as const];
    groups.push(groupOf(words, [auth]));
    expect((await world.settleGroup(groupOf(words, [auth]))).status).toBe('reverted');
  }
  groups.push(groupOf(payToOf([{ wallet: author, weight: 1n }]).words, [fine]));
  expect(eventNames(await settle(groups))).toEqual(['GroupFailed', 'GroupFailed', 'GroupFailed']);
  expect(await world.balance(author)).toBe(PRICE);
  expect(await world.balance(routerAddress)).toBe(0n);
});

test('a simulated settleGroup says how much it would pull, 0 when nothing', async () => {
  const { payTo, words } = newTrio();
  const good = await signAuth({ from: payer, to: payTo, value: PRICE });
  const bad = { ...good, value: PRICE + 1n };
  for (const [auth, wanted] of [
    [good, PRICE],
    [bad, 0n],
  ] as const) {
    const data = encodeFunctionData({ abi: routerAbi, functionName: 'settleGroup', args: [0n, groupOf(words, [auth])] });
    const result = await world.client.call({ to: routerAddress, data });
    expect(decodeFunctionResult({ abi: routerAbi, functionName: 'settleGroup', data: result.data ?? '0x' })).toBe(wanted);
  }
});

test('the token reports AuthorizationUsed first and the Transfer next, as the evidence rule expects', async () => {
  const author = newWallet();
  const auth = await signAuth({ from: payer, to: author, value: PRICE });
  const receipt = await settle([groupOf(payToOf([{ wallet: author, weight: 1n }]).words, [auth])]);
  const logs = parseEventLogs({ abi: tokenAbi, logs: receipt.logs });
  expect(logs.map(({ eventName }) => eventName)).toEqual(['AuthorizationUsed', 'Transfer']);
});
