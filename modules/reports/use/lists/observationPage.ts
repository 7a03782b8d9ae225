import type { ReadingDeps } from '../../../paging/use/deps.ts';
import type { ListPage, PageRequest } from '../../../paging/use/pages.ts';
import { cursorTimeMs } from '../../../paging/use/pages.ts';
import type { ObservationFilter } from '../../store/lists/observations.ts';
import type { Observation } from './lists.ts';
import { observations } from './lists.ts';

/** How far from where a page begins its rows are looked for first. */
const NEAR_MS = 2 * 86_400_000;

/**
 * A page of observations, by time. To plan for a year of day partitions takes longer than to read from one, so the days next to
 * where the page begins are tried by themselves, and the whole window only when they do not fill it. Throws as `page` of a list.
 */
export async function observationPage(
  deps: ReadingDeps,
  tenantId: string,
  filter: ObservationFilter & { readonly window: { readonly fromMs: number; readonly toMs: number } },
  request: PageRequest & { readonly orderBy: 'NEWEST' | 'OLDEST' },
): Promise<ListPage<Observation>> {
  const { fromMs, toMs } = filter.window;
  const { after, orderBy, isBackward = false } = request;
  const atMs = after === null ? null : cursorTimeMs(after, orderBy, isBackward);
  const goesBackInTime = (orderBy === 'NEWEST') !== isBackward;
  const near = goesBackInTime
    ? { fromMs: Math.max(fromMs, (atMs ?? toMs) - NEAR_MS), toMs: Math.min(toMs, (atMs ?? toMs) + 1) }
    : { fromMs: Math.max(fromMs, atMs ?? fromMs), toMs: Math.min(toMs, (atMs ?? fromMs) + NEAR_MS) };
  if (near.fromMs > fromMs || near.toMs < toMs) {
    const page = await observations.page(deps, tenantId, { ...filter, window: near }, request);
    if (isBackward ? page.hasPrevious : page.hasNext) return { ...page, count: () => observations.count(deps, tenantId, filter) };
  }
  return await observations.page(deps, tenantId, filter, request);
}
