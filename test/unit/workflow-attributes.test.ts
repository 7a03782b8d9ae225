import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { pairsOf, paymentAttributes, siteKey } from '../../modules/kernel/workflow/attributes.ts';
import { statusTable } from '../../modules/kernel/workflow/statusTable.ts';
import { outcomeWord } from '../../modules/settlement/rules/batchOutcome.ts';

/** `limit.searchAttributesSizeOfValue` of a Temporal server that nobody configured. */
const VALUE_LIMIT = 2_048;

test('a batch of a hundred payments of a hundred sites is found by each of them, within the size that Temporal takes', () => {
  const payments = Array.from({ length: 100 }, () => ({ tenantId: randomUUID(), paymentId: randomUUID() }));
  const pairs = pairsOf({ ...paymentAttributes('eip155:8453', payments), TxHash: null });
  const values = Object.fromEntries(pairs.map(({ key, value }) => [key.name, value]));
  expect(pairs.map(({ key }) => key.name)).not.toContain('TxHash');
  const found = [...(values['PaymentIds'] ?? []), ...(values['PaymentIds2'] ?? [])];
  expect(found).toEqual(payments.map(({ paymentId }) => paymentId));
  expect(values['SiteIds']).toEqual(payments.map(({ tenantId }) => siteKey(tenantId)));
  for (const value of Object.values(values)) expect(JSON.stringify(value).length).toBeLessThanOrEqual(VALUE_LIMIT);
});

test.for([
  [{ settled: 2, failed: 0, reverted: 0, undecided: 0 }, 'settled'],
  [{ settled: 0, failed: 2, reverted: 0, undecided: 0 }, 'failed'],
  [{ settled: 1, failed: 1, reverted: 0, undecided: 0 }, 'partly_failed'],
  [{ settled: 0, failed: 1, reverted: 1, undecided: 0 }, 'partly_failed'],
  [{ settled: 0, failed: 0, reverted: 2, undecided: 0 }, 'reverted'],
  [{ settled: 1, failed: 1, reverted: 0, undecided: 1 }, 'undecided'],
] as const)('%j is %s', ([counts, word]) => {
  expect(outcomeWord({ ...counts, reasons: [], txHash: null })).toBe(word);
});

test('what others wrote stays text in the table that the UI draws, and what is unknown is left out', () => {
  const table = statusTable({ state: 'waits', why: '[click](https://evil.example) |\n| x', next: null });
  expect(table).toBe(
    ['| | |', '|---|---|', '| state | waits |', '| why | \\[click\\]\\(https://evil.example\\) \\| \\| x |'].join('\n'),
  );
});
