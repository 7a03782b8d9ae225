import type { Mutant } from './mutant.ts';

const links = 'test/integration/statement-links.test.ts';
const closed = 'test/integration/closed-months.test.ts';
const integration = 'test/integration/report-pdf.test.ts';
const SUMS = 'rows add up to their total, to the micro';
const ALONE = 'the statement of an author has his part alone';

/** Bugs in what people are handed: statements of sites and of authors. */
export const STATEMENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'anything-signed-is-a-link',
    rule: 25,
    bug: 'what was signed for an offer or a record opens a statement',
    edits: [{ file: 'modules/reports/use/linkTokens.ts', search: 'signed?.did === name', replace: 'signed' }],
    test: { file: links, name: 'a link that has ended, was changed' },
  },
  {
    id: 'links-never-end',
    rule: 25,
    bug: 'a link opens its statement for ever',
    edits: [{ file: 'modules/reports/use/linkTokens.ts', search: ' || claims.exp * 1000 <= clock()', replace: '' }],
    test: { file: links, name: 'a link that has ended, was changed' },
  },
  {
    id: 'links-to-statements-outlive-their-maker',
    rule: 25,
    bug: 'a link to a statement goes on when the token that made it is revoked, or the site is somebody else’s',
    edits: [
      {
        file: 'modules/reports/use/linkTokens.ts',
        search: 'if (!maker?.tenantIds.includes(tenantId)) throw ended;',
        replace: 'void maker;',
      },
    ],
    test: { file: links, name: 'a link ends with the token that made it, and with the ownership' },
  },
  {
    id: 'link-to-the-whole-site',
    rule: 25,
    bug: 'the link of one author opens what the site paid everybody',
    edits: [
      {
        file: 'api/routes/reports/statementLink.ts',
        search: '{ fromMs, toMs, authorId, ',
        replace: '{ fromMs, toMs, authorId: authorId === null ? authorId : null, ',
      },
    ],
    test: { file: links, name: 'a link is one author’s statement' },
  },
  {
    id: 'stolen-key-without-a-successor',
    rule: 13,
    bug: 'the key that signs is retired where no other can sign',
    edits: [
      {
        file: 'modules/operations/use/licenceKeys.ts',
        search: 'if (!next || !isStolen) throw stillSigns(next);\n          await',
        replace: 'if (!isStolen) throw stillSigns(next);\n          if (next) await',
      },
    ],
    test: { file: 'test/integration/licence-keys.test.ts', name: 'a stolen key that is retired' },
  },
  {
    id: 'link-cut-by-the-day-it-is-opened',
    rule: 25,
    bug: 'a link shows a smaller sum when it is opened weeks later',
    edits: [{ file: 'api/routes/reports/statementLink.ts', search: 'isGranted: true', replace: 'isGranted: false' }],
    test: { file: links, name: 'a link shows the whole month' },
  },
  {
    id: 'link-beyond-the-plan',
    rule: 25,
    bug: 'a link opens a month that the plan of its site does not read',
    edits: [
      {
        file: 'modules/reports/use/statementLinks.ts',
        search: 'if (clampedToMs === null) return;',
        replace: 'if (clampedToMs !== 0) return;',
      },
    ],
    test: { file: links, name: 'a link shows the whole month' },
  },
  {
    id: 'words-of-anybodys-link',
    rule: 25,
    bug: 'a page of ours shows what a link says of itself that we never signed',
    edits: [
      {
        file: 'api/linkPages.ts',
        search: 'if (answer?.ok) {\n    const',
        replace: "document.querySelector('main p').textContent = said?.sub;\n  if (answer?.ok) {\n    const",
      },
    ],
    test: { file: 'test/unit/link-pages.test.ts', name: 'nothing of a link' },
  },
  {
    id: 'month-by-another-calendar',
    rule: 25,
    bug: 'a statement of a month begins and ends by the clock of UTC',
    edits: [
      {
        file: 'modules/reports/use/statementLinks.ts',
        search: 'monthNamed(month, timeZone)',
        replace: "monthNamed(month, timeZone && 'UTC')",
      },
    ],
    test: { file: links, name: 'a link is one author’s statement' },
  },
  {
    id: 'renamed-in-months-that-are-over',
    rule: 10,
    bug: 'an author who is renamed has the new name in a month that is over, whose statement knows nobody of that name',
    edits: [
      {
        file: 'modules/reports/store/earnings/authors.ts',
        search: 'author_id is not null and at < ',
        replace: 'author_id is not null and at <> ',
      },
    ],
    test: { file: links, name: 'an author who is renamed keeps the former name' },
  },
  {
    id: 'links-of-a-suspended-site',
    rule: 25,
    bug: 'links go on opening statements of a site that was suspended',
    edits: [
      { file: 'modules/reports/use/linkTokens.ts', search: "site.status !== 'active'", replace: "site.status === 'closed'" },
    ],
    test: { file: links, name: 'the links of a site have one file at a time' },
  },
  {
    id: 'correction-in-the-month-of-its-sale',
    rule: 5,
    bug: 'what is corrected changes the statements of a month that is over',
    edits: [{ file: 'modules/settlement/store/ledgerTime.ts', search: '} = 0 and ', replace: '} >= 0 and ' }],
    test: { file: closed, name: 'a sale decided within the hour counts' },
  },
  {
    id: 'flush-in-the-month-of-its-sale',
    rule: 5,
    bug: 'what a payout of others corrects changes the statements of a month that is over',
    edits: [
      { file: 'modules/reconciliation/store/corrections.ts', search: "ledgerTime('next.step', 'old.at')", replace: "'old.at'" },
    ],
    test: { file: closed, name: 'a month that is over keeps its statements' },
  },
  {
    id: 'late-sale-in-its-own-month',
    rule: 5,
    bug: 'a sale decided days later changes the statements of a month that is over',
    edits: [{ file: 'modules/settlement/store/ledgerTime.ts', search: "interval '1 hour'", replace: "interval '1 year'" }],
    test: { file: closed, name: 'a sale decided within the hour counts' },
  },
  {
    id: 'author-sums-without-corrections',
    rule: 25,
    bug: 'an author’s statement counts a sale that was taken back as one more',
    edits: [
      {
        file: 'modules/reports/store/earnings/references.ts',
        search: 'l.share, l.at, sign(c.micro)::int as sign',
        replace: 'l.share, l.at, 1 as sign',
      },
    ],
    test: { file: integration, name: ALONE },
  },
  {
    id: 'reconciled-by-the-time-of-rows',
    rule: 10,
    bug: 'a sale that was taken back in another month is outstanding for ever',
    edits: [
      {
        file: 'modules/reconciliation/store/legReport.ts',
        search: '$1 and sequence % 2 = 1',
        replace: '$1 and sequence % 2 = 7',
      },
    ],
    test: { file: closed, name: 'reconciliation of a month takes a sale with its corrections' },
  },
  {
    id: 'csv-of-an-author-has-everybody',
    rule: 25,
    bug: 'the CSV of one author has what their sales paid the others',
    edits: [
      {
        file: 'modules/reports/store/earnings/exportLegs.ts',
        search: "return named === '' ? 'false' :",
        replace: "return named.length >= 0 ? 'true' :",
      },
    ],
    test: { file: 'test/integration/report-exports.test.ts', name: 'a CSV has exactly the rows of its filters' },
  },
  {
    id: 'statement-of-every-author',
    rule: 25,
    bug: 'an author is handed what sales paid everybody',
    edits: [
      {
        file: 'modules/reports/store/earnings/references.ts',
        search: 'and l.author_id = $',
        replace: "and '' <> $",
      },
    ],
    test: { file: integration, name: ALONE },
  },
  {
    id: 'transactions-in-full',
    rule: 25,
    bug: 'a transaction of an author’s statement shows what all authors of the sale were paid',
    edits: [
      {
        file: 'modules/reports/use/statement/read.ts',
        search: 'listSettledSales(sql, { tenantId, authorId }',
        replace: 'listSettledSales(sql, { tenantId, authorId: null }',
      },
    ],
    test: { file: integration, name: ALONE },
  },
  {
    id: 'licences-are-in-no-line',
    rule: 23,
    bug: 'licences stand in the total of pages and in no line',
    edits: [
      {
        file: 'modules/reports/use/statement/document.ts',
        search: '...(licences.count === 0 ? [] : [row(',
        replace: '...(licences.count >= 0 ? [] : [row(',
      },
    ],
    test: { file: integration, name: SUMS },
  },
  {
    id: 'taken-back-in-no-line',
    rule: 23,
    bug: 'a summary says that was sold what is left after corrections, and takes them off once more',
    edits: [
      {
        file: 'modules/reports/use/statement/document.ts',
        search: 'totals.grossMicro + corrections.micro',
        replace: 'totals.grossMicro',
      },
    ],
    test: { file: integration, name: 'what was taken back stands in the summary' },
  },
  {
    id: 'what-is-cut-is-lost',
    rule: 23,
    bug: 'lines that a table has no room for are in its total and in no line',
    edits: [
      {
        file: 'modules/reports/use/statement/document.ts',
        search: 'return list.rest === 0 ? []',
        replace: 'return list.rest >= 0 ? []',
      },
    ],
    test: { file: integration, name: 'the PDF of more authors than it has lines' },
  },
];
