import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measure } from '../../modules/anomalies/rules/measure.ts';
import { WITHOUT_402 } from '../../modules/kernel/payment/answered.ts';
import { sumObservations } from '../../modules/reports/store/audit/observations.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { insertSeen, seenOn } from '../support/reports.ts';

/** A 402 that its asker pays is answered: it is not missed, in whichever report stands what was denied. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let nowMs: number;
beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site();
  nowMs = Date.now();
  const see = (changes: Parameters<typeof seenOn>[1]) => seenOn(site, { agent: 'gptbot', agentUa: 'GPTBot/1.2', ...changes });
  const paid = { verdict: 'paid', paymentId: randomUUID() } as const;
  const moments = [nowMs - 3_600_000, nowMs - 26 * 3_600_000, nowMs - 70 * 3_600_000];
  await insertSeen(graph.api.deps.database, [
    // Three are told the price: two pay it a moment later, one stays away.
    ...moments.map((atMs) => see({ atMs })),
    ...moments.slice(1).map((atMs) => see({ ...paid, atMs: atMs + 200 })),
    // One pays and a reorganization takes it back.
    ...([1, -1] as const).map((count) => see({ ...paid, paymentId: randomUUID(), count, atMs: moments[0]! + 300 })),
    see({ verdict: 'blocked', micro: 700, atMs: moments[0]! }),
    // Another agent buys at an address of this service, which no gate saw.
    ...moments.map((atMs) => see({ ...paid, agent: 'claudebot', reason: WITHOUT_402, micro: 9_000, atMs })),
    see({ agent: 'claudebot', micro: 2_000, atMs: moments[2]! }),
  ]);
});
afterAll(() => graph?.stop());

const WINDOW = () => ({ from: nowMs - 90 * 3_600_000 });
const SUMS = 'denied answered unanswered unansweredMicro conversion missedMicro paid';
const GPTBOT = {
  denied: 3,
  answered: 2,
  unanswered: 1,
  unansweredMicro: '1700',
  conversion: 2 / 3,
  missedMicro: '3700',
  paid: 2,
};
const CLAUDEBOT = { denied: 1, answered: 0, unanswered: 1, unansweredMicro: '2000', conversion: 0, missedMicro: '2000', paid: 3 };
const ALL = { denied: 4, answered: 2, unanswered: 2, unansweredMicro: '3700', conversion: 0.5, missedMicro: '5700', paid: 5 };

test('the audit, its groups, its series and the lists of agents and operators count a paid 402 as answered', async () => {
  const { data, errors } = await graph.ask(
    site.key,
    `query ($window: WindowInput) { tenant {
      audit(window: $window, groupBy: AGENT) { totals { ${SUMS} } series(every: DAY) { totals { answered denied } }
        byAgent { nodes { agent answered denied } } breakdown(orderBy: UNANSWERED_MICRO) { nodes { key ${SUMS} } } }
      bySlug: audit(window: $window, groupBy: SLUG) { breakdown { nodes { key ${SUMS} } } }
      one: audit(window: $window, agent: "claudebot") { totals { ${SUMS} } }
      agents(window: $window, orderBy: UNANSWERED_MICRO) { nodes { agent ${SUMS} } }
      operators(window: $window, orderBy: UNANSWERED) { nodes { name answered unanswered conversion } }
    } }`,
    { window: WINDOW() },
  );
  expect(errors).toEqual([]);
  const { audit, bySlug, one, agents, operators } = data.tenant;
  expect(audit.totals).toEqual(ALL);
  expect(one.totals).toEqual(CLAUDEBOT);
  expect(audit.breakdown.nodes).toEqual([
    { key: 'claudebot', ...CLAUDEBOT },
    { key: 'gptbot', ...GPTBOT },
  ]);
  expect(audit.byAgent.nodes).toEqual(
    expect.arrayContaining([
      { agent: 'gptbot', answered: 2, denied: 3 },
      { agent: 'claudebot', answered: 0, denied: 1 },
    ]),
  );
  expect(bySlug.breakdown.nodes).toEqual([{ key: 'solo', ...ALL }]);
  expect(agents.nodes).toEqual([
    { agent: 'claudebot', ...CLAUDEBOT },
    { agent: 'gptbot', ...GPTBOT },
  ]);
  expect(operators.nodes).toHaveLength(2);
  const series: { totals: { answered: number } }[] = audit.series;
  expect(series.reduce((sum, { totals }) => sum + totals.answered, 0)).toBe(2);
});

test('what another price would have brought leaves answered requests to those that paid', async () => {
  const { data } = await graph.ask(
    site.key,
    `query ($window: WindowInput) { tenant { whatIf(window: $window, priceUsdc: "0.01") {
      totals { ${SUMS} ifDeniedMicro ifPaidMicro } } } }`,
    { window: WINDOW() },
  );
  expect(data.tenant.whatIf.totals).toEqual({ ...ALL, ifDeniedMicro: '20000', ifPaidMicro: '50000' });
});

test('REST keeps what was denied and missed as it is defined, and says beside it how many were answered', async () => {
  const { body } = await graph.api.request(`/_svc/audit?from=${WINDOW().from}&groupBy=agent`, { key: site.key });
  const { totals, breakdown, byAgent } = body;
  expect(totals).toMatchObject({ denied: 4, answered: 2, paid: 5, missedMicroUsdc: 5_700 });
  expect(totals).not.toHaveProperty('unanswered');
  expect(breakdown).toContainEqual(expect.objectContaining({ key: 'gptbot', denied: 3, answered: 2, missedMicroUsdc: 3_700 }));
  expect(byAgent).toContainEqual(expect.objectContaining({ agent: 'gptbot', denied: 3, answered: 2 }));
});

test('an alert on refused requests or on missed money is not set off by sales', async () => {
  const scope = { tenantId: site.tenantId, host: null, kind: null, verdict: null, agent: null };
  const traffic = await sumObservations(graph.api.deps.database, scope, { fromMs: WINDOW().from, toMs: null });
  const nothing = { events: 0, micro: 0n };
  const figures = { traffic, earned: nothing, earnedBefore: nothing };
  expect([measure('denied', figures), measure('missed_micro', figures), measure('paid', figures)]).toEqual([2, 3_700, 5]);
});
