import type { ReadingDatabase } from '../../modules/paging/use/deps.ts';
import { openTurns } from '../../platform/pacing/fairQueue.ts';
import type { Budget } from '../limits/budget.ts';
import { QUERY_LIMIT_MS } from '../limits/limits.ts';

/** The database as one execution of a site sees it. */
type Share = (site: string, budget: Pick<Budget, 'refusal'>, through?: ReadingDatabase) => ReadingDatabase;

/**
 * Shares a pool among sites: the fields of a query run side by side, and one site has half of the connections at most, so that a slow
 * or blocked query leaves the others theirs. Statements wait for their turn, site by site. One whose execution has ended meanwhile
 * is not sent: it rejects with why it ended.
 */
export function shareConnections(reading: ReadingDatabase): Share {
  const { max } = reading.pool.options;
  const turns = openTurns({
    atOnce: max,
    mostOfOne: Math.ceil(max / 2),
    mostWaiting: Number.POSITIVE_INFINITY,
    waitMs: QUERY_LIMIT_MS,
  });
  return (site, budget, through = reading) => {
    const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
      const leave = await turns.enter([site]);
      try {
        if (budget.refusal) throw budget.refusal;
        return await work();
      } finally {
        leave();
      }
    };
    return {
      ...through,
      query: (...given) => inTurn(() => through.query(...given)),
      transaction: (...given) => inTurn(() => through.transaction(...given)),
      shortTransaction: (work) => inTurn(() => through.shortTransaction(work)),
    };
  };
}
