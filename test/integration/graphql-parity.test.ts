import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, SPAN, startBusySite } from '../support/busy-site.ts';
import { insertPurchases } from '../support/reports.ts';

/** GraphQL and REST ask the same services: over random windows both must say the same, to the micro. */

let { graph, site, hosts, nowMs } = {} as Awaited<ReturnType<typeof startBusySite>>;
beforeAll(async () => {
  ({ graph, site, hosts, nowMs } = await startBusySite());
});
afterAll(() => graph.stop());

const aWindow = fc
  .record({
    from: fc.integer({ min: -2 * DAY, max: SPAN }),
    length: fc.integer({ min: 0, max: SPAN }),
    isOpen: fc.boolean(),
    host: fc.constantFrom(null, 0, 1),
    kind: fc.constantFrom(null, 'read', 'citation'),
  })
  .map(({ from, length, isOpen, host, kind }) => {
    const start = nowMs - SPAN + from;
    return { from: start, to: isOpen ? null : start + length, host: host === null ? null : (hosts[host] as string), kind };
  });
type AWindow = { from: number; to: number | null; host: string | null; kind: string | null };

async function rest(path: string, { from, to, host, kind }: AWindow, more: Record<string, string> = {}) {
  const query = new URLSearchParams({
    from: String(from),
    ...(to === null ? {} : { to: String(to) }),
    ...(host === null ? {} : { host }),
    ...(kind === null ? {} : { kind }),
    ...more,
  });
  const { status, body } = await graph.api.request(`${path}?${query}`, { key: site.key });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

async function asked(query: string, { from, to, host, kind }: AWindow, more: object = {}) {
  const variables = { window: { from, to }, host, kind: kind?.toUpperCase() ?? null, ...more };
  const { data, errors } = await graph.ask(site.key, query, variables);
  expect(errors).toEqual([]);
  return data.tenant;
}

/** The bare numbers of sums. */
const sums = (row: { events: number; reads: number; citations: number }, micro: unknown) => [
  row.events,
  row.reads,
  row.citations,
  Number(micro),
];

test('earnings, their comparison and every breakdown are those of REST over random windows', async () => {
  const query = `query ($window: WindowInput, $host: String, $kind: CrossingKind, $by: EarningsGroupBy) {
    tenant { earnings(window: $window, host: $host, kind: $kind, groupBy: $by, compare: true) {
      window { from to } lastEventAt
      totals { events reads citations grossMicro authors } previous { events reads citations grossMicro authors }
      breakdown(first: 100) { nodes { key authorId events reads citations grossMicro } }
    } }
  }`;
  await fc.assert(
    fc.asyncProperty(aWindow, fc.constantFrom('host', 'slug', 'author', 'kind'), async (window, by) => {
      const theirs = await rest('/_svc/earnings', window, { compare: '1', groupBy: by });
      const { earnings: ours } = await asked(query, window, { by: by.toUpperCase() });
      expect(ours.window).toEqual(theirs.window);
      expect(ours.lastEventAt).toBe(theirs.tenants[0].lastEventAt);
      for (const [mine, other] of [
        [ours.totals, theirs.totals],
        [ours.previous, theirs.previous.totals],
      ]) {
        expect([...sums(mine, mine.grossMicro), mine.authors]).toEqual([...sums(other, other.grossMicroUsdc), other.authors]);
      }
      const rows = (
        list: { key: string; events: number; reads: number; citations: number; [name: string]: unknown }[],
        micro: string,
      ) => list.map((row) => [row.key, ...sums(row, row[micro])]);
      // A group that earned in the window before alone is listed here, since it is compared, and nowhere in REST.
      const now = ours.breakdown.nodes.filter(
        ({ events, grossMicro }: (typeof ours.breakdown.nodes)[0]) => events !== 0 || grossMicro !== '0',
      );
      expect(rows(now, 'grossMicro')).toEqual(rows(theirs.breakdown, 'grossMicroUsdc'));
    }),
    { numRuns: 25 },
  );
});

test('statements and their lines are those of REST over random windows', async () => {
  const query = `query ($window: WindowInput) {
    tenant { statements(window: $window) { totalMicro authors statements(first: 10) { nodes {
      wallet events reads citations grossMicro lines(first: 50) { totalCount nodes { host slug kind share micro at } } } } } }
  }`;
  await fc.assert(
    fc.asyncProperty(aWindow, async (drawn) => {
      const window = { ...drawn, host: null, kind: null };
      const theirs = await rest('/_svc/earnings/statements', window);
      const { statements: ours } = await asked(query, window);
      expect([Number(ours.totalMicro), ours.authors]).toEqual([theirs.totalMicroUsdc, theirs.authors]);
      for (const [index, statement] of theirs.statements.entries()) {
        const mine = ours.statements.nodes[index];
        expect([mine.wallet, ...sums(mine, mine.grossMicro)]).toEqual([
          statement.wallet,
          ...sums(statement, statement.grossMicroUsdc),
        ]);
        expect(mine.lines.totalCount).toBe(statement.lines.length);
        const lines = mine.lines.nodes.map((line: { kind: string; micro: string }) => ({
          ...line,
          kind: line.kind.toLowerCase(),
          micro: Number(line.micro),
        }));
        const key = (line: object) => JSON.stringify(Object.entries(line).sort());
        expect(lines.map(key).sort()).toEqual(expect.arrayContaining(statement.lines.slice(0, 20).map(key)));
      }
    }),
    { numRuns: 20 },
  );
});

test('reconciliation and its exceptions are those of REST over random windows', async () => {
  const query = `query ($window: WindowInput) {
    tenant { reconciliation(window: $window) {
      recorded { events grossMicro } settled { legs micro } outstanding { legs micro } truncatedExceptions
      exceptions(first: 100) { totalCount nodes { crossingId toAddress micro reason recordedAt } }
      waiting(first: 100) { nodes { wallet legs micro } }
    } }
  }`;
  await fc.assert(
    fc.asyncProperty(aWindow, async (drawn) => {
      const window = { ...drawn, host: null, kind: null };
      const theirs = await rest('/_svc/earnings/reconciliation', window);
      const { reconciliation: ours } = await asked(query, window);
      expect([ours.recorded.events, Number(ours.recorded.grossMicro)]).toEqual([
        theirs.recorded.events,
        theirs.recorded.grossMicroUsdc,
      ]);
      for (const part of ['settled', 'outstanding']) {
        expect([ours[part].legs, Number(ours[part].micro)]).toEqual([theirs[part].legs, theirs[part].micro]);
      }
      expect(ours.exceptions.totalCount).toBe(theirs.exceptions.length);
      expect(
        ours.exceptions.nodes.map((leg: { crossingId: string; toAddress: string; micro: string; reason: string }) => [
          leg.crossingId,
          leg.toAddress,
          Number(leg.micro),
          leg.reason.toLowerCase(),
        ]),
      ).toEqual(
        theirs.exceptions
          .slice(0, 100)
          .map((leg: { eventId: string; toAddress: string; micro: number; reason: string }) => [
            leg.eventId,
            leg.toAddress,
            leg.micro,
            leg.reason,
          ]),
      );
      const waiting = ours.waiting.nodes.reduce((sum: number, { micro }: { micro: string }) => sum + Number(micro), 0);
      expect(waiting).toBe(theirs.outstanding.micro);
    }),
    { numRuns: 15 },
  );
});

test('the audit, its comparison, breakdowns and agents are those of REST over random windows', async () => {
  const totals =
    '{ observations agentHits denied answered paid servedFree paymentFailed missedMicro failedMicro earnedMicro verifiedEarnedMicro verifiedHits masqueradeAttempts failedByReason { reason count } }';
  const query = `query ($window: WindowInput, $host: String, $kind: CrossingKind, $by: AuditGroupBy) {
    tenant {
      audit(window: $window, host: $host, kind: $kind, groupBy: $by, compare: true) {
        totals ${totals} previous ${totals} truncated
        breakdown(first: 100) { nodes { key hits denied paid missedMicro earnedMicro } }
        byAgent(first: 100) { nodes { agent hits denied paid verified } }
      }
      agents(window: $window, host: $host, kind: $kind, first: 100) { nodes { agent hits } }
    }
  }`;
  const totalsOf = (mine: Record<string, unknown> & { failedByReason: { reason: string; count: number }[] }) => {
    const { missedMicro, failedMicro, earnedMicro, verifiedEarnedMicro, failedByReason, ...counts } = mine;
    return {
      ...counts,
      missedMicroUsdc: Number(missedMicro),
      failedMicroUsdc: Number(failedMicro),
      earnedMicroUsdc: Number(earnedMicro),
      verifiedEarnedMicroUsdc: Number(verifiedEarnedMicro),
      failedByReason: Object.fromEntries(failedByReason.map(({ reason, count }) => [reason.toLowerCase(), count])),
    };
  };
  await fc.assert(
    fc.asyncProperty(aWindow, fc.constantFrom('host', 'slug', 'kind', 'agent', 'verdict'), async (window, by) => {
      const theirs = await rest('/_svc/audit', window, { compare: '1', groupBy: by });
      const { audit: ours, agents } = await asked(query, window, { by: by.toUpperCase() });
      expect(totalsOf(ours.totals)).toEqual(theirs.totals);
      expect(totalsOf(ours.previous)).toEqual(theirs.previous.totals);
      const groups = ours.breakdown.nodes.map((row: { key: string; hits: number; missedMicro: string; earnedMicro: string }) => [
        row.key,
        row.hits,
        Number(row.missedMicro),
        Number(row.earnedMicro),
      ]);
      expect(groups).toEqual(
        theirs.breakdown.map((row: { key: string; hits: number; missedMicroUsdc: number; earnedMicroUsdc: number }) => [
          row.key,
          row.hits,
          row.missedMicroUsdc,
          row.earnedMicroUsdc,
        ]),
      );
      expect(ours.byAgent.nodes.map(({ agent, hits }: { agent: string; hits: number }) => [agent, hits])).toEqual(
        theirs.byAgent.map(({ agent, hits }: { agent: string; hits: number }) => [agent, hits]),
      );
      const listed = agents.nodes.map(({ agent, hits }: { agent: string; hits: number }) => [agent, hits]);
      expect(new Map(listed)).toEqual(
        new Map(theirs.byAgent.map(({ agent, hits }: { agent: string; hits: number }) => [agent, hits])),
      );
      expect(listed.reduce((sum: number, [, hits]: [string, number]) => sum + hits, 0)).toBe(theirs.totals.agentHits);
    }),
    { numRuns: 25 },
  );
});

test('both APIs know a host as people read it, in capitals, or with the dot of its root', async () => {
  const other = await graph.api.site({ hosts: ['xn--bcher-kva.example'] });
  const legs = [{ toAddress: `0x${'a1'.repeat(20)}`, amountMicro: 5 }];
  const sale = { tenantId: other.tenantId, host: 'xn--bcher-kva.example', slug: 'a', kind: 'read' as const, steps: 1, legs };
  await insertPurchases(graph.api.deps.database, [{ ...sale, atMs: Date.now() - 1_000 }]);
  const query =
    'query ($host: String) { tenant { earnings(host: $host) { totals { events } } crossings(filter: { host: $host }) { nodes { host } } } }';
  const named = ['xn--bcher-kva.example', 'bücher.example', 'BÜCHER.Example', 'XN--BCHER-KVA.example.', 'bcher.example'];
  for (const [place, host] of named.entries()) {
    const { body } = await graph.api.request(`/_svc/earnings?${new URLSearchParams({ host })}`, { key: other.key });
    const { data, errors } = await graph.ask(other.key, query, { host });
    expect(errors).toEqual([]);
    const events = place < 4 ? 1 : 0;
    expect([host, body.totals.events, data.tenant.earnings.totals.events, data.tenant.crossings.nodes.length]).toEqual([
      host,
      events,
      events,
      events,
    ]);
  }
});
