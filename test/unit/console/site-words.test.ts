import { expect, test } from 'vitest';
import { uses } from '../../../console/core/format.ts';
import { changedIn, compareLists, entriesOf } from '../../../console/core/lists.ts';
import { safeHref } from '../../../console/core/router.ts';
import { changesOf } from '../../../console/screens/auditLog/changes.ts';
import { licenceState, periodsOf, periodsText } from '../../../console/screens/licences/words.ts';
import { mattersOf } from '../../../console/screens/overview/attention.ts';
import type { Overview } from '../../../console/screens/overview/document.ts';
import type { Rules } from '../../../console/screens/pages/crawlerEffect.ts';
import { fateChanges } from '../../../console/screens/pages/crawlerEffect.ts';
import { allCreditsOf, creditsOf, importOf, rowsOf } from '../../../console/screens/pages/credits.ts';
import type { PagePrice, PriceEffect } from '../../../console/screens/pages/effect.ts';
import { effectText, shareText } from '../../../console/screens/pages/effect.ts';
import { ruleText, thresholdOf, typedThreshold } from '../../../console/screens/settings/words.ts';
import { standingOf } from '../../../console/screens/webhooks/words.ts';

/** The words of the screens that change a site: every figure in them is the API's. */

const priced = (readMicro: string, citationMicro: string): PagePrice => ({
  state: 'PRICED',
  readMicro,
  citationMicro,
  freeBecause: null,
});
const asked = (readMicro: string, citationMicro: string): PagePrice => ({ ...priced(readMicro, citationMicro), state: 'ASKED' });
const free = (freeBecause: string): PagePrice => ({ state: 'FREE', readMicro: null, citationMicro: null, freeBecause });
const effect = (before: PagePrice, after: PagePrice, pages = 12): PriceEffect => ({
  version: 1,
  pages,
  isWhole: true,
  formerMs: 600_000,
  pageBefore: null,
  pageAfter: null,
  steps: [{ pages, paths: ['/a'], before, after }],
});

test.each([
  [priced('5000', '25000'), priced('10000', '25000'), 12, '12 pages change from $0.005 to $0.010'],
  [
    priced('5000', '25000'),
    priced('10000', '50000'),
    1,
    '1 page changes from $0.005 to $0.010; a citation from $0.025 to $0.050',
  ],
  [priced('5000', '25000'), priced('5000', '50000'), 2, '2 pages change: a citation from $0.025 to $0.050'],
  [priced('5000', '25000'), free('NO_CREDITS'), 3, '3 pages become free: no author is named to be paid (now $0.005)'],
  [free('FREE_SLUG'), priced('5000', '25000'), 1, '1 page that is free now costs $0.005'],
  [free('FREE_SLUG'), free('NO_PRICE'), 2, '2 pages stay free, now because: the price is 0'],
  [priced('5000', '25000'), asked('5000', '25000'), 2, '2 pages cost the same, but only if the credits API names who is paid'],
  [asked('5000', '25000'), priced('5000', '25000'), 1, '1 page costs the same, whatever the credits API says'],
])('a step from %j to %j of %i pages says so', (before, after, pages, text) => {
  expect(effectText(effect(before, after, pages)).changes).toEqual([{ text, paths: ['/a'], pages }]);
});

test('former prices are spoken of where there were some, and a catalogue that was cut is told', () => {
  const accepted = 'A price that a buyer saw before is accepted for 10 minutes more.';
  expect(effectText(effect(priced('1', '5'), free('NO_PRICE'))).notes).toEqual([accepted]);
  expect(effectText(effect(free('NO_PRICE'), priced('1', '5'))).notes).toEqual([]);
  expect(effectText(effect(priced('5000', '5'), priced('5000', '5'), 1))).toMatchObject({
    changes: [],
    stays: ['1 page stays at $0.005'],
    notes: [],
  });
  expect(effectText({ ...effect(free('NO_PRICE'), free('NO_PRICE')), isWhole: false }).notes).toHaveLength(1);
});

test('shares are counted in whole micro-dollars', () => {
  const of = [{ micro: '1' }, { micro: '1' }, { micro: '1' }];
  expect(of.map(({ micro }) => shareText(micro, of))).toEqual(['33.3 %', '33.3 %', '33.3 %']);
  expect(shareText('9007199254740993000', [{ micro: '9007199254740993000' }])).toBe('100 %');
  expect(shareText('0', [])).toBe('–');
});

test('authors become rows and rows authors again; groups stay text', () => {
  const stored = JSON.stringify({
    title: 'T',
    contributors: [
      { authorId: 'ann', wallet: '0x1', weight: 5 },
      { authorId: 'bob', wallet: '0x2' },
    ],
  });
  const rows = rowsOf(stored);
  expect(rows?.map(({ weight }) => weight)).toEqual(['5', '1']);
  expect(creditsOf([...(rows ?? []), { authorId: ' ', wallet: '', weight: '' }], stored)).toEqual({
    title: 'T',
    contributors: [
      { authorId: 'ann', wallet: '0x1', weight: 5 },
      { authorId: 'bob', wallet: '0x2', weight: 1 },
    ],
  });
  expect(rowsOf(JSON.stringify({ contributors: [{ authorId: 'desk', members: [] }] }))).toBeNull();
  expect(rowsOf(null)).toHaveLength(1);
});

test('pages to import are read a line each, with the slug that the site’s prefixes leave', () => {
  const text = '/articles/first, The first, and best\nhttps://a.example/articles/se%20cond\n\n/about\nno path\n/articles/';
  expect(importOf(text, ['/articles/'])).toEqual({
    pages: [
      { slug: 'first', path: '/articles/first', title: 'The first, and best' },
      { slug: 'se cond', path: '/articles/se cond' },
      { slug: 'about', path: '/about' },
    ],
    wrong: ['no path', '/articles/'],
  });
});

test('authors of all pages are read a line each, and the first line that is none is told', () => {
  expect(allCreditsOf('a, ann, 0x1, 2\na; bob; 0x2\n').pages).toEqual([
    {
      slug: 'a',
      credits: {
        contributors: [
          { authorId: 'ann', wallet: '0x1', weight: 2 },
          { authorId: 'bob', wallet: '0x2', weight: 1 },
        ],
      },
    },
  ]);
  for (const wrong of ['a, ann', 'a, ann, 0x1, none', 'a, ann, 0x1, 0', 'a, b, c, 1, 2'])
    expect(allCreditsOf(wrong).wrong).toBe(wrong);
});

test('block wins over allow, allow over charge, a list over a class, and those whose lot stays are not named', () => {
  const agents = [
    { agent: 'gptbot', visitorClass: 'AI', hits: 5, earnedMicro: '10' },
    { agent: 'GoogleBot', visitorClass: 'SEARCH', hits: 9, earnedMicro: '0' },
    { agent: 'twitterbot', visitorClass: 'PREVIEW', hits: 7, earnedMicro: '0' },
    { agent: 'other', visitorClass: 'AUTOMATION', hits: 99, earnedMicro: '0' },
  ] as const;
  const classes: Rules['classes'] = {
    AI: 'CHARGE',
    AUTOMATION: 'CHARGE',
    PRETENDER: 'CHARGE',
    MASQUERADE: 'CHARGE',
    SEARCH: 'READ',
    PREVIEW: 'READ',
    ADS: 'READ',
    FEED: 'READ',
    MONITOR: 'READ',
    APP: 'READ',
  };
  const none: Rules = { policy: { block: [], allow: [], charge: [] }, search: ['googlebot'], classes };
  const fates = (after: Partial<Rules>) =>
    fateChanges(agents, none, { ...none, ...after }).map(({ agent, before, after: then }) => [agent, before, then]);
  const policy = { block: ['gpt'], allow: ['gptbot'], charge: ['google'] };
  expect(fates({ policy })).toEqual([
    ['GoogleBot', 'reads free', 'pays'],
    ['gptbot', 'pays', 'blocked'],
  ]);
  expect(fates({ classes: { ...classes, SEARCH: 'CHARGE', PREVIEW: 'BLOCK' } })).toEqual([
    ['GoogleBot', 'reads free', 'pays'],
    ['twitterbot', 'reads free', 'blocked'],
  ]);
  expect(fates({ search: ['googlebot', 'gptbot'] })).toEqual([['gptbot', 'pays', 'reads free']]);
});

test('an entry of the audit log is shown member by member, with what was and what is', () => {
  const entry = (before: unknown, after: unknown) => ({
    before: before === null ? null : JSON.stringify(before),
    after: after === null ? null : JSON.stringify(after),
  });
  expect(changesOf(entry({ priceUsdc: '0.005', a: { b: ['x'] } }, { priceUsdc: '0.01', a: { b: [] } }))).toEqual([
    { place: 'priceUsdc', before: '0.005', after: '0.01' },
    { place: 'a.b', before: 'x', after: 'none' },
  ]);
  expect(changesOf(entry(null, { origin: 'https://x', disabledReason: null }))).toEqual([
    { place: 'origin', before: null, after: 'https://x' },
  ]);
  expect(changesOf({ before: 'no json', after: null })).toEqual([{ place: '', before: 'no json', after: null }]);
});

test('licences say how they stand, and periods are typed and read back', () => {
  const at = (changes: object) =>
    licenceState({ revokedAt: null, revokedReason: null, from: 0, until: 40 * 86_400_000, ...changes }, 1_000);
  expect(
    [at({}), at({ until: 10 * 86_400_000 }), at({ until: 1_000 }), at({ revokedAt: 5 }), at({ from: 2_000_000 })].map(
      ({ tone }) => tone,
    ),
  ).toEqual(['good', 'warn', 'plain', 'bad', 'plain']);
  const periodFactors = [
    { upToDays: 1.5, factor: '0.5' },
    { upToDays: 366, factor: '4' },
  ];
  expect(periodsOf(periodsText({ periodFactors }))).toEqual({ periods: periodFactors, wrong: null });
  expect(periodsOf('')).toEqual({ periods: null, wrong: null });
  expect(periodsOf('30: 1\na week: 2').wrong).toBe('a week: 2');
});

test('rules are sentences, and thresholds are typed in dollars and percent', () => {
  const rule = (metric: string, threshold: number, host: string | null = null) =>
    ruleText({ metric, range: 'LAST_24H', threshold, host });
  expect(rule('MISSED_MICRO', 5_000_000)).toBe('Missed earnings reach $5.00 within 24 hours, on every host');
  expect(rule('PAYMENT_FAILURE_RATE', 0.07, 'a.example')).toBe('Payment failure rate reaches 7 % within 24 hours, on a.example');
  for (const [metric, typed, stored] of [
    ['MISSED_MICRO', '0.25', 250_000],
    ['PAYMENT_FAILURE_RATE', '7', 0.07],
    ['DENIED', '12', 12],
  ] as const) {
    expect(thresholdOf(metric, typed)).toBe(stored);
    expect(typedThreshold(metric, stored)).toBe(typed);
  }
  expect([thresholdOf('DENIED', 'many'), thresholdOf('DENIED', ' ')]).toEqual([null, null]);
});

test('an endpoint that fails says since when, and one that is off says why', () => {
  const endpoint = { enabled: true, failuresInRow: 1, failingSince: 0, disabledReason: null, pausedUntil: null };
  expect(standingOf(endpoint, 3_600_000).more).toBe('1 attempt in a row failed, the first 1 h ago.');
  expect(standingOf({ enabled: false, disabledReason: 'gone' } as never).tone).toBe('bad');
  expect(standingOf({ ...endpoint, pausedUntil: 3_600_001 }, 3_600_000).text).toBe('Paused');
  expect(standingOf({ ...endpoint, pausedUntil: 3_600_000 }, 3_600_000).text).toBe('Failing');
});

test('lists are entries of lines, and differ by what they gain and lose', () => {
  expect(entriesOf(' a \n\nb\na')).toEqual(['a', 'b']);
  expect(compareLists(['a', 'b'], ['b', 'c'])).toEqual({ added: ['c'], removed: ['a'] });
});

test('of a form only what somebody changed is saved, so that what others changed meanwhile stays', () => {
  const shown = { profile: 'SUMMARY', eventTypes: ['A', 'B'], hostFilter: ['a.example'], description: '' };
  expect(changedIn({ ...shown, eventTypes: ['A', 'B'] }, shown)).toEqual({});
  expect(changedIn({ ...shown, hostFilter: null, eventTypes: ['A'] }, shown)).toEqual({ hostFilter: null, eventTypes: ['A'] });
});

const NO_MATTERS: Overview['attention'] = {
  since: 1_000,
  waiting: null,
  failingEndpoints: [],
  hosts: [],
  hostCount: 0,
  licencesEnding: [],
  licencesEndingCount: 0,
  rules: [],
  raisedPrice: null,
};
const needsLook = (attention: Partial<Overview['attention']>) =>
  mattersOf({ audit: null, attention: { ...NO_MATTERS, ...attention } } as Overview).map(({ tone, text }) => [tone, text]);

test('what needs a look is told in the words of its own screen, in dollars and not in micro-USDC, the worst first', () => {
  expect(needsLook({})).toEqual([]);
  const host = { host: 'a.example', verifiedAt: 1, failingSince: null, lastReason: null, failedOpenAt: 999 };
  const enforcement = { nextAction: 'rotate_key', recordToFix: null };
  const failing = { ...host, host: 'b.example', failingSince: 0, lastReason: 'not_verified', enforcement };
  const endpoint = {
    origin: 'https://c.example',
    enabled: false,
    failuresInRow: 9,
    failingSince: 0,
    pausedUntil: null,
    disabledReason: 'gone',
  };
  const rule = { metric: 'MISSED_MICRO', range: 'LAST_24H', threshold: 2_500_000, host: null };
  const raisedPrice = { stored: { priceUsdc: '0.0001' }, charged: { priceUsdc: '0.001' } };
  const seen = needsLook({
    failingEndpoints: [endpoint],
    hosts: [{ ...host, enforcement }, failing],
    hostCount: 23,
    rules: [rule],
    raisedPrice,
  });
  expect(seen).toEqual([
    ['bad', 'https://c.example: Nothing is sent: the receiver said that it is gone.'],
    ['bad', expect.stringMatching(/^b\.example fails its check since .*: The proof is not there any more\.$/)],
    ['bad', 'Missed earnings reach $2.50 within 24 hours, on every host'],
    ['warn', expect.stringMatching(/^a\.example: The gate still asks with a key that was revoked/)],
    ['warn', '21 more hosts need a look'],
    ['warn', 'The price of $0.0001 is below the lowest that the service takes: $0.001 is charged'],
  ]);
});

test.each([
  ['https://alpha.example/a', true],
  ['/_svc/console/earnings', true],
  ['javascript:alert(1)', false],
  ['java\tscript:alert(1)', false],
  ['/\t/evil.example', false],
  ['\thttps://alpha.example', false],
  ['//evil.example', false],
  ['/\\evil.example', false],
])('a link leads to %j: %s', (address, isLink) => {
  expect(safeHref(address)).toBe(isLink ? address : null);
});

test('what a licence is for is told in words', () => {
  expect(uses(['search', 'ai-train'])).toBe('Search, Training');
});
