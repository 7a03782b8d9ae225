import { baseFeeOf, gasBalance } from '../../../platform/chain/transaction.ts';
import type { GaugePoint } from '../../kernel/metrics.ts';
import { readNetworkGasToday } from '../../settlement/store/gasUsage.ts';
import type { SettlementDeps } from '../../settlement/use/deps.ts';
import { readClockSkew, readDatabaseGauges } from '../store/gauges.ts';
import { settlementsOf } from './gasMoney.ts';

/** What reading gauges needs. */
type GaugeDeps = ProcessGaugeDeps &
  Pick<SettlementDeps, 'relayersOf' | 'settings'> & {
    /** Rejects while Temporal does not answer; left out where nobody asks it. */
    readonly askTemporal?: () => Promise<void>;
  };

/** What the gauges of any process need. */
export type ProcessGaugeDeps = Pick<SettlementDeps, 'database' | 'networks' | 'rpcOf' | 'log' | 'now'>;

/**
 * Reads every gauge once: what the database holds, the relayers' gas money, and those of the process. A chain that does not answer is
 * left out.
 */
export async function readGauges(deps: GaugeDeps): Promise<GaugePoint[]> {
  const readAt = deps.now(); // before the first look: what follows may take seconds, in which the database may go
  const points = await readDatabaseGauges(deps.database, deps.networks.ids);
  const balances = await Promise.all(deps.networks.ids.map((network) => readBalances(deps, network)));
  const budgets = await Promise.all(deps.networks.ids.map((network) => readGasShare(deps, network)));
  const [own, temporal] = await Promise.all([readProcessGauges(deps), readTemporal(deps)]);
  return [
    ...points,
    ...balances.flat(),
    ...budgets.flat(),
    ...own,
    ...temporal,
    { name: 'svc.gauges.read_at', value: readAt / 1_000 },
  ];
}

/** What each process sees for itself: how far other clocks are from its own, and how its RPC nodes are. */
export async function readProcessGauges(deps: ProcessGaugeDeps): Promise<GaugePoint[]> {
  const [skew, nodes] = await Promise.all([
    readClockSkew(deps.database, deps.now).catch((error: unknown) => {
      deps.log.warn({ error: String(error) }, "the database's clock could not be read");
      return null;
    }),
    Promise.all(deps.networks.ids.map((network) => readNodes(deps, network))),
  ]);
  return [...(skew === null ? [] : [{ name: 'svc.database.clock_skew', value: skew } as const]), ...nodes.flat()];
}

/** The nodes of a network by their place in the configuration: a URL may hold a key. */
async function readNodes({ rpcOf }: ProcessGaugeDeps, network: string): Promise<GaugePoint[]> {
  const reports = (await rpcOf(network).nodes?.()) ?? [];
  const points = reports.flatMap(({ node, state, behindBlocks, standstillSeconds, headAgeSeconds, disagrees }): GaugePoint[] => {
    const labels = { network, node: String(node) };
    return [
      { name: 'svc.rpc.up', value: state === 'up' ? 1 : 0, labels },
      { name: 'svc.rpc.disagrees', value: disagrees ? 1 : 0, labels },
      ...(behindBlocks === null ? [] : [{ name: 'svc.rpc.behind', value: behindBlocks, labels } as const]),
      ...(headAgeSeconds === null ? [] : [{ name: 'svc.rpc.head_age', value: headAgeSeconds, labels } as const]),
      ...(standstillSeconds === null ? [] : [{ name: 'svc.rpc.standstill', value: standstillSeconds, labels } as const]),
    ];
  });
  const best = reports.find(({ behindBlocks, clockSkewSeconds }) => behindBlocks === 0 && clockSkewSeconds !== null);
  if (best?.clockSkewSeconds == null) return points;
  return [...points, { name: 'svc.chain.clock_skew', value: best.clockSkewSeconds, labels: { network } }];
}

/** How much of its gas of the day a network has used: 1 is all of it. */
async function readGasShare({ database, settings }: GaugeDeps, network: string): Promise<GaugePoint[]> {
  const { networkGasBudgetWeiPerDay: budget } = settings;
  if (!budget) return [];
  const used = await readNetworkGasToday(database, network);
  return [{ name: 'svc.gas.network_share', value: Number((10_000n * used) / budget) / 10_000, labels: { network } }];
}

async function readTemporal({ askTemporal }: GaugeDeps): Promise<GaugePoint[]> {
  if (!askTemporal) return [];
  const isUp = await askTemporal().then(
    () => 1,
    () => 0,
  );
  return [{ name: 'svc.temporal.up', value: isUp }];
}

async function readBalances(deps: GaugeDeps, network: string): Promise<GaugePoint[]> {
  const keys = deps.relayersOf(network);
  if (keys.length === 0) return [];
  try {
    const rpc = deps.rpcOf(network);
    const baseFeeWei = await baseFeeOf(rpc);
    const points = await Promise.all(
      keys.map(async ({ address }): Promise<GaugePoint[]> => {
        const wei = await gasBalance(rpc, address);
        const labels = { network, relayer: address };
        return [
          { name: 'svc.relayer.balance', value: Number(wei), labels },
          { name: 'svc.relayer.settlements_left', value: settlementsOf(deps.networks.get(network), baseFeeWei, wei), labels },
        ];
      }),
    );
    return points.flat();
  } catch (error) {
    deps.log.warn({ network, error: String(error) }, "relayers' balances could not be read");
    return [];
  }
}

/**
 * Reads the gauges at once and then on an interval, one reading at a time; a reading that fails leaves the last values, whose age
 * `svc.gauges.read_at` tells. The returned function ends it.
 */
export function keepGauges(deps: GaugeDeps, intervalMs: number, set: (points: readonly GaugePoint[]) => void): () => void {
  let isReading = false;
  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      set(await readGauges(deps));
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'gauges could not be read');
    }
    isReading = false;
  };
  void read();
  const timer = setInterval(() => void read(), intervalMs);
  return () => clearInterval(timer);
}
