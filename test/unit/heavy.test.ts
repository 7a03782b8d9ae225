import { expect, test } from 'vitest';
import { accountName, openHeavyWork, siteName } from '../../platform/pacing/heavy.ts';

/** How many of so many begin at once. */
async function begun(asked: readonly Promise<unknown>[]): Promise<number> {
  let count = 0;
  for (const one of asked) void one.then(() => count++).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  return count;
}

test('a site has half of the cores at once, of all kinds together, and at least one piece', async () => {
  for (const [cores, most] of [
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [64, 2],
  ] as const) {
    const heavy = openHeavyWork({ connections: { reports: 6, questions: 2 }, cores });
    const kinds = ['reports', 'questions', 'reports', 'questions'] as const;
    expect(await begun(kinds.map((kind, n) => heavy.enter({ kind, who: `key ${n}`, of: siteName('x') })))).toBe(most);
  }
});

test('with more connections a site has more, never all of the connections of reports nor all questions that run', async () => {
  const heavy = openHeavyWork({ connections: { reports: 30, questions: 3 }, cores: 64 });
  const ask = (kind: 'reports' | 'questions', of: string) =>
    Array.from({ length: 10 }, (_, n) => heavy.enter({ kind, who: `${of} ${n}`, of }));
  expect(await begun(ask('questions', siteName('x')))).toBe(3);
  expect(await begun(ask('questions', siteName('y')))).toBe(3);
  expect(await begun(ask('questions', siteName('z')))).toBe(0);
  expect(await begun(ask('reports', siteName('z')))).toBe(3);
});

test('all buyer accounts together have a third of the connections of reports', async () => {
  const heavy = openHeavyWork({ connections: { reports: 6, questions: 2 }, cores: 64 });
  const asked = Array.from({ length: 5 }, (_, n) => {
    const name = accountName(`${n}`);
    return heavy.enter({ kind: 'reports', who: name, of: name });
  });
  expect(await begun(asked)).toBe(2);
});

test('a file takes its place among files at once, and gives both back; a second of its key is throttled while the first waits', async () => {
  const heavy = openHeavyWork({ connections: { reports: 6, questions: 2 }, cores: 2 });
  const site = { tenantId: 'x', keyId: 'k' };
  const leave = await heavy.enter({ kind: 'questions', who: 'k', of: siteName('x') });
  const first = heavy.beginFile(site);
  await expect(heavy.beginFile(site)).rejects.toMatchObject({ code: 'throttled' });
  leave();
  const { endTurn, giveBack } = await first;
  endTurn();
  (await heavy.enter({ kind: 'reports', who: 'k', of: siteName('x') }))();
  await expect(heavy.beginFile(site)).rejects.toMatchObject({ code: 'throttled' });
  giveBack();
  (await heavy.beginFile(site)).giveBack();
});
