import { afterAll, beforeAll, expect, test } from 'vitest';
import { BODY_LIMIT_BYTES } from '../../graphql/limits/limits.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
import { askGraph, expectClean, startTestGraphql } from '../support/graphql.ts';
import { slowness } from '../support/turns.ts';

/** Variables are bounded before anything looks at them, and what is wrong with them is said once and shortly. */

const HEAVY_CALLS = 40;
let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
beforeAll(async () => {
  const much = 1_000_000;
  const perSecond = { address: much, refused: much, tenant: much, account: much, account_address: much };
  graph = await startTestGraphql({
    rates: { perSecond: { ...perSecond, key: HEAVY_CALLS * COSTS.heavy * 0.001 }, burstSeconds: 1_000 },
  });
  site = await graph.api.site();
});
afterAll(() => graph?.stop());

/** An object of members that no input has. */
const junk = (members: number, value: unknown = 1): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: members }, (_, n) => [`h${n.toString(36)}`, value]));
const nested = (levels: number): unknown => (levels === 0 ? 1 : { down: nested(levels - 1) });

const QUESTION = 'query($v: CrossingFilter) { tenant { crossings(first: 1, filter: $v) { nodes { crossingId } } } }';
const CHANGE = 'mutation($v: MintKeyInput!) { mintKey(input: $v) { __typename } }';
const IMPORT = 'mutation($v: ImportPagesInput!) { importPages(input: $v) { __typename ... on ImportPagesPayload { imported } } }';

test.each<[string, unknown, RegExp]>([
  ['100 kB of members that no input has', junk(10_000), /^variables: have an object of more than 200 members/],
  ['100 members that no input has, 9,000 characters each', junk(100, 'x'.repeat(9_000)), /got invalid value .{1,499}$/],
  ['400 pages of 200 such members', { pages: Array.from({ length: 400 }, () => junk(200)) }, /got invalid value/],
  ['half a million values', Array.from({ length: 500_000 }, () => 1), /more than 100000 values/],
  ['a text of a megabyte', { name: 'x'.repeat(1_000_000) }, /a text of more than 16384 characters/],
  ['a name of a megabyte', { ['x'.repeat(1_000_000)]: 1 }, /a name of more than 16384 characters/],
  ['many levels', nested(1_000), /more than 16 levels/],
])(
  'variables of %s are refused in less than 200 ms, shortly, as a key’s question and as an owner’s change',
  async (_name, v, sentence) => {
    const owner = await graph.owner(site.tenantId, `owner of ${_name}`);
    for (const [bearer, query] of [
      [site.key, QUESTION],
      [owner, _name.includes('pages') ? IMPORT : CHANGE],
    ] as const) {
      const spentMs: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const before = process.threadCpuUsage();
        const answer = await askGraph(graph.url, bearer, query, { v });
        const { user, system } = process.threadCpuUsage(before);
        spentMs.push((user + system) / 1_000);
        expect(answer.errors).toMatchObject([
          { message: expect.stringMatching(sentence), extensions: { code: 'BAD_USER_INPUT' } },
        ]);
        expect(answer.text.length).toBeLessThan(1_000);
        expectClean(graph, answer);
      }
      // The client is in the figure, so the least of three is the API's.
      expect(Math.min(...spentMs)).toBeLessThan(200 * slowness());
    }
  },
);

const MEMBERS = Array.from({ length: 320 }, (_, n) => `h${n}:1`).join(' ');
const LINES = '\n'.repeat(25_000);
test.each<[string, string]>([
  ['of members that no input has', `mintKey(input: { ${MEMBERS} }) { __typename }`],
  ['below as many lines as a document has characters', `${LINES} mintKey(input: { ${MEMBERS} }) { __typename }`],
  ['of one argument many times over, below many lines', `${LINES} mintKey(${'input: 1 '.repeat(320)}) { __typename }`],
  [
    'of one argument many times over, below some lines',
    `${LINES.slice(0, 1_990)} mintKey(${'input: 1 '.repeat(320)}) { __typename }`,
  ],
  ['of long names', `mintKey(input: { ${`${'h'.repeat(100)}: 1 `.repeat(290)} }) { __typename }`],
  ['of long texts', `mintKey(input: { name: [${`"${'x'.repeat(50)}" `.repeat(490)}] }) { __typename }`],
])('values in the document %s are refused in less than 200 ms, shortly', async (_name, fields) => {
  const owner = await graph.owner(site.tenantId, `owner of literals ${_name}`);
  const spentMs: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const before = process.threadCpuUsage();
    const answer = await askGraph(graph.url, owner, `mutation { ${fields} } # ${turn}`);
    const { user, system } = process.threadCpuUsage(before);
    spentMs.push((user + system) / 1_000);
    expect(answer.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(answer.text.length).toBeLessThan(50_000);
    expectClean(graph, answer);
  }
  expect(Math.min(...spentMs)).toBeLessThan(200 * slowness());
});

test('as many pages as one import may have, near the limit of a body, are imported', async () => {
  const owner = await graph.owner(site.tenantId, 'owner of pages');
  const wallet = `0x${'a1'.repeat(20)}`;
  const pages = Array.from({ length: 5_000 }, (_, n) => ({
    slug: `page-${n}`,
    path: `/articles/page-${n}`,
    title: `Page ${n}`,
    credits: { contributors: [{ authorId: `author-${n}`, wallet, weight: 1 }] },
  }));
  expect(JSON.stringify(pages).length).toBeGreaterThan(BODY_LIMIT_BYTES * 0.7);
  const answer = await askGraph(graph.url, owner, IMPORT, { v: { pages } });
  expect(answer.errors).toEqual([]);
  expect(answer.data.importPages).toMatchObject({ imported: 5_000 });
});

test('an owner is counted by who he is, whatever token he shows', async () => {
  const ask = async (userId: string) => {
    const token = await graph.owner(site.tenantId, userId);
    return (await askGraph(graph.url, token, '{ viewer { isOwner } }')).status;
  };
  const answers: number[] = [];
  for (let n = 0; n <= HEAVY_CALLS; n++) answers.push(await ask('many tokens'));
  expect(answers).toEqual([...Array.from({ length: HEAVY_CALLS }, () => 200), 429]);
  expect(await ask('somebody else')).toBe(200);
});
