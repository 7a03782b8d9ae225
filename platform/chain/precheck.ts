/**
 * Would these payments go through now? One `eth_call` for a whole batch: block number and all reads first, then every
 * transfer simulated on the state the ones before it left, so that two payments of one payer with money for one are told
 * apart as they would be on chain. Payers with code run alone, under their gas cap, and their money is counted as it goes.
 */
import type { FailureReason } from '../../modules/kernel/errors.ts';
import { diagnoseRevert } from '../../modules/kernel/x402/failure.ts';
import type { Authorization, Hex } from '../../modules/kernel/x402/payload.ts';
import { findAccountsWithCode } from './calls/codeSize.ts';
import type { Call, CallResult, Simulation } from './calls/multicall.ts';
import { aggregate, blockNumberCall, simulateCall } from './calls/multicall.ts';
import { authorizationStateCall, balanceOfCall, transferCall } from './calls/tokenCalls.ts';
import { CONTRACT_AUTH_GAS, transferGas } from './gas/gas.ts';
import type { Network } from './network.ts';
import { NEAR_BLOCKS } from './rpc/choice.ts';
import { answersOfAll, QUORUM, UNCONFIRMED } from './rpc/quorum.ts';
import type { Rpc } from './rpc/rpc.ts';
import { chainUnavailable, hasOthers, quantity } from './rpc/rpc.ts';
import type { PayerKind } from './signature/contractWallet.ts';

/** One payment to look at. */
export interface PrecheckItem {
  readonly paymentId: string;
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly payerKind: PayerKind;
}

/**
 * What the chain says of a payment that has not been sent. `nonce_used` decides nothing: look for its evidence. Nor does `unconfirmed`: one node
 * refuses it, and no second one answers, or they disagree.
 */
export type PrecheckOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'nonce_used' }
  | { readonly kind: typeof UNCONFIRMED }
  | { readonly kind: 'refused'; readonly reason: FailureReason; readonly raw: string };

/** The result for one payment, on the state of `blockNumber`. `payerKind` is `contract` where the payer has code. */
export interface Prechecked {
  readonly paymentId: string;
  readonly payerKind: PayerKind;
  readonly blockNumber: bigint;
  readonly nonceUsed: boolean;
  readonly balance: bigint;
  readonly outcome: PrecheckOutcome;
}

/**
 * Checks a batch (at most 100 payments), results in the order given. Reads only; a second call may answer otherwise. Sends
 * signatures to the node: the payment rows must stand before (safety 2). Throws ServiceError `chain_unavailable`.
 *
 * What a node does not take is asked of the others, if there are any (`agreedCheck`). A node that fell behind since it was last looked at never
 * decides against a buyer: with several its answer does not count; the only one is asked again, and where that, too, answers from further back
 * than a node near the best one may be, it is an outage.
 */
export async function precheck(rpc: Rpc, network: Network, items: readonly PrecheckItem[]): Promise<readonly Prechecked[]> {
  const first = await checkOnce(rpc, network, items);
  const isContested = hasOthers(rpc) ? isHeldUp : isRefused;
  if (!first.some(isContested)) return first;
  const newest = (await rpc.newestBlock?.()) ?? null;
  const isBehind = ({ blockNumber }: Prechecked): boolean => newest !== null && blockNumber + NEAR_BLOCKS < newest;
  if (!hasOthers(rpc)) {
    if (newest === null || first.every(({ blockNumber }) => blockNumber >= newest)) return first;
    const again = await checkOnce(rpc, network, items);
    if (again.some((check) => isRefused(check) && isBehind(check))) throw chainUnavailable(rpc.networkId);
    return again;
  }
  const ask = async (node: Rpc): Promise<readonly Prechecked[] | null> => {
    const own = await checkOnce(node, network, items);
    return own.some(isBehind) ? null : own;
  };
  const answers = await answersOfAll(rpc, first, { isRefusal: isHeldUp, isAgreed: isAgreedCheck }, ask);
  return first.map((check, at) => agreedCheck(check, answers[at] ?? []));
}

function isRefused({ outcome }: Prechecked): boolean {
  return outcome.kind === 'refused';
}

/** True for what one node keeps from being sent. */
function isHeldUp(check: Prechecked): boolean {
  return isRefused(check) || check.nonceUsed;
}

/** True where further nodes change nothing. Two refusals wait for those: one of them may show the nonce used. Pure. */
export function isAgreedCheck(answers: readonly Prechecked[]): boolean {
  const used = answers.filter(({ nonceUsed }) => nonceUsed).length;
  const passed = answers.filter(({ outcome }) => outcome.kind === 'passed').length;
  return used >= QUORUM || passed >= QUORUM;
}

/**
 * What the answers of several nodes about one payment come to; `first` is the one it began with, which counts where it shows a used nonce. Pure.
 *
 * A used nonce and a refusal are different answers, and only two refusals refuse: the first node asked holds the signature, may execute it
 * and say that there is no money. So where any node shows the nonce used, no refusal counts, and its evidence is looked for; only a node that
 * takes the payment speaks against a single one. The reason of a refusal, too, is that of two nodes, whichever URL stands first.
 */
export function agreedCheck(first: Prechecked, answers: readonly Prechecked[]): Prechecked {
  const used = answers.filter(({ nonceUsed }) => nonceUsed);
  const refused = answers.filter(isRefused);
  if (used[0] && used.length >= QUORUM) return used[0];
  if (used.length === 0 && !first.nonceUsed && refused.length >= QUORUM) return refusedForOneReason(refused) ?? first;
  const passed = answers.find(({ outcome }) => outcome.kind === 'passed');
  const [isUsed] = first.nonceUsed ? [first] : used;
  return passed ?? isUsed ?? { ...first, outcome: { kind: UNCONFIRMED } };
}

/** The refusal for the reason that two nodes give; where each gives another, for none of theirs. */
function refusedForOneReason(refused: readonly Prechecked[]): Prechecked | undefined {
  const reasons = Map.groupBy(refused, ({ outcome }) => (outcome.kind === 'refused' ? outcome.reason : null));
  const [agreed] = [...reasons.values()].filter(({ length }) => length >= QUORUM).flat();
  return agreed ?? (refused[0] && { ...refused[0], outcome: FOR_SEVERAL_REASONS });
}

const FOR_SEVERAL_REASONS: PrecheckOutcome = {
  kind: 'refused',
  reason: 'settlement_failed',
  raw: 'nodes refuse it for different reasons',
};

async function checkOnce(rpc: Rpc, network: Network, items: readonly PrecheckItem[]): Promise<readonly Prechecked[]> {
  if (items.length === 0) return [];
  const declared = new Set(items.filter(({ payerKind }) => payerKind === 'plain'));
  const [withCode, early] = await Promise.all([
    findAccountsWithCode(
      rpc,
      items.map(({ authorization }) => authorization.from),
    ),
    readBatch(rpc, network, items, declared),
  ]);
  const plain = new Set([...declared].filter(({ authorization }) => !withCode.has(authorization.from)));
  // A payer with code inside the shared call may have burnt the others' gas: that call is not worth anything then.
  const [batch, alone] = await Promise.all([
    plain.size === declared.size ? early : readBatch(rpc, network, items, plain),
    Promise.all(items.map((item) => (plain.has(item) ? null : simulateAlone(rpc, network, item)))),
  ]);
  if (batch === null) throw chainUnavailable(rpc.networkId);
  const spent = new Map<string, bigint>();
  return items.map((item, at) => {
    const { nonceUsed, balance, simulation } = batch.of(item);
    const payerKind: PayerKind = plain.has(item) ? 'plain' : 'contract';
    const { from, value } = item.authorization;
    const before = spent.get(from) ?? 0n;
    const judged = judge(item, payerKind, { nonceUsed, balance, simulation: alone[at] ?? simulation });
    // Simulated alone, each payment of a wallet with code finds the money that the one before it takes.
    const outcome = judged.kind === 'passed' && before + value > balance ? SHORT : judged;
    if (outcome.kind === 'passed') spent.set(from, before + value);
    return { paymentId: item.paymentId, payerKind, blockNumber: batch.blockNumber, nonceUsed, balance, outcome };
  });
}

const SHORT: PrecheckOutcome = {
  kind: 'refused',
  reason: 'insufficient_funds',
  raw: 'invalid_exact_evm_insufficient_balance',
};

function judge(item: PrecheckItem, payerKind: PayerKind, { nonceUsed, balance, simulation }: ItemReads): PrecheckOutcome {
  if (nonceUsed) return { kind: 'nonce_used' };
  if (simulation.revert === null) return { kind: 'passed' };
  if (balance < item.authorization.value) return SHORT;
  const { reason, raw } = diagnoseRevert(simulation.revert);
  // Nothing but a wallet's own code, or its appetite for gas, reverts without data here.
  if (payerKind === 'contract' && simulation.revert === '0x') return { kind: 'refused', reason: 'authorization_invalid', raw };
  return { kind: 'refused', reason, raw };
}

/** What the chain said of an item. */
interface ItemReads {
  readonly nonceUsed: boolean;
  readonly balance: bigint;
  readonly simulation: Simulation;
}

interface BatchReads {
  readonly blockNumber: bigint;
  of(item: PrecheckItem): ItemReads;
}

/** All reads, then the simulations of `simulated`; null when the call as a whole ran out of gas. */
async function readBatch(
  rpc: Rpc,
  network: Network,
  items: readonly PrecheckItem[],
  simulated: ReadonlySet<PrecheckItem>,
): Promise<BatchReads | null> {
  const order = items.filter((item) => simulated.has(item));
  const reads = items.flatMap((item) => readsOf(network, item));
  const simulations = order.map((item): Call => ({ target: network.asset, callData: transferCall(item) }));
  const results = await aggregate(rpc, [blockNumberCall(network), ...reads, ...simulations]);
  if (results === null) return null;
  const at = (index: number): CallResult => {
    const result = results[index];
    if (!result) throw chainUnavailable(rpc.networkId);
    return result;
  };
  const position = new Map(items.map((item, index) => [item, 1 + 2 * index]));
  const simulationAt = new Map(order.map((item, index) => [item, 1 + 2 * items.length + index]));
  return {
    blockNumber: read(rpc, at(0)),
    of(item) {
      const first = position.get(item) ?? 0;
      const simulation = simulationAt.get(item);
      const result = simulation === undefined ? null : at(simulation);
      return {
        nonceUsed: read(rpc, at(first)) === 1n,
        balance: read(rpc, at(first + 1)),
        simulation: { revert: result === null || result.success ? null : result.returnData },
      };
    },
  };
}

function readsOf(network: Network, { authorization: { from, nonce } }: PrecheckItem): readonly Call[] {
  return [
    { target: network.asset, callData: authorizationStateCall(from, nonce) },
    { target: network.asset, callData: balanceOfCall(from) },
  ];
}

/** The one word of a read that cannot fail on a chain that is there. */
function read(rpc: Rpc, result: CallResult): bigint {
  if (!result.success || result.returnData.length !== 66) throw chainUnavailable(rpc.networkId);
  return BigInt(result.returnData);
}

function simulateAlone(rpc: Rpc, network: Network, item: PrecheckItem): Promise<Simulation> {
  const data = transferCall(item);
  return simulateCall(rpc, { to: network.asset, data, gas: quantity(transferGas(CONTRACT_AUTH_GAS, data)) });
}
