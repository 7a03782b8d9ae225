import type { Mutant } from './mutant.ts';

const rated = 'test/integration/graphql-rates.test.ts';
const shared = 'test/integration/graphql-connections.test.ts';
const points = 'test/unit/query-points.test.ts';

/** Bugs around what questions count for, and what of the database one site has at once. */
export const QUERY_RATE_MUTANTS: readonly Mutant[] = [
  {
    id: 'questions-cost-alike',
    rule: 10,
    bug: 'the dearest query counts for no more than the smallest',
    edits: [
      {
        file: 'modules/kernel/rate.ts',
        search: 'Math.max(COSTS.heavy, Math.ceil(cost / QUERY_COST_OF_A_POINT))',
        replace: 'COSTS.heavy + 0 * cost',
      },
    ],
    test: { file: points, name: 'the dearest legal query takes a second of a key’s rate' },
  },
  {
    id: 'questions-cost-nothing-afterwards',
    rule: 10,
    bug: 'what a query was measured at is not taken from its caller',
    edits: [
      {
        file: 'graphql/request/handler.ts',
        search: 'deps.rates?.queue(questions, queryPoints(answer.cost ?? 0) - COSTS.heavy, Number.POSITIVE_INFINITY);',
        replace: '',
      },
    ],
    test: { file: rated, name: 'after the dearest query the keys of its site ask the next in time' },
  },
  {
    id: 'debts-are-forgiven',
    rule: 10,
    bug: 'a bucket that does not hold what a query came to is left as it is',
    edits: [
      {
        file: 'graphql/request/handler.ts',
        search: '- COSTS.heavy, Number.POSITIVE_INFINITY);',
        replace: '- COSTS.heavy, 0);',
      },
    ],
    test: { file: rated, name: 'who asked dear queries side by side owes what they came to' },
  },
  {
    id: 'who-waited-is-let-through',
    rule: 10,
    bug: 'what waits for a turn is asked whatever became of its points meanwhile',
    edits: [{ file: 'graphql/request/handler.ts', search: '    deps.rates?.count([questions], COSTS.heavy);\n', replace: '' }],
    test: { file: rated, name: 'of many dear queries at once no more are answered than may run side by side' },
  },
  {
    id: 'documents-cost-as-files',
    rule: 10,
    bug: 'a document, which is drawn, counts for no more than rows that are sent',
    edits: [{ file: 'api/routes/reports/exportPdf.ts', search: "cost: 'document'", replace: "cost: 'file'" }],
    test: { file: 'test/integration/rates.test.ts', name: 'a statement as PDF counts for more than a CSV does' },
  },
  {
    id: 'each-key-asks-for-itself',
    rule: 10,
    bug: 'a site asks as many dear queries as it has keys',
    edits: [
      {
        file: 'graphql/request/context.ts',
        search: 'key ? siteName(key.tenantId) : owner',
        replace: 'key ? siteName(key.keyId) : owner',
      },
    ],
    test: { file: rated, name: 'after the dearest query the keys of its site ask the next in time' },
  },
  {
    id: 'console-refuses-at-once',
    rule: 10,
    bug: 'the console writes each refusal by a rate at once, as often as it is asked',
    edits: [
      {
        file: 'api/console/handler.ts',
        search: "tellInTime(response, error, () => sendError(deps, { request, response }, error, 'plain'));",
        replace: "sendError(deps, { request, response }, error, 'plain');",
      },
    ],
    test: { file: rated, name: 'an owner’s questions count for the owner in whatever session' },
  },
  {
    id: 'one-site-holds-every-connection',
    rule: 10,
    bug: 'the fields of one query may hold every connection that questions read through',
    edits: [{ file: 'graphql/request/connections.ts', search: 'mostOfOne: Math.ceil(max / 2)', replace: 'mostOfOne: max' }],
    test: { file: shared, name: 'a site whose query is blocked holds one of two connections' },
  },
  {
    id: 'given-up-and-still-asked',
    rule: 10,
    bug: 'statements of a query that was given up are still sent, one after another',
    edits: [
      { file: 'graphql/request/connections.ts', search: '        if (budget.refusal) throw budget.refusal;\n', replace: '' },
    ],
    test: { file: shared, name: 'what waits for its turn when its query is given up' },
  },
];
