import type { Mutant } from './mutant.ts';

const integration = 'test/integration/report-pdf.test.ts';
const SUMS = 'rows add up to their total, to the micro';
const ALONE = 'the statement of an author has his part alone';

/** Bugs in what people are handed: statements of sites and of authors. */
export const STATEMENT_MUTANTS: readonly Mutant[] = [
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
