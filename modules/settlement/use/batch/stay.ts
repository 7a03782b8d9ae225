import { setTimeout as sleep } from 'node:timers/promises';
import type { Look } from '../../rules/lookPause.ts';
import { lookPauseMs } from '../../rules/lookPause.ts';
import type { SettlementDeps } from '../deps.ts';

/** How long one look waits for a receipt, milliseconds: the first one of a workflow has three seconds in all. */
export const LOOK_MS = 2_200;
/** How long one call stays with a batch: an activity has five minutes. */
const STAY_MS = 4 * 60_000;

/**
 * Looks at a batch again and again until all of it is decided, `isEnough`, or four minutes have gone by, and gives the last look. `look` is told how many
 * came before it; what it throws ends the stay. The pauses between looks are those of `lookPauseMs`.
 */
export async function stayWith(
  { now }: Pick<SettlementDeps, 'now'>,
  look: (before: number) => Promise<Look>,
  isEnough: () => boolean,
): Promise<Look> {
  const until = now() + STAY_MS;
  let last: Look | null = null;
  let pauseMs = 0;
  for (let looks = 0; ; looks += 1) {
    const found = await look(looks);
    if (found.undecided === 0 || isEnough() || now() > until) return found;
    pauseMs = lookPauseMs(found, last, pauseMs);
    last = found;
    await sleep(pauseMs);
  }
}
