/** Agents outside the list of known crawlers: the names they give themselves are labels, within the places of a site and day. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { MAX_CARRIED_NAMES, MAX_NAMES } from '../../modules/gate/rules/agentName.ts';
import { labelAgents } from '../../modules/gate/use/agentLabels.ts';
import { openObserver } from '../../modules/gate/use/observe.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';

const DAY_MS = 86_400_000;
/** The middle of a day of UTC, so that no test runs over its end. */
const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let database: Database;
beforeAll(async () => {
  graph = await startTestGraphql();
  database = graph.api.deps.database;
});
afterAll(() => graph?.stop());

type Site = Awaited<ReturnType<typeof graph.api.site>>;
const newSite = (): Promise<Site> => graph.api.site({ plan: 'studio' });

/** One request of an agent a User-Agent, told as a publisher's gate tells them; `atMs` is its time. */
async function visit(site: Site, userAgents: readonly string[], { atMs = NOON, verdict = 'denied' } = {}): Promise<void> {
  const reports = userAgents.map((ua) => ({
    resource: `https://${site.host}/articles/solo`,
    verdict,
    classifiedAs: 'agent',
    kind: 'read',
    priceMicro: 1_000,
    at: atMs,
    agent: { ua },
  }));
  for (let from = 0; from < reports.length; from += 50) {
    expect((await graph.api.post('/_svc/observe', site.key, reports.slice(from, from + 50))).status).toBe(202);
  }
}

async function audit(site: Site, params: Readonly<Record<string, string>> = {}) {
  const query = new URLSearchParams({ from: '1', limit: '500', ...params });
  const { status, body } = await graph.api.request(`/_svc/audit?${query}`, { key: site.key });
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}

async function ask(site: Site, query: string, variables = {}) {
  const { data, errors } = await graph.ask(site.key, query, variables);
  expect(errors).toEqual([]);
  return data.tenant;
}

/** Hits by label as rows have them. */
async function labels({ tenantId }: Site): Promise<Map<string, number>> {
  const rows = await database.query<{ agent: string; hits: number }>(
    'select agent, sum(count)::int as hits from observation where tenant_id = $1 group by 1',
    [tenantId],
  );
  return new Map(rows.map(({ agent, hits }) => [agent, hits]));
}

const invented = (count: number, of = 'x'): string[] => Array.from({ length: count }, (_, n) => `${of}${n}/1.0`);

test('no list of agents has people: they are one figure beside them, in REST and in GraphQL', async () => {
  const site = await newSite();
  await visit(site, ['GPTBot/1', 'GPTBot/1', 'Mozilla/5.0 X']);
  const person = { tenantId: site.tenantId, host: site.host, atMs: NOON, classifiedAs: 'human', verdict: 'served-free' } as const;
  const people = Array.from({ length: 9 }, (_, n) =>
    seenOn(site, { ...person, agent: 'other', agentUa: `Mozilla/5.0 Firefox/${n}` }),
  );
  await insertSeen(database, people);
  const told = [
    ['gptbot', 2],
    ['other', 1],
  ];
  const { byAgent, breakdown, totals } = await audit(site, { groupBy: 'agent' });
  expect(byAgent.map(({ agent, hits }: { agent: string; hits: number }) => [agent, hits])).toEqual(told);
  expect(breakdown.map(({ key, hits }: { key: string; hits: number }) => [key, hits])).toEqual(told);
  expect(totals).toMatchObject({ observations: 12, agentHits: 3 });
  const { agents, operators, otherAgents, ...rest } = await ask(
    site,
    `{ tenant { agents(window: { lastDays: 3 }, orderBy: HITS) { nodes { agent hits } }
      operators(window: { lastDays: 3 }, orderBy: HITS) { nodes { name hits } }
      otherAgents(window: { lastDays: 3 }) { agents { name hits } rest { hits } }
      audit(window: { lastDays: 3 }) { totals { observations agentHits peopleHits } } } }`,
  );
  expect(agents.nodes.map(({ agent, hits }: { agent: string; hits: number }) => [agent, hits])).toEqual(told);
  expect(operators.nodes.map(({ hits }: { hits: number }) => hits)).toEqual([2, 1]);
  expect(otherAgents).toEqual({ agents: [{ name: 'Mozilla/5.0 X', hits: 1 }], rest: { hits: 0 } });
  expect(rest.audit.totals).toEqual({ observations: 12, agentHits: 3, peopleHits: 9 });
});

test('label, filter, group and CSV agree over REST and GraphQL, and `other` is exactly the rest', async () => {
  const site = await newSite();
  const seen = [
    'NewBot/1.0',
    'newbot/2 (+https://n.example)',
    'Mozilla/5.0 (compatible; Fresh.Bot/1)',
    'GPTBot/1',
    'Mozilla/5.0 X',
  ];
  await visit(site, [...seen, ...seen.slice(0, 1), '<b>Evil</b>', '=cmd|x']);
  const told = { newbot: 3, fresh_bot: 1, gptbot: 1, other: 3 };
  expect(Object.fromEntries(await labels(site))).toEqual(told);

  const { byAgent, breakdown } = await audit(site, { groupBy: 'agent' });
  for (const rows of [byAgent, breakdown]) {
    const shown = rows.map(({ agent, key, hits }: { agent?: string; key?: string; hits: number }) => [agent ?? key, hits]);
    expect(Object.fromEntries(shown)).toEqual(told);
  }
  for (const [agent, hits] of Object.entries(told)) {
    const { totals, recent } = await audit(site, { agent });
    const graphed = await ask(
      site,
      `query ($agent: String!) { tenant { agents(window: { lastDays: 3 }) { nodes { agent hits } }
        audit(window: { lastDays: 3 }, agent: $agent) { totals { observations } }
        observations(filter: { window: { lastDays: 3 }, agent: $agent }) { totalCount nodes { agent } } } }`,
      { agent },
    );
    const listed = graphed.agents.nodes.find((row: { agent: string }) => row.agent === agent).hits;
    expect([totals.observations, recent.length, listed]).toEqual([hits, hits, hits]);
    expect([graphed.audit.totals.observations, graphed.observations.totalCount]).toEqual([hits, hits]);
    expect(graphed.observations.nodes.every((row: { agent: string }) => row.agent === agent)).toBe(true);
  }

  // Inside `other` each text is found on its own, and only there: the same text may have been a label on another day.
  const others = await ask(
    site,
    '{ tenant { otherAgents(window: { lastDays: 3 }) { restNames agents { name hits missedMicro } } } }',
  );
  expect(others.otherAgents.agents.map(({ name }: { name: string }) => name)).toEqual(['<b>Evil</b>', '=cmd|x', 'Mozilla/5.0 X']);
  for (const { name, hits, missedMicro } of others.otherAgents.agents) {
    const found = await ask(
      site,
      `query ($name: String) { tenant { audit(window: { lastDays: 3 }, agent: "other", agentName: $name) { totals { observations missedMicro } }
        none: audit(window: { lastDays: 3 }, agent: "newbot", agentName: $name) { totals { observations } }
        observations(filter: { window: { lastDays: 3 }, agent: "other", agentName: $name }) { totalCount nodes { agentUa } } } }`,
      { name },
    );
    expect([found.audit.totals, found.none.totals.observations]).toEqual([{ observations: hits, missedMicro }, 0]);
    expect([found.observations.totalCount, found.observations.nodes[0].agentUa]).toEqual([hits, name]);
  }

  const sale = { tenantId: site.tenantId, host: site.host, slug: 'solo', kind: 'read' as const, atMs: NOON, steps: 1 };
  const legs = [{ toAddress: `0x${'a'.repeat(40)}`, amountMicro: 700 }];
  await insertPurchases(database, [
    { ...sale, agent: 'newbot', legs },
    { ...sale, agent: 'newbot', legs },
    { ...sale, agent: 'other', legs },
  ]);
  const csv: string = (await graph.api.request('/_svc/earnings/export.csv?from=1', { key: site.key })).body;
  const exported = csv
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',').at(-5)); // before the licence, the title and two ids
  const { earnings } = await ask(
    site,
    '{ tenant { earnings(window: { lastDays: 3 }, groupBy: AGENT) { breakdown { nodes { key events } } } } }',
  );
  expect(exported.toSorted()).toEqual(['newbot', 'newbot', 'other']);
  expect(earnings.breakdown.nodes).toEqual([
    { key: 'newbot', events: 2 },
    { key: 'other', events: 1 },
  ]);
});

test('a thousand invented names stay bounded on a day of a site, each day and site has places of its own', async () => {
  const [site, beside] = [await newSite(), await newSite()];
  await visit(beside, ['Beside/1']);
  await visit(site, invented(1_000));
  const ours = await labels(site);
  expect(ours.size).toBe(MAX_NAMES + 1);
  expect(ours.get('other')).toBe(1_000 - MAX_NAMES);

  const { byAgent, totals } = await audit(site);
  expect([byAgent.length, totals.observations]).toEqual([MAX_NAMES + 1, 1_000]);
  expect((await audit(site, { agent: 'other' })).totals.observations).toBe(1_000 - MAX_NAMES);
  const [rolled] = await database.query<{ names: number; places: number }>(
    `select count(distinct agent)::int as names, (select count(*)::int from agent_name where tenant_id = $1) as places
       from observation_day where tenant_id = $1 and dimension = 'label'`,
    [site.tenantId],
  );
  expect(rolled).toEqual({ names: MAX_NAMES + 1, places: MAX_NAMES });

  await visit(beside, invented(3, 'x99'));
  expect((await labels(beside)).get('other')).toBeUndefined();
  await visit(site, ['Tomorrow/1'], { atMs: NOON + DAY_MS / 2 + 1 });
  expect((await labels(site)).get('tomorrow')).toBe(1);
});

test('a name costs one statement that all new names of the moment share, and none once it is known or the day is full', async () => {
  const { tenantId } = await newSite();
  let asked = 0;
  const watched: Database = {
    ...database,
    query: (statement, values, name) => {
      if (name === 'take-agent-names') asked += 1;
      return database.query(statement, values, name);
    },
  };
  const label = (userAgents: readonly string[]) =>
    labelAgents(
      watched,
      userAgents.map((ua) => ({ tenantId, agent: { ua }, atMs: NOON })),
    );
  expect(await Promise.all([label(invented(50)), label(invented(50, 'y')), label(['GPTBot/1', 'Mozilla/5.0'])])).toEqual([
    invented(50).map((name) => name.slice(0, -4)),
    invented(50, 'y').map((name) => name.slice(0, -4)),
    ['gptbot', 'other'],
  ]);
  expect(asked).toBe(1);
  await label(invented(50));
  expect(asked).toBe(1);
  await label(invented(300, 'z'));
  expect(asked).toBe(2);
  expect(new Set(await label(invented(1_000, 'more')))).toEqual(new Set(['other']));
  expect(asked).toBe(2);
});

test('processes that name agents at once agree on every name, and on no more than there are places', async () => {
  const { tenantId } = await newSite();
  const processes = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ url: graph.api.urls.appUrl, poolSize: 2 })));
  const label = (process: Database, userAgents: readonly string[]) =>
    labelAgents(
      process,
      userAgents.map((ua) => ({ tenantId, agent: { ua }, atMs: NOON })),
    );
  try {
    const told = await Promise.all(processes.map((process, n) => label(process, [...invented(120, `p${n}x`), 'Shared/1'])));
    const rows = await database.query<{ name: string }>('select name from agent_name where tenant_id = $1', [tenantId]);
    const standing = new Set(rows.map(({ name }) => name));
    expect(standing.size).toBeLessThanOrEqual(MAX_NAMES);
    expect(told.flat().filter((name) => name !== 'other' && !standing.has(name))).toEqual([]);
    const all = ['Shared/1', ...[0, 1, 2, 3].flatMap((n) => invented(120, `p${n}x`))];
    const after = await Promise.all(processes.map((process) => label(process, all)));
    const [first] = after;
    for (const one of after) expect(one).toEqual(first);
    expect(new Set(first).size).toBe(MAX_NAMES + 1);
  } finally {
    await Promise.all(processes.map((process) => process.close()));
  }
});

test('a day begins with the busiest names of the day before, so that invented ones do not take their places', async () => {
  const site = await newSite();
  const busy = [...invented(3, 'busy')];
  await visit(site, [...invented(MAX_CARRIED_NAMES, 'once'), ...busy, ...busy], { atMs: NOON - DAY_MS });
  await visit(site, invented(500, 'flood'));
  await visit(site, busy);
  const today = await database.query<{ name: string }>(
    'select name from agent_name where tenant_id = $1 and day = $2 order by place',
    [site.tenantId, new Date(NOON).toISOString().slice(0, 10)],
  );
  const names = today.map(({ name }) => name);
  expect(names.slice(0, 3).toSorted()).toEqual(['busy0', 'busy1', 'busy2']);
  expect(names.filter((name) => name.startsWith('once')).length).toBe(MAX_CARRIED_NAMES - 3);
  expect(names.filter((name) => name.startsWith('flood')).length).toBe(MAX_NAMES - MAX_CARRIED_NAMES);
  const ours = await labels(site);
  for (const name of ['busy0', 'busy1', 'busy2']) expect(ours.get(name)).toBe(3);
});

test('rows of before keep the label they were written with, and are found by it', async () => {
  const site = await newSite();
  await insertSeen(database, [seenOn(site, { agent: 'other', agentUa: 'NewBot/1.0', atMs: NOON })]);
  await visit(site, ['NewBot/1.0']);
  const count = async (agent: string) => (await audit(site, { agent, groupBy: 'slug' })).recent.length;
  expect([await count('newbot'), await count('other'), await count('NewBot/1.0')]).toEqual([1, 1, 2]);
});

test('a report that cannot be named is not written: the caller hears of the outage', async () => {
  const { tenantId, host } = await newSite();
  const failing: Database = {
    ...database,
    query: (statement, values, name) =>
      name === 'take-agent-names'
        ? Promise.reject(new ServiceError('database_unavailable', 'away'))
        : database.query(statement, values, name),
  };
  const observer = openObserver({ database: failing, clock: Date.now });
  const tenant = await graph.api.deps.snapshots.tenant(tenantId);
  const report = { resource: `https://${host}/articles/solo`, verdict: 'denied', classifiedAs: 'agent' } as const;
  await expect(observer.record(tenant!, [{ ...report, agent: { ua: 'Later/1' } }])).rejects.toMatchObject({
    code: 'database_unavailable',
  });
  await observer.record(tenant!, [{ ...report, agent: { ua: 'GPTBot/1' } }]);
  const rows = await database.query('select agent from observation where tenant_id = $1', [tenantId]);
  expect(rows).toEqual([{ agent: 'gptbot' }]);
});
