import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGraphql } from '../support/graphql.ts';
import type { Purchase, Seen } from '../support/reports.ts';
import { insertPurchases, insertSeen } from '../support/reports.ts';

/** GraphQL and REST ask the same services: over random windows both must say the same, to the micro. */

const DAY = 86_400_000;
const SPAN = 20 * DAY;
const WALLETS = ['a1', 'b2', 'c3'].map((pair) => `0x${pair.repeat(20)}`);
const AGENTS = ['gptbot', 'other', 'agents.example'];
const VERDICTS = ['served-free', 'agent-reread', 'denied', 'blocked', 'paid', 'payment-failed', 'unservable'];
const REASONS = ['insufficient_funds', 'authorization_invalid', 'malformed_payment', 'network_unsupported', 'settlement_failed'];

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let hosts: string[];
let nowMs: number;

beforeAll(async () => {
  graph = await startTestGraphql();
  hosts = ['one.parity.example', 'two.parity.example'];
  site = await graph.api.site({ hosts });
  nowMs = Date.now();
  let seed = 7;
  const pick = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const place = () => ({ tenantId: site.tenantId, host: hosts[pick(2)] as string, atMs: nowMs - pick(SPAN) });
  const purchases = Array.from(
    { length: 300 },
    (): Purchase => ({
      ...place(),
      ...{
        slug: ['solo', 'trio', 'long/way'][pick(3)] as string,
        kind: pick(4) === 0 ? 'citation' : 'read',
        steps: 1 + (pick(9) === 0 ? 1 : 0),
      },
      legs: [
        { toAddress: WALLETS[pick(2)] as string, amountMicro: 1_000 + pick(5_000), authorId: 'ann' },
        ...(pick(2) ? [{ toAddress: WALLETS[2] as string, amountMicro: 10 + pick(90) }] : []),
        ...(pick(3) ? [] : [{ toAddress: `0x${'f9'.repeat(20)}`, amountMicro: 7, role: 'platform' as const }]),
      ],
    }),
  );
  await insertPurchases(graph.api.deps.database, purchases);
  const seen = Array.from({ length: 400 }, (): Seen => {
    const verdict = VERDICTS[pick(VERDICTS.length)] as string;
    return {
      ...place(),
      ...{
        slug: ['solo', 'trio'][pick(2)] as string,
        verdict,
        classifiedAs: pick(3) ? 'agent' : 'human',
        kind: 'read',
        count: 1,
      },
      ...{
        micro: 1_000 + pick(900),
        reason: verdict === 'payment-failed' ? (REASONS[pick(5)] as string) : null,
        paymentId: null,
      },
      ...{
        agent: AGENTS[pick(3)] as string,
        agentUa: 'Agent/1',
        verified: pick(2) === 0,
        verifiedAgent: null,
        sigInvalid: pick(9) === 0,
      },
    };
  });
  await insertSeen(graph.api.deps.database, seen);
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
      expect(rows(ours.breakdown.nodes, 'grossMicro')).toEqual(rows(theirs.breakdown, 'grossMicroUsdc'));
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
    '{ observations agentHits denied paid servedFree paymentFailed missedMicro failedMicro earnedMicro verifiedHits masqueradeAttempts failedByReason { reason count } }';
  const query = `query ($window: WindowInput, $host: String, $kind: CrossingKind, $by: AuditGroupBy) {
    tenant {
      audit(window: $window, host: $host, kind: $kind, groupBy: $by, compare: true) {
        totals ${totals} previous ${totals} truncated
        breakdown(first: 100) { nodes { key hits denied paid missedMicro earnedMicro } }
        byAgent(first: 100) { nodes { agent hits denied paid verified } }
      }
      agents(window: $window, host: $host, kind: $kind, first: 100) { nodes { agent hits earnedMicro } }
    }
  }`;
  const totalsOf = (mine: Record<string, unknown> & { failedByReason: { reason: string; count: number }[] }) => {
    const { missedMicro, failedMicro, earnedMicro, failedByReason, ...counts } = mine;
    return {
      ...counts,
      missedMicroUsdc: Number(missedMicro),
      failedMicroUsdc: Number(failedMicro),
      earnedMicroUsdc: Number(earnedMicro),
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
      const earned = agents.nodes.reduce((sum: number, { earnedMicro }: { earnedMicro: string }) => sum + Number(earnedMicro), 0);
      expect(earned).toBe(theirs.totals.earnedMicroUsdc);
    }),
    { numRuns: 25 },
  );
});

test('pages of crossings, put together, are the whole list in its order, whatever the length of a page', async () => {
  for (const orderBy of ['NEWEST', 'OLDEST', 'LARGEST', 'SMALLEST']) {
    const seen: { crossingId: string; at: number; micro: string }[] = [];
    let after: string | null = null;
    do {
      const { data, errors } = await graph.ask(
        site.key,
        `query ($after: String, $orderBy: AmountOrder) { tenant { crossings(first: 67, after: $after, orderBy: $orderBy) {
          totalCount nodes { crossingId at micro } pageInfo { hasNextPage endCursor } } } }`,
        { after, orderBy },
      );
      expect(errors).toEqual([]);
      const { nodes, pageInfo, totalCount } = data.tenant.crossings;
      seen.push(...nodes);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      if (after === null) expect(seen.length).toBe(totalCount);
    } while (after !== null);
    expect(new Set(seen.map(({ crossingId }) => crossingId)).size).toBe(seen.length);
    const key = ({ at, micro }: { at: number; micro: string }): number =>
      /ST$/.test(orderBy) && /W|LD/.test(orderBy) ? at : Number(micro);
    const sorted = seen.map(key).sort((a, b) => (orderBy === 'OLDEST' || orderBy === 'SMALLEST' ? a - b : b - a));
    expect(seen.map(key)).toEqual(sorted);
  }
});

test('pages of a statement’s lines, put together, are all of its lines, the newest first', async () => {
  const query = `query ($after: String) { tenant { statements { statements(first: 3) { nodes { wallet grossMicro
    lines(first: 40, after: $after) { totalCount nodes { micro at slug } pageInfo { hasNextPage endCursor } } } } } } }`;
  type Line = { micro: string; at: number };
  const lines: Line[] = [];
  let after: string | null = null;
  do {
    const { data, errors } = await graph.ask(site.key, query, { after });
    expect(errors).toEqual([]);
    const [statement] = data.tenant.statements.statements.nodes;
    lines.push(...statement.lines.nodes);
    after = statement.lines.pageInfo.hasNextPage ? statement.lines.pageInfo.endCursor : null;
    if (after === null) {
      expect(lines.length).toBe(statement.lines.totalCount);
      expect(String(lines.reduce((sum, { micro }) => sum + Number(micro), 0))).toBe(statement.grossMicro);
    }
  } while (after !== null);
  expect(lines.length).toBeGreaterThan(80);
  expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).sort((a, b) => b - a));
});

test('pages of observations, put together, are the whole list in its order, across days with and without rows', async () => {
  for (const orderBy of ['NEWEST', 'OLDEST']) {
    const seen: { observationId: string; at: number }[] = [];
    let after: string | null = null;
    do {
      const { data, errors } = await graph.ask(
        site.key,
        `query ($after: String, $orderBy: TimeOrder) { tenant { observations(first: 31, after: $after, orderBy: $orderBy,
          filter: { verdicts: [PAID, DENIED, BLOCKED] }) { totalCount nodes { observationId at } pageInfo { hasNextPage endCursor } } } }`,
        { after, orderBy },
      );
      expect(errors).toEqual([]);
      const { nodes, pageInfo, totalCount } = data.tenant.observations;
      seen.push(...nodes);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      if (after === null) expect(seen.length).toBe(totalCount);
    } while (after !== null);
    expect(seen.length).toBeGreaterThan(100);
    expect(new Set(seen.map(({ observationId }) => observationId)).size).toBe(seen.length);
    const times = seen.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => (orderBy === 'OLDEST' ? a - b : b - a)));
  }
});
