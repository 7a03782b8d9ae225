import type { Database } from '../db/database.ts';
import { LICENCE_LIFE_SECONDS } from '../modules/kernel/licence/licence.ts';
import type { CrashPoint, RelayerKey, SettlementDeps } from '../modules/settlement/use/deps.ts';
import type { Facilitator } from '../platform/chain/facilitator.ts';
import { createFacilitator } from '../platform/chain/facilitator.ts';
import { Networks } from '../platform/chain/network.ts';
import type { Rpc } from '../platform/chain/rpc/rpc.ts';
import { createRpc } from '../platform/chain/rpc/rpc.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { Log } from '../platform/telemetry/log.ts';
import type { Config } from './config.ts';

/** What of the configuration settlement runs with; relayer keys are the worker's alone. */
export type SettlementConfig = Pick<
  Config,
  'settleWaitMs' | 'relayerInFlight' | 'gasBudgetWeiPerDay' | 'networkGasBudgetWeiPerDay' | 'priceFloorMicro' | 'crashAt'
> & {
  readonly networks: NonNullable<Config['networks']>;
  readonly facilitatorUrl?: Config['facilitatorUrl'];
  readonly facilitatorToken?: Config['facilitatorToken'];
  readonly facilitatorStatusUrl?: Config['facilitatorStatusUrl'];
};

/** How long bytes stay unmined before their fees are raised. */
const STUCK_AFTER_MS = 10_000;

/** What only a process has that sends. */
interface SenderParts {
  readonly outbound?: Outbound | null;
  readonly relayers?: ReadonlyMap<string, readonly RelayerKey[]>;
}

/**
 * Composes what settlement needs from the configuration; connections to the chain are opened when first used. Only who sends brings
 * `outbound`, which speaks to a facilitator, and relayer keys.
 */
export function createSettlementDeps(
  config: SettlementConfig,
  database: Database,
  log: Log,
  { outbound = null, relayers = new Map() }: SenderParts = {},
): SettlementDeps {
  const networks = new Networks(config.networks);
  const rpcs = new Map<string, Rpc>();
  return {
    database,
    networks,
    rpcOf: (networkId) => {
      const rpc = rpcs.get(networkId) ?? createRpc(networks.get(networkId));
      rpcs.set(networkId, rpc);
      return rpc;
    },
    relayersOf: (networkId) => relayers.get(networkId) ?? [],
    facilitatorOf: facilitatorsOf(config, outbound),
    log,
    now: Date.now,
    settings: {
      waitMs: config.settleWaitMs,
      licenceLifeSeconds: LICENCE_LIFE_SECONDS,
      inFlightLimit: config.relayerInFlight,
      gasBudgetWeiPerDay: config.gasBudgetWeiPerDay,
      networkGasBudgetWeiPerDay: config.networkGasBudgetWeiPerDay,
      stuckAfterMs: STUCK_AFTER_MS,
      dustBelowMicro: config.priceFloorMicro,
    },
    crashAt: crashAt(config.crashAt),
  };
}

function facilitatorsOf(config: SettlementConfig, outbound: Outbound | null): (networkId: string) => Facilitator | null {
  const { facilitatorUrl: url, facilitatorToken: token = null, facilitatorStatusUrl: statusUrl = null } = config;
  if (url === undefined || outbound === null) return () => null;
  const facilitator = createFacilitator((request) => outbound.send(request), { url, token, statusUrl });
  return () => facilitator; // also where the relayer settles by now: what was handed over before is still asked about
}

/** Ends the process like a power cut when a test named this point; the configuration refuses it in production. */
function crashAt(name: string | undefined): (point: CrashPoint) => void {
  return (point) => {
    if (point === name) process.kill(process.pid, 'SIGKILL');
  };
}
