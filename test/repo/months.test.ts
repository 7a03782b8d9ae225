/** What reads money back to its first year names the schema `ledger`, where closed months are; a bare name is what can be written. */
import { expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

const BARE = /\b(?:from|join)\s+(payment_intake|payment_state|payment|crossing|leg|chain_transfer)\b(?!\s*[=.)])/g;
/** These read only what is open or recent, which no closed month holds. */
const RECENT = [
  'modules/reports/store/lists/waiting.ts',
  'modules/receipts/store/bodies.ts',
  'modules/webhooks/store/events.ts',
  'modules/reconciliation/store/chainRounds.ts',
  'modules/reconciliation/store/corrections.ts',
  'modules/reconciliation/store/legReport.ts',
];

test('reports, lists, receipts and what operators find read closed months too', () => {
  const read = readSources(
    /^modules\/((reports|receipts|reconciliation|webhooks)\/store|operations\/store\/finds)\/.*\.ts$|^modules\/(budgets\/store\/spendingList|rollups\/store\/rollups)\.ts$/,
  );
  expect(read.length).toBeGreaterThan(30);
  const bare = read
    .map(({ path, text }) => ({ path, text: text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/ .*$/gm, '') }))
    .filter(({ path, text }) => !RECENT.includes(path) && [...text.matchAll(BARE)].length > 0);
  expect(bare.map(({ path }) => path)).toEqual([]);
});
