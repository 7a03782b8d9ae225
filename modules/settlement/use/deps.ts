import type { Database } from '../../../db/database.ts';
import type { Facilitator } from '../../../platform/chain/facilitator.ts';
import type { Network, Networks } from '../../../platform/chain/network.ts';
import type { Rpc } from '../../../platform/chain/rpc/rpc.ts';
import type { Signer } from '../../../platform/chain/signature/signer.ts';
import type { Log } from '../../kernel/log.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import type { ClaimedBatch } from '../rules/batchOutcome.ts';

/** A relayer key: it pays gas and broadcasts, nothing else. */
export type RelayerKey = Signer;

/** Names of the places where a test may let the process die; each stands right after the step it is named for. */
export type CrashPoint =
  | 'after_intake'
  | 'after_insert'
  | 'after_sign'
  | 'after_start'
  | 'after_broadcast'
  | 'after_receipt'
  | 'after_record';

/** What carrying out settlement needs: the worker's side. */
export interface SettlementDeps {
  readonly database: Database;
  readonly networks: Networks;
  readonly rpcOf: (networkId: string) => Rpc;
  /** The relayer keys of a network; the first with room takes a batch. */
  readonly relayersOf: (networkId: string) => readonly RelayerKey[];
  /** The facilitator that a network settles through, or did before; null without one. */
  readonly facilitatorOf: (networkId: string) => Facilitator | null;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly settings: SettlementSettings;
  /** Ends the process when a test asked for it at this point; does nothing otherwise. */
  readonly crashAt: (point: CrashPoint) => void;
}

/**
 * Starts the workflow of a batch that is claimed: true where this call did, false where one runs already, which a second call leaves alone. Rejects
 * when Temporal cannot be reached.
 */
export type StartBatch = (batch: ClaimedBatch, options?: StartOptions) => Promise<boolean>;

/** How a workflow is started. */
export interface StartOptions {
  /** The workflow exists at once, and does nothing for this long, while its starter works. */
  readonly idleMs?: number;
}

/** Limits of settlement; all have defaults in the configuration. */
export interface SettlementSettings {
  /** How long a caller waits for its row to be decided. */
  readonly waitMs: number;
  readonly licenceLifeSeconds: number;
  /** Open batches a relayer key may have. */
  readonly inFlightLimit: number;
  /** Gas a tenant may use in a day, wei; null without a limit. */
  readonly gasBudgetWeiPerDay: bigint | null;
  /** Gas that the keys of one network may use in a day for all sites together, wei of the first network's coin; null without a limit. */
  readonly networkGasBudgetWeiPerDay: bigint | null;
  /** After this long without a receipt the fees of a batch are raised. */
  readonly stuckAfterMs: number;
  /** A split that holds less is not paid out by schedule: the lowest price, since what a payment left there is never less. */
  readonly dustBelowMicro: bigint;
}

/** One network, its connection, and what judging its payments needs. */
export interface Chain<Deps = RoundDeps> {
  readonly deps: Deps;
  readonly network: Network;
  readonly rpc: Rpc;
}

/** What judging payments needs: no key, nothing to send with. */
export type RoundDeps = Pick<SettlementDeps, 'database' | 'networks' | 'rpcOf' | 'log' | 'now' | 'metrics'>;

/** The network and its connection, with the dependencies they come from. */
export function chainOf<Deps extends Pick<SettlementDeps, 'networks' | 'rpcOf'>>(deps: Deps, networkId: string): Chain<Deps> {
  return { deps, network: deps.networks.get(networkId), rpc: deps.rpcOf(networkId) };
}
