import { isClockWrong } from '../../kernel/clock.ts';
import type { GaugePoint } from '../../kernel/metrics.ts';
import type { ProcessGaugeDeps } from './gauges.ts';
import { readProcessGauges } from './gauges.ts';

/** What a process knows of its own surroundings. */
export interface ProcessWatch {
  /** Rejects while the last look found our clock wrong (modules/kernel/clock.ts). */
  requireRightClock(): Promise<void>;
  /** True when no node of a network was up at the last look. */
  isAway(networkId: string): boolean;
  close(): void;
}

/**
 * Looks at clocks and nodes now and then on an interval, and shows what it sees as gauges. A look that fails leaves what was known. Costs
 * one short query and, for each node, a look at its newest and safe block.
 */
export async function watchProcess(
  deps: ProcessGaugeDeps,
  options: { readonly intervalMs: number; readonly set: ((points: readonly GaugePoint[]) => void) | null },
): Promise<ProcessWatch> {
  let isWrong = false;
  let isLooking = false;
  let away: ReadonlySet<string> = new Set();
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const points = await readProcessGauges(deps);
      options.set?.(points);
      const valuesOf = (name: GaugePoint['name']) => points.flatMap((point) => (point.name === name ? [point.value] : []));
      away = networksAway(points);
      const [database = null] = valuesOf('svc.database.clock_skew');
      const wasWrong = isWrong;
      isWrong = isClockWrong({ database, chains: valuesOf('svc.chain.clock_skew') });
      if (isWrong && !wasWrong) deps.log.error({ databaseAheadSeconds: database }, 'the clock of this process is wrong');
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'clocks and nodes could not be checked');
    }
    isLooking = false;
  };
  await look();
  const timer = setInterval(() => void look(), options.intervalMs);
  return {
    requireRightClock: async () => {
      if (isWrong) throw new Error('the clock of this process is wrong');
    },
    isAway: (networkId) => away.has(networkId),
    close: () => clearInterval(timer),
  };
}

/** Networks of which nodes were looked at and none is up. */
function networksAway(points: readonly GaugePoint[]): ReadonlySet<string> {
  const nodes = points.flatMap(({ name, value, labels }) =>
    name === 'svc.rpc.up' && labels?.['network'] !== undefined ? [{ network: labels['network'], isUp: value === 1 }] : [],
  );
  const up = new Set(nodes.flatMap(({ network, isUp }) => (isUp ? [network] : [])));
  return new Set(nodes.flatMap(({ network }) => (up.has(network) ? [] : [network])));
}
