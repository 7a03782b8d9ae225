/** Faults on a real chain: nodes that fall silent, strangers' transactions, reorgs, and the sweeper's rounds. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { toldState } from '../../db/paymentStates.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { Authorization, Hex, ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { confirmBatch } from '../../modules/settlement/use/batch/confirm.ts';
import { claimNew } from '../../modules/settlement/use/batch/send.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { multicall3Address } from '../../platform/chain/calls/multicall.ts';
import { transferCall } from '../../platform/chain/calls/tokenCalls.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { chainUnavailable } from '../../platform/chain/rpc/rpc.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { scaled } from './patience.ts';
import type { SettlementWorld } from './settlement.ts';
import { pay } from './settlement.ts';
import { query } from './sql.ts';

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call3[] calls) payable returns ((bool success, bytes returnData)[])',
]);
const cancelAbi = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)']);
const tokenAbi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
]);

/** Where a line is cut. */
export interface Cut {
  /** True: nobody answers. An error: the node answers with it. */
  before?: (method: string, params: readonly unknown[]) => Error | boolean | null;
  /** True: the node did what was asked, and its reply is lost. */
  after?: (method: string) => boolean;
}

/** A connection in front of a real one that a test can cut: `before` throws instead of asking, `after` drops the answer. */
export function cuttable(rpc: Rpc): Rpc & { readonly cut: Cut } {
  const cut: Cut = {};
  return {
    ...rpc,
    cut,
    async request<T>(method: string, params: readonly unknown[], options?: { readonly timeoutMs?: number }): Promise<T> {
      const error = cut.before?.(method, params);
      if (error) throw error === true ? chainUnavailable(rpc.networkId) : error;
      const answer = await rpc.request<T>(method, params, options);
      if (cut.after?.(method)) throw chainUnavailable(rpc.networkId);
      return answer;
    },
  };
}

/** The world's dependencies with something else in them. */
export function changed(world: SettlementWorld, changes: Partial<SettlementDeps>): SettlementDeps {
  return { ...world.deps, ...changes };
}

/** A call to the node that is anvil's own. */
export function chainCall<T>(world: SettlementWorld, method: string, ...params: readonly unknown[]): Promise<T> {
  return callChain<T>(world.chain.rpcUrl, method, params);
}

/** Mines blocks now. */
export async function mine(world: SettlementWorld, blocks = 1): Promise<void> {
  for (let made = 0; made < blocks; made += 1) await chainCall(world, 'evm_mine');
}

/** Calls of a stranger in one transaction, mined at once; returns its hash. */
export async function strangerCalls(
  world: SettlementWorld,
  calls: readonly { readonly to: string; readonly data: Hex }[],
): Promise<Hex> {
  const [stranger] = await chainCall<string[]>(world, 'eth_accounts');
  const list = calls.map(({ to, data }) => ({ target: to as Hex, allowFailure: false, callData: data }));
  const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [list] });
  const only = calls.length === 1 ? calls[0] : undefined;
  const request = { from: stranger, gas: '0x4c4b40', ...(only ?? { to: multicall3Address, data }) };
  const hash = await chainCall<Hex>(world, 'eth_sendTransaction', request);
  for (let asked = 0; asked < 1_500; asked += 1) {
    const receipt = await chainCall<{ status: string } | null>(world, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return hash;
    if (receipt !== null) break;
    await sleep(20);
  }
  throw new Error(`the stranger's transaction ${hash} failed`);
}

/** Anyone may submit what a payer signed. */
export function submitAlone(
  world: SettlementWorld,
  ...payments: readonly Pick<ParsedPayment, 'authorization' | 'signature'>[]
): Promise<Hex> {
  return strangerCalls(
    world,
    payments.map((payment) => ({ to: world.network.asset, data: transferCall(payment) })),
  );
}

/** The payer moves money by an ordinary transfer. */
export async function spend(world: SettlementWorld, payer: string, to: string, value: bigint): Promise<void> {
  await chainCall(world, 'anvil_setBalance', payer, '0xde0b6b3a7640000');
  await chainCall(world, 'anvil_impersonateAccount', payer);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to as Hex, value] });
  await chainCall(world, 'eth_sendTransaction', { from: payer, to: world.network.asset, data });
  await chainCall(world, 'anvil_stopImpersonatingAccount', payer);
}

/** The token refuses a wallet, or no longer. */
export async function block(world: SettlementWorld, wallet: string, isBlocked = true): Promise<void> {
  const functionName = isBlocked ? 'blacklist' : 'unBlacklist';
  await strangerCalls(world, [
    { to: world.network.asset, data: encodeFunctionData({ abi: tokenAbi, functionName, args: [wallet as Hex] }) },
  ]);
}

/** The payer withdraws an authorization. */
export async function cancel(world: SettlementWorld, payer: PrivateKeyAccount, nonce: Hex): Promise<void> {
  const { chainId, asset, assetName: name, assetVersion: version } = world.network;
  const signature = await payer.signTypedData({
    domain: { name, version, chainId, verifyingContract: asset },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce },
  });
  const data = encodeFunctionData({
    abi: cancelAbi,
    functionName: 'cancelAuthorization',
    args: [payer.address, nonce, signature],
  });
  await strangerCalls(world, [{ to: asset, data }]);
}

/** Asks for settlement and gives the answer or the error it ends with; the row exists when it is `settlement_pending`. */
export async function attempt(world: SettlementWorld, terms: Terms, payment: ParsedPayment) {
  try {
    return { code: 'settled', receipt: await pay(world, terms, payment) } as const;
  } catch (error) {
    if (error instanceof PaymentError) return { code: error.code, receipt: null } as const;
    if (error instanceof Error && 'code' in error) return { code: String(error.code), receipt: null } as const;
    throw error;
  }
}

/** The same, asked again while it is on its way: for 60 s, however busy the machine is. */
export async function attemptUntilDecided(world: SettlementWorld, terms: Terms, payment: ParsedPayment) {
  const deadline = Date.now() + scaled(60_000);
  for (;;) {
    const answer = await attempt(world, terms, payment);
    if (answer.code !== 'settlement_pending' || Date.now() > deadline) return answer;
  }
}

/** State and reason of the payment of an authorization; null without a row. */
export async function stateOf(world: SettlementWorld, payment: { readonly authorization: Authorization }) {
  const rows = await world.database.query<{ state: string; reason: string | null; tx_hash: string | null; attempts: number }>(
    `select ${toldState('payment')} as state, reason, tx_hash, attempts from payment where nonce = $1`,
    [payment.authorization.nonce],
  );
  return rows[0] ?? null;
}

/** What waits, in one batch: claimed, signed, sent. Returns its id. */
export async function sendAll(world: SettlementWorld, deps: SettlementDeps = world.deps): Promise<string> {
  const batchId = randomUUID();
  await claimAndSend(deps, { network: world.network.id, batchId });
  return batchId;
}

/** A flight as far as the broadcast: claims under this id what waits, signs and sends it. */
export async function claimAndSend(deps: SettlementDeps, batch: { readonly network: string; readonly batchId: string }) {
  const { kind, others, noted } = await claimNew(deps, { ...batch, workflowId: null });
  await noted;
  return { kind, others };
}

/** Looks at a batch's receipt; a node that mines at once still takes a moment, which is waited for. */
export async function look(world: SettlementWorld, batchId: string, deps: SettlementDeps = world.deps) {
  await mined(world);
  return confirmBatch(deps, batchId, { timeoutMs: 1_000 });
}

/** Until a node that mines at once has nothing to mine; for 5 s, since some bytes are meant to stay unmined. */
async function mined(world: SettlementWorld): Promise<void> {
  if (!(await chainCall<boolean>(world, 'anvil_getAutomine'))) return;
  const deadline = Date.now() + 5_000;
  while (Date.now() < deadline) {
    const { pending } = await chainCall<{ pending: string }>(world, 'txpool_status');
    if (BigInt(pending) === 0n) return;
    await sleep(10);
  }
}

/** Rounds of the sweeper: a block, the round, what a worker sends that is told of what waits, and a block. */
export async function sweep(world: SettlementWorld, rounds = 1, deps: SettlementDeps = world.deps): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await mine(world);
    await sweepNetwork(deps, world.network.id);
    for (let more = true; more; ) {
      const batchId = randomUUID();
      const sent = await claimAndSend(deps, { network: world.network.id, batchId });
      if (sent.kind === 'sent') await look(world, batchId, deps);
      more = sent.others === 'now';
    }
    await mine(world);
  }
}

/** Lets the two seconds pass after which the sweeper takes an accepted payment for forgotten. */
export async function age(world: SettlementWorld): Promise<void> {
  const older =
    "update test.payment set accepted_at = accepted_at - interval '6 seconds' where state in ('accepted', 'broadcast')";
  await query(world.ownerUrl, older);
}

/** Lets the time pass for which a payment is postponed that a look decided nothing of. */
export async function letPostponedReturn(world: SettlementWorld): Promise<void> {
  await query(world.ownerUrl, "update test.payment set checked_at = checked_at - interval '1 minute' where state = 'accepted'");
}
