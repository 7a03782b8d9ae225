import type { Mutant } from './mutant.ts';

const calendar = 'platform/calendar.ts';
const series = 'test/integration/report-series.test.ts';
const answered = 'test/integration/answered.test.ts';
const questions = 'test/integration/graphql-questions.test.ts';
const sites = 'test/integration/graphql-sites.test.ts';
const rows = 'test/integration/graphql-rows.test.ts';

/** Bugs of reports that are cut by a calendar, and of what they count as a page. */
export const SERIES_MUTANTS: readonly Mutant[] = [
  {
    id: 'days-of-twenty-four-hours',
    rule: 23,
    bug: 'the next day is twenty-four hours later, also where clocks change',
    edits: [
      {
        file: calendar,
        search: 'return startOf(firstDay(zoned(ms, zone).toPlainDate(), unit).add({',
        replace:
          "if (unit === 'day') return startOf(zoned(ms, zone).toPlainDate(), zone) + 24 * HOUR_MS;\n" +
          '  return startOf(firstDay(zoned(ms, zone).toPlainDate(), unit).add({',
      },
    ],
    test: { file: series, name: 'a day on which clocks change has 23 or 25 hours, or 23 and a half' },
  },
  {
    id: 'hours-keep-their-offset',
    rule: 23,
    bug: 'after clocks were changed hours still begin where they did before',
    edits: [
      { file: calendar, search: 'if (ms >= changesAt) {', replace: 'if (changesAt < 0) {' },
      { file: calendar, search: 'return Math.min(full, changesAt);', replace: 'return full;' },
    ],
    test: {
      file: series,
      name: 'a bucket ends where Postgres’ own time zones show another hour, day, week or month, or another offset',
    },
  },
  {
    id: 'series-of-any-length',
    rule: 23,
    bug: 'hours of seven years are read one by one',
    edits: [{ file: 'modules/reports/use/calendar.ts', search: 'MAX_BUCKETS - 1', replace: 'MAX_BUCKETS * 100' }],
    test: {
      file: questions,
      name: 'what names no window, no zone, or more buckets than are allowed is refused with what to change',
    },
  },
  {
    id: 'licences-are-pages',
    rule: 23,
    bug: 'a licence is listed among the pages that earn most',
    edits: [
      {
        file: 'modules/reports/use/earnings.ts',
        search: "const isOfPages = pagesOnly && groupBy === 'slug';",
        replace: 'const isOfPages = pagesOnly && groupBy === null;',
      },
    ],
    test: {
      file: questions,
      name: 'licences are in no group of pages, and crossings and legs say and filter by what was bought',
    },
  },
  {
    id: 'everybody-is-new',
    rule: 23,
    bug: 'a payer whose purchase was taken back counts as one who came back',
    edits: [
      {
        file: 'modules/reports/store/earnings/crossings.ts',
        search: 'and k.sequence % 2 = 1 and k.at <',
        replace: 'and k.sequence % 2 = 7 and k.at <',
      },
    ],
    test: { file: series, name: 'every breakdown, and the same groups of the window before, are the plain sums of their rows' },
  },
  {
    id: 'sales-of-ours-answer-a-402',
    rule: 23,
    bug: 'a licence, which no gate refused before, counts as an answered 402',
    edits: [
      {
        file: 'modules/settlement/store/recordCrossings.ts',
        search: "entry.verdict = 'paid' and payment.key_id is null",
        replace: "entry.verdict = 'paid' and false",
      },
    ],
    test: {
      file: 'test/integration/history.test.ts',
      name: 'each page was refused with its price before it was sold, and a licence was not',
    },
  },
  {
    id: 'labels-forget-what-answers',
    rule: 23,
    bug: 'the sums by agent do not tell sales that answer a 402 from others',
    edits: [
      {
        file: 'modules/rollups/store/rollups.ts',
        search: `"case when verdict = 'paid' then reason else '' end"`,
        replace: `"''::text"`,
      },
    ],
    test: {
      file: answered,
      name: 'the audit, its groups, its series and the lists of agents and operators count a paid 402 as answered',
    },
  },
  {
    id: 'unverified-money-is-verified',
    rule: 23,
    bug: 'what an agent paid that proved nothing counts as a verified agent’s',
    edits: [
      {
        file: 'modules/rollups/store/rollups.ts',
        search: 'coalesce(sum(count * coalesce(micro, 0)) filter (where verified), 0)::bigint as verified_micro',
        replace: 'sum(count * coalesce(micro, 0))::bigint as verified_micro',
      },
    ],
    test: {
      file: 'test/integration/report-rollups.test.ts',
      name: 'the audit from rollups is the plain aggregate, whatever the rows, windows, filters and groups',
    },
  },
  {
    id: 'authors-share-verified-money',
    rule: 23,
    bug: 'each author of a page is told the whole amount that a verified agent paid',
    edits: [
      {
        file: 'modules/reports/store/audit/observations.ts',
        search: "AS_ROLLED.replaceAll('coalesce(o.micro, 0)'",
        replace: "AS_ROLLED.replace('coalesce(o.micro, 0)'",
      },
    ],
    test: {
      file: 'test/integration/report-api.test.ts',
      name: 'the audit counts verdicts, money, reasons, masquerade and agents, net of what was taken back',
    },
  },
  {
    id: 'sums-of-everybody',
    rule: 23,
    bug: 'the sums of a caller’s sites hold what all sites of the service earned',
    edits: [
      {
        file: 'modules/reports/store/earnings/crossings.ts',
        search: "`tenant_id = span.tenant_id and dimension = 'total'",
        replace: "`dimension = 'total'",
      },
    ],
    test: { file: sites, name: '`viewer` lists the sites of an owner, and what they earned together' },
  },
  {
    id: 'sums-of-whoever-is-named',
    rule: 23,
    bug: 'an owner may add up any site whose id he knows',
    edits: [
      { file: 'graphql/types/sites.ts', search: 'wanted.every((tenantId) => own.includes(tenantId))', replace: 'own.length > 0' },
    ],
    test: { file: sites, name: 'no sum holds anything of a site that is not the caller’s' },
  },
  {
    id: 'links-to-rows-never-end',
    rule: 23,
    bug: 'a link to the rows of a query is good for ever',
    edits: [{ file: 'modules/reports/use/linkTokens.ts', search: ' || claims.exp * 1000 <= clock()', replace: '' }],
    test: { file: rows, name: 'links that ended, were tampered with, or are of something else lead nowhere' },
  },
  {
    id: 'links-to-rows-outlive-their-maker',
    rule: 23,
    bug: 'a link to rows goes on when the token that made it is revoked, or the site is somebody else’s',
    edits: [
      {
        file: 'modules/reports/use/linkTokens.ts',
        search: 'if (!maker?.tenantIds.includes(tenantId)) throw ended;',
        replace: 'void maker;',
      },
    ],
    test: { file: rows, name: 'a link ends with the token that made it, and with the ownership' },
  },
];
