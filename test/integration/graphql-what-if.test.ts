import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, SPAN, startBusySite } from '../support/busy-site.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertSeen, seenOn } from '../support/reports.ts';

/** What another price would have brought is plain arithmetic over the requests that SQL finds; its groups add up to its totals. */

let { graph, site, hosts, nowMs } = {} as Awaited<ReturnType<typeof startBusySite>>;
beforeAll(async () => {
  ({ graph, site, hosts, nowMs } = await startBusySite());
  const { database } = graph.api.deps;
  for (let n = 0; n < 6; n++) await sellLicenceSeen(n);
  const citation = { kind: 'citation', micro: 5_000 } as const;
  const see = (changes: Parameters<typeof seenOn>[1]) =>
    seenOn({ tenantId: site.tenantId, host: hosts[0]! }, { ...citation, ...changes });
  // Citations, a gate that names neither kind nor price, and a payment that a reorganisation took back.
  await insertSeen(database, [
    ...Array.from({ length: 9 }, (_, n) => see({ verdict: n % 2 ? 'paid' : 'denied', atMs: nowMs - n * DAY })),
    see({ kind: null, micro: null, atMs: nowMs - 3 * DAY }),
    ...([1, -1] as const).map((count) => see({ verdict: 'paid', count, paymentId: randomUUID(), atMs: nowMs - 4 * DAY })),
  ]);
});
afterAll(() => graph?.stop());

/** A licence, with what its payment was observed as, some days ago. */
async function sellLicenceSeen(n: number): Promise<void> {
  const { database } = graph.api.deps;
  const paymentId = await sellLicence(database, site.tenantId, hosts[n % 2]!);
  const atMs = nowMs - n * DAY - n * 977;
  await database.query('update licence set bought_at = to_timestamp($3 / 1000.0) where tenant_id = $1 and jti = $2', [
    site.tenantId,
    paymentId,
    atMs,
  ]);
  const paid = { slug: `licence:${paymentId}`, verdict: 'paid', micro: 70_000, paymentId, atMs };
  await insertSeen(database, [seenOn({ tenantId: site.tenantId, host: hosts[n % 2]! }, paid)]);
}

const SUMS = 'paid denied blocked earnedMicro missedMicro ifPaidMicro ifDeniedMicro ifBlockedMicro';
const QUERY = `query ($window: WindowInput, $price: String!, $times: String, $host: String, $kind: CrossingKind, $by: WhatIfGroupBy) { tenant {
  whatIf(window: $window, priceUsdc: $price, citationMultiplier: $times, host: $host, kind: $kind, groupBy: $by) {
    readMicro citationMicro truncated totals { ${SUMS} } breakdown(first: 100) { totalCount nodes { key ${SUMS} } } } } }`;

const aQuestion = fc.record({
  from: fc.integer({ min: -DAY, max: SPAN }),
  length: fc.integer({ min: 0, max: SPAN }),
  isOpen: fc.boolean(),
  host: fc.constantFrom(null, 0, 1),
  kind: fc.constantFrom(null, 'READ', 'CITATION'),
  by: fc.constantFrom('AGENT', 'SLUG', null),
  micro: fc.integer({ min: 1_000, max: 90_000 }),
  times: fc.constantFrom(null, '1', '2.5'),
});

test('over random windows each sum is that of SQL, for each agent and page as for all of them', async () => {
  await fc.assert(
    fc.asyncProperty(aQuestion, async ({ from, length, isOpen, host, kind, by, micro, times }) => {
      const since = nowMs - SPAN + from;
      const until = isOpen ? null : since + length;
      const price = (micro / 1_000_000).toFixed(6);
      const variables = { window: { from: since, to: until }, price, times, host: host === null ? null : hosts[host], kind, by };
      const { data, errors } = await graph.ask(site.key, QUERY, variables);
      expect(errors).toEqual([]);
      const { totals, breakdown, readMicro, citationMicro } = data.tenant.whatIf;
      expect([readMicro, citationMicro]).toEqual([String(micro), String(Math.round(micro * Number(times ?? '5')))]);
      const ofSql = (key: string) =>
        graph.api.deps.database.query(
          `select ${key} as key, coalesce(sum(count) filter (where verdict = 'paid'), 0)::int as paid, coalesce(sum(count) filter (where verdict = 'denied'), 0)::int as denied,
             coalesce(sum(count) filter (where verdict = 'blocked'), 0)::int as blocked,
             coalesce(sum(count * micro) filter (where verdict = 'paid'), 0)::text as "earnedMicro",
             coalesce(sum(count * coalesce(micro, 0)) filter (where verdict <> 'paid'), 0)::text as "missedMicro",
             coalesce(sum(count * price) filter (where verdict = 'paid'), 0)::text as "ifPaidMicro",
             (greatest(0, sum(asked) filter (where kind is distinct from 'citation')) * $7::bigint
               + greatest(0, sum(asked) filter (where kind = 'citation')) * $6::bigint)::text as "ifDeniedMicro",
             coalesce(sum(count * price) filter (where verdict = 'blocked'), 0)::text as "ifBlockedMicro"
           from (select o.*, case when kind = 'citation' then $6::bigint else $7::bigint end as price,
               case verdict when 'denied' then count when 'paid' then -count else 0 end as asked from observation o) o
           where tenant_id = $1 and verdict in ('paid', 'denied', 'blocked') and slug not like 'licence:%' and at >= to_timestamp($2 / 1000.0)
             and at < coalesce(to_timestamp($3 / 1000.0), 'infinity') and ($4::text is null or host = $4) and ($5::text is null or kind = $5)
           group by 1 having count(*) filter (where count = 1) > count(*) filter (where count = -1)`,
          [site.tenantId, since, until, variables.host, kind?.toLowerCase() ?? null, citationMicro, readMicro],
        );
      const [all] = await ofSql("''::text");
      const { key: _all, ...sums } = all ?? {
        key: '',
        ...Object.fromEntries(Object.entries(totals).map(([name, sum]) => [name, typeof sum === 'number' ? 0 : '0'])),
      };
      expect(totals).toEqual(sums);
      expect(breakdown === null).toBe(by === null);
      if (breakdown === null) return;
      const groups = await ofSql(by === 'AGENT' ? 'agent' : 'slug');
      const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
      expect(breakdown.nodes.toSorted(byKey)).toEqual((groups as unknown as { key: string }[]).toSorted(byKey));
      expect(breakdown.totalCount).toBe(groups.length);
      for (const name of ['ifPaidMicro', 'earnedMicro'])
        expect(breakdown.nodes.reduce((sum: bigint, node: Record<string, string>) => sum + BigInt(node[name]!), 0n)).toBe(
          BigInt(totals[name]),
        );
    }),
    { numRuns: 25 },
  );
});

test('a price that could not be set is refused with its sentence, before anything is read', async () => {
  const ask = (price: string, times: string | null = null) => graph.ask(site.key, QUERY, { price, times });
  for (const [price, times, part] of [
    ['0.0000001', null, 'at most 6 places'],
    ['-1', null, 'at most 6 places'],
    ['0.000001', null, 'is too low'],
    ['1', '0', 'a positive decimal'],
    ['999999', null, 'is too large'],
  ] as const) {
    const { errors } = await ask(price, times);
    expect([errors[0]?.extensions.code, errors[0]?.message]).toEqual(['BAD_USER_INPUT', expect.stringContaining(part)]);
  }
  const { data } = await ask('0');
  expect(data.tenant.whatIf.totals).toMatchObject({ ifPaidMicro: '0', ifDeniedMicro: '0' });
});
