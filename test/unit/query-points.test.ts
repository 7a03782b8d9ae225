/** What questions count for at the rates that callers have when nobody sets them. */
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { DEAREST } from '../../bench/dearestQueries.ts';
import { COST_LIMIT } from '../../graphql/limits/limits.ts';
import { judge } from '../../graphql/limits/plugins.ts';
import { schema } from '../../graphql/schema/schema.ts';
import { COSTS, queryPoints, spend } from '../../modules/kernel/rate.ts';
import { LIMITS } from '../../process/config/limits.ts';
import { consoleDocuments } from '../support/console-documents.ts';

const PER_SECOND = LIMITS.ratePerKey.fallback;
const RATE = { perSecond: PER_SECOND, burst: PER_SECOND * LIMITS.rateBurstSeconds.fallback };

/** The points of each question of the console, by the folder of its screen. */
async function pointsOfScreens(): Promise<ReadonlyMap<string, readonly number[]>> {
  const screens = new Map<string, number[]>();
  const variableValues = {
    tenantId: 'x',
    window: { from: 0 },
    every: 'DAY',
    timeZone: 'UTC',
    groupBy: 'SLUG',
    change: { priceUsdc: '0.02' },
    priceUsdc: '0.02',
    price: '0.02',
    asksPrice: true,
    hasBefore: true,
    paymentId: 'x',
    jti: 'x',
    endpointId: 'x',
    eventId: 'x',
    rules: [{ id: 'all', path: '/*', effect: 'PRICE', priceUsdc: '0.02' }],
  };
  for (const { file, text } of await consoleDocuments()) {
    const document = parse(text);
    const [operation] = document.definitions;
    if (operation?.kind !== 'OperationDefinition' || operation.operation !== 'query') continue;
    const { cost, refusal } = judge({ schema, document, operationName: undefined, variableValues });
    expect([file, refusal]).toEqual([file, null]);
    const folder = file.replace(/\/[^/]*$/, '');
    screens.set(folder, [...(screens.get(folder) ?? []), queryPoints(cost)]);
  }
  return screens;
}

test('the dearest legal query takes a second of a key’s rate, and a small one what any heavy call takes', () => {
  expect(queryPoints(COST_LIMIT)).toBe(PER_SECOND);
  expect([0, 1, 1_000, 1_001].map(queryPoints)).toEqual([COSTS.heavy, COSTS.heavy, COSTS.heavy, COSTS.heavy + 1]);
  for (const query of Object.values(DEAREST)) {
    expect(
      queryPoints(judge({ schema, document: parse(query), operationName: undefined, variableValues: {} }).cost),
    ).toBeGreaterThan(50);
  }
});

test('a person who opens every screen of the console at once, or any one every two seconds, never meets 429', async () => {
  const screens = await pointsOfScreens();
  expect(screens.size).toBeGreaterThan(8);
  const ask = (fullAtMs: number, points: readonly number[], nowMs: number): number =>
    points.reduce((full, one) => {
      const spent = spend(full, one, RATE, nowMs);
      expect(spent.waitMs).toBe(0);
      return spent.fullAtMs;
    }, fullAtMs);
  const all = [...screens.values()].flat();
  ask(Number.NEGATIVE_INFINITY, all, 0);
  for (const points of screens.values()) {
    let fullAtMs = Number.NEGATIVE_INFINITY;
    for (let nowMs = 0; nowMs < 600_000; nowMs += 2_000) fullAtMs = ask(fullAtMs, points, nowMs);
  }
});
