import { gasBalance } from '../chain/transaction.ts';
import { readDatabaseGauges } from '../db/gauges.ts';
import type { GaugePoint } from '../domain/metrics.ts';
import type { SettlementDeps } from './settlement/deps.ts';

/** What reading gauges needs. */
type GaugeDeps = Pick<SettlementDeps, 'database' | 'networks' | 'relayersOf' | 'rpcOf' | 'log' | 'now'>;

/** Reads every gauge once: what the database holds, and the relayers' gas money. A chain that does not answer is left out. */
export async function readGauges(deps: GaugeDeps): Promise<GaugePoint[]> {
  const points = await readDatabaseGauges(deps.database, deps.networks.ids);
  const balances = await Promise.all(deps.networks.ids.map((network) => readBalances(deps, network)));
  return [...points, ...balances.flat(), { name: 'svc.gauges.read_at', value: deps.now() / 1_000 }];
}

async function readBalances(deps: GaugeDeps, network: string): Promise<GaugePoint[]> {
  try {
    return await Promise.all(
      deps.relayersOf(network).map(async ({ address }) => {
        const wei = await gasBalance(deps.rpcOf(network), address);
        return { name: 'svc.relayer.balance', value: Number(wei), labels: { network, relayer: address } } as const;
      }),
    );
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
