import type { Sql } from '../../../../db/database.ts';
import { isFeeAboveCap } from '../../../../platform/chain/gas/fees.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { RailWord } from '../../../kernel/payment/sight.ts';
import type { Payment, PaymentRef } from '../../store/payment.ts';
import { findBatch } from '../../store/relayer.ts';
import { sweepBatches } from '../batch/batches.ts';
import type { ConfirmResult } from '../batch/confirm.ts';
import { confirmBatch } from '../batch/confirm.ts';
import type { SendResult } from '../batch/send.ts';
import { claimAndSend } from '../batch/send.ts';
import type { BatchProposal } from '../batchQueue.ts';
import type { SettlementDeps } from '../deps.ts';
import type { Budget } from '../watch/budget.ts';
import { facilitatorRail } from './facilitator/rail.ts';

/**
 * Who moves the money of a batch. Rails differ only in how they send, and in what they know besides the chain; what that means is
 * judged in one place. Test keys have no rail: `settleMock` answers them.
 */
export interface Rail {
  /** True: workers are told of its payments and send them at once, beside their workflow. */
  readonly isWoken: boolean;
  /** Compares its settings with what it can do, at a worker's start. Throws an Error; one that cannot be reached is only warned of. */
  check(deps: SettlementDeps, network: Network): Promise<void>;
  /** Why it takes no payment of this kind at present, as what the caller is told; null when it does. */
  whyClosed(sql: Sql, network: Network, asked: Asked): Promise<ServiceError | null>;
  /** Claims what is open of a proposal and sets it on its way; called again for the same batch it claims nothing. */
  send(deps: SettlementDeps, proposal: BatchProposal, workflowId: string | null): Promise<SendResult>;
  /** Stays with a batch for `timeoutMs` and decides what can be decided; any number of calls is harmless. */
  confirm(
    deps: SettlementDeps,
    batchId: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<ConfirmResult>;
  /** Looks after the batches that no live workflow may hold, once through. Returns payments that need a batch. */
  sweep(deps: SettlementDeps, networkId: string, budget: Budget): Promise<readonly PaymentRef[]>;
  /** What the rail says of payments besides the chain, by payment id; of most it says nothing. */
  words(deps: SettlementDeps, payments: readonly Payment[]): Promise<ReadonlyMap<string, RailWord>>;
}

/** What a rail is asked about a payment before it has a row. */
export interface Asked {
  /** Paid to several authors. */
  readonly isSplit: boolean;
  /** Every relayer key of the network is paused. */
  readonly isPaused: boolean;
  /** The base fee that the network asks now, wei; null: not known. */
  readonly baseFeeWei: bigint | null;
  /** The network's own gas of the day is spent. */
  readonly isGasSpent: boolean;
}

const relayerRail: Rail = {
  isWoken: true,
  check: () => Promise.resolve(),
  whyClosed: (_sql, network, { isPaused, isGasSpent, baseFeeWei }) => {
    if (isPaused) return Promise.resolve(paused());
    if (isGasSpent) return Promise.resolve(spent());
    return Promise.resolve(baseFeeWei !== null && isFeeAboveCap(network, baseFeeWei) ? tooDear() : null);
  },
  send: claimAndSend,
  confirm: confirmBatch,
  sweep: sweepBatches,
  words: () => Promise.resolve(new Map()),
};

function paused(): ServiceError {
  return new ServiceError('overloaded', 'payments of this network are paused; nothing was charged', { retryAfterSeconds: 30 });
}

function tooDear(): ServiceError {
  return new ServiceError('overloaded', 'the network asks more for gas than is paid here at present; nothing was charged', {
    retryAfterSeconds: 30,
  });
}

function spent(): ServiceError {
  return new ServiceError('gas_budget_spent', 'the gas budget of this network for today is spent; nothing was charged', {
    retryAfterSeconds: 3600,
  });
}

/** By the name that a network's configuration and a batch's row know them by; what no rail is named for is the relayer's. */
const RAILS: ReadonlyMap<string, Rail> = new Map([
  ['relayer', relayerRail],
  ['facilitator', facilitatorRail],
]);

function railOf(name: string | undefined): Rail {
  return RAILS.get(name ?? '') ?? relayerRail;
}

/** Compares the settings of every network's rail with what it can do. Throws an Error when one cannot be used as configured. */
export async function checkRails(deps: SettlementDeps): Promise<void> {
  for (const network of deps.networks.list) await railOf(network.settler).check(deps, network);
}

/** Why the network's rail takes no such payment at present; null when it does. */
export function whyClosed(sql: Sql, network: Network, asked: Asked): Promise<ServiceError | null> {
  return railOf(network.settler).whyClosed(sql, network, asked);
}

/** True where workers are told of a network's payments by their rows, and send them without being asked. */
export function isWoken({ settler }: Pick<Network, 'settler'>): boolean {
  return railOf(settler).isWoken;
}

/** Sends a proposal by the rail that its network is configured for. */
export function sendProposal(deps: SettlementDeps, proposal: BatchProposal, workflowId: string | null): Promise<SendResult> {
  return railOf(deps.networks.get(proposal.network).settler).send(deps, proposal, workflowId);
}

/** Confirms a batch by the rail that carries it, whatever its network is configured for by now. */
export async function confirmCarried(
  deps: SettlementDeps,
  batchId: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ConfirmResult> {
  return railOf((await findBatch(deps.database, batchId))?.kind).confirm(deps, batchId, options);
}

/** Looks after the batches of every rail. Each stands alone: what goes wrong on one keeps no other from its turn. */
export function railSweeps(
  deps: SettlementDeps,
  networkId: string,
  budget: () => Budget,
): readonly (() => Promise<readonly PaymentRef[]>)[] {
  return [...RAILS.values()].map((rail) => () => rail.sweep(deps, networkId, budget()));
}

/** What the rails say of payments besides the chain, by payment id. */
export async function railWords(deps: SettlementDeps, payments: readonly Payment[]): Promise<ReadonlyMap<string, RailWord>> {
  const said = await Promise.all([...RAILS.values()].map((rail) => rail.words(deps, payments)));
  return new Map(said.flatMap((words) => [...words]));
}
