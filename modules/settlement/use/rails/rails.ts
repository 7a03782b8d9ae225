import type { Sql } from '../../../../db/database.ts';
import { isFeeAboveCap } from '../../../../platform/chain/gas/fees.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { RailWord } from '../../../kernel/payment/sight.ts';
import type { Payment } from '../../store/payment.ts';
import type { Batch } from '../../store/relayer.ts';
import { findBatch } from '../../store/relayer.ts';
import { lookAtBatch, sweepBatches } from '../batch/batches.ts';
import type { ConfirmOptions, ConfirmResult } from '../batch/confirm.ts';
import { confirmBatch } from '../batch/confirm.ts';
import type { NewBatch, Sent } from '../batch/send.ts';
import { claimNew } from '../batch/send.ts';
import type { SettlementDeps } from '../deps.ts';
import type { Budget } from '../watch/budget.ts';
import { facilitatorRail } from './facilitator/rail.ts';

/**
 * Who moves the money of a batch. Rails differ only in how they send, and in what they know besides the chain; what that means is
 * judged in one place. Test keys have no rail: `settleMock` answers them.
 */
export interface Rail {
  /** Compares its settings with what it can do, at a worker's start. Throws an Error; one that cannot be reached is only warned of. */
  check(deps: SettlementDeps, network: Network): Promise<void>;
  /** Why it takes no payment of this kind at present, as what the caller is told; null when it does. */
  whyClosed(sql: Sql, network: Network, asked: Asked): Promise<ServiceError | null>;
  /** Claims what waits of a network, as one batch, and sets it on its way. Several processes may try at once: claims are compare and set. */
  claim(deps: SettlementDeps, under: NewBatch): Promise<Sent>;
  /** Stays with a batch for `timeoutMs` and decides what can be decided; any number of calls is harmless. */
  confirm(deps: SettlementDeps, batchId: string, options: ConfirmOptions): Promise<ConfirmResult>;
  /** One look at a batch of it that is decided, until its nonce is used below the safe block; goes back where a reorg took it. */
  look(deps: SettlementDeps, batch: Batch): Promise<unknown>;
  /** Sweeps the batches that nobody holds, once through. */
  sweep(deps: SettlementDeps, networkId: string, budget: Budget): Promise<void>;
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
  check: () => Promise.resolve(),
  whyClosed: (_sql, network, { isPaused, isGasSpent, baseFeeWei }) => {
    if (isPaused) return Promise.resolve(paused());
    if (isGasSpent) return Promise.resolve(spent());
    return Promise.resolve(baseFeeWei !== null && isFeeAboveCap(network, baseFeeWei) ? tooDear() : null);
  },
  claim: claimNew,
  confirm: confirmBatch,
  look: lookAtBatch,
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

/** The rail that new payments of a network go by. */
export function railFor({ settler }: Pick<Network, 'settler'>): Rail {
  return railOf(settler);
}

/** Confirms a batch by the rail that carries it, whatever its network is configured for by now. */
export async function confirmCarried(deps: SettlementDeps, batchId: string, options: ConfirmOptions): Promise<ConfirmResult> {
  return railOf((await findBatch(deps.database, batchId))?.kind).confirm(deps, batchId, options);
}

/** One look at a batch by the rail that carries it. */
export function lookByRail(deps: SettlementDeps, batch: Batch): Promise<unknown> {
  return railOf(batch.kind).look(deps, batch);
}

/** Sweeps the batches of every rail. Each stands alone: what goes wrong on one keeps no other from its turn. */
export function railSweeps(deps: SettlementDeps, networkId: string, budget: () => Budget): readonly (() => Promise<void>)[] {
  return [...RAILS.values()].map((rail) => () => rail.sweep(deps, networkId, budget()));
}

/** What the rails say of payments besides the chain, by payment id. */
export async function railWords(deps: SettlementDeps, payments: readonly Payment[]): Promise<ReadonlyMap<string, RailWord>> {
  const said = await Promise.all([...RAILS.values()].map((rail) => rail.words(deps, payments)));
  return new Map(said.flatMap((words) => [...words]));
}
