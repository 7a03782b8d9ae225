import type { Plan } from '../../kernel/access/key.ts';
import type { Span } from '../../kernel/time/window.ts';
import { isEmpty, readableWindow } from '../../kernel/time/window.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import { sumEach } from '../store/earnings/earnings.ts';
import { add } from './earnings.ts';
import type { Totals } from './request.ts';

const DAY_MS = 86_400_000;

/** What was sold in a stretch of time. */
export interface SalesOf extends Totals, Span {}

/** What was sold as long before a moment as after it. */
export interface SalesAround {
  readonly before: SalesOf;
  readonly after: SalesOf;
}

/**
 * What a site sold in so many days before and after each moment, in their order and in one statement; as far back as its plan reads, and up to
 * now. Throws database_unavailable.
 */
export async function readSalesAround(
  { reading, clock }: ReadingDeps,
  { tenantId, plan }: { readonly tenantId: string; readonly plan: Plan | null },
  moments: readonly number[],
  days: number,
): Promise<SalesAround[]> {
  const nowMs = clock();
  const spans = moments
    .flatMap((atMs) => [
      { fromMs: atMs - days * DAY_MS, toMs: atMs },
      { fromMs: atMs, toMs: Math.max(atMs, Math.min(nowMs, atMs + days * DAY_MS)) },
    ])
    .map((span) => readableWindow(span, plan, nowMs));
  const asked = spans.flatMap((span, place) => (isEmpty(span) ? [] : [{ span, place }]));
  const scope = { tenantId, host: null, kind: null };
  const sums = await sumEach(
    reading,
    scope,
    asked.map(({ span }) => span),
  );
  const byPlace = Map.groupBy(sums, ({ place }) => asked[place]?.place);
  const all = spans.map(({ fromMs, toMs }, place): SalesOf => ({ fromMs, toMs, ...add(byPlace.get(place) ?? []) }));
  return moments.map((_moment, n) => ({ before: all[2 * n] as SalesOf, after: all[2 * n + 1] as SalesOf }));
}
