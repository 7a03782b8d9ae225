import { encodeDeployData, parseAbi } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import walletArtifact from '../../contracts/artifacts/test/TestWallet.json' with { type: 'json' };
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { attempt, chainCall, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newAccount, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const walletAbi = parseAbi(['constructor(address owner, uint256 gasToBurn)']);
/** Accepts every signature in `eth_call`, and reverts in a transaction. */
const FICKLE_CODE = `0x3215600b5760006000fd005b7f1626ba7e${'00'.repeat(28)}60005260206000f3`;

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50 });
});
afterAll(() => world.close());
afterEach(() => checkInvariants(world));

/** A wallet of code that `owner` signs for, with test USDC. */
async function newContractWallet(owner: string, gasToBurn: bigint): Promise<Address> {
  const data = encodeDeployData({ abi: walletAbi, bytecode: walletArtifact.bytecode as Hex, args: [owner as Hex, gasToBurn] });
  const [from] = await chainCall<string[]>(world, 'eth_accounts');
  const hash = await chainCall<Hex>(world, 'eth_sendTransaction', { from, data });
  let receipt: { contractAddress: Address } | null = null;
  while (!receipt) receipt = await chainCall(world, 'eth_getTransactionReceipt', hash);
  await world.fund(receipt.contractAddress, 100_000n);
  return receipt.contractAddress;
}

test('an ERC-1271 wallet pays in batches of its own, one that burns gas is refused before it costs any, and keys pay beside them', async () => {
  const owner = newAccount();
  const honest = await newContractWallet(owner.address, 0n);
  const burner = await newContractWallet(owner.address, 5_000_000n);
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'wallets' });
  const payments = [
    await paymentFor(world, owner, terms, { from: honest }),
    await paymentFor(world, await newPayer(world), terms),
    await paymentFor(world, await newPayer(world), terms),
  ];
  for (const payment of payments) expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  expect((await attempt(world, terms, await paymentFor(world, owner, terms, { from: burner }))).code).toBe(
    'authorization_invalid',
  );
  await look(world, await sendAll(world));
  await look(world, await sendAll(world));
  const rows = [];
  for (const payment of payments) rows.push(await stateOf(world, payment));
  expect(rows.map((row) => row?.state)).toEqual(['settled', 'settled', 'settled']);
  expect(rows[0]?.tx_hash).not.toBe(rows[1]?.tx_hash);
  expect(rows[1]?.tx_hash).toBe(rows[2]?.tx_hash);
  expect(await listBalances(world.rpc, world.network, [honest])).toEqual([99_000n]);
});

test('an account with delegated code (EIP-7702) that signs with its key counts as a wallet of code and pays', async () => {
  const payer = await newPayer(world);
  const delegate = await newContractWallet(payer.address, 0n);
  await chainCall(world, 'anvil_setCode', payer.address, `0xef0100${delegate.slice(2)}`);
  const terms = termsFor(world, newAuthors(1n), { slug: 'delegated' });
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(await world.database.query("select payer_kind from payment where slug = 'delegated'")).toEqual([
    { payer_kind: 'contract' },
  ]);
  expect(addressOf(payer)).not.toBe(delegate);
});

test('a wallet that is not deployed yet (ERC-6492) is refused, counted once, and leaves no row', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'undeployed' });
  const payment = { ...(await paymentFor(world, await newPayer(world), terms)), erc6492: true };
  // Presented by a site's own key: what nobody vouches for is counted nowhere.
  const byItsKey = pay(world, terms, payment, { keyId: crypto.randomUUID() });
  await expect(byItsKey).rejects.toMatchObject({ code: 'authorization_invalid' });
  expect(await stateOf(world, payment)).toBeNull();
  expect(await world.database.query("select reason from observation where slug = 'undeployed'")).toHaveLength(1);
});

test.for([
  ['alone', 1],
  ['in a batch', 2],
] as const)(
  'a wallet of code that says yes when asked and no when it counts, %s, is struck each time it was sent: alone once, among others twice',
  async ([, count]) => {
    const terms = termsFor(world, newAuthors(1n), { slug: `fickle-${count}` });
    const payments = [];
    for (let made = 0; made < count; made += 1) {
      const wallet = newWallet();
      await chainCall(world, 'anvil_setCode', wallet, FICKLE_CODE);
      await world.fund(wallet, 10_000n);
      const payment = await paymentFor(world, newAccount(), terms, { from: wallet });
      expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
      payments.push(payment);
    }
    // Together once, then each alone.
    for (let round = 0; round < 1 + count; round += 1) await look(world, await sendAll(world));
    await mine(world);
    for (const payment of payments)
      expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'settlement_failed' });
    for (const { authorization } of payments) {
      const rows = await world.database.query('select strikes from payer_strike where payer = $1', [authorization.from]);
      expect(rows).toEqual([{ strikes: count === 1 ? 1 : 2 }]);
    }
    await sweep(world, 1);
  },
);

test('two looks at one batch at the same time strike a payer once', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'one-strike' });
  const wallet = newWallet();
  await chainCall(world, 'anvil_setCode', wallet, FICKLE_CODE);
  await world.fund(wallet, 10_000n);
  const payment = await paymentFor(world, newAccount(), terms, { from: wallet });
  await attempt(world, terms, payment);
  const batchId = await sendAll(world);
  await Promise.all([look(world, batchId), look(world, batchId), look(world, batchId)]);
  const strikes = await world.database.query('select strikes from payer_strike where payer = $1', [wallet]);
  expect(strikes).toEqual([{ strikes: 1 }]);
});
