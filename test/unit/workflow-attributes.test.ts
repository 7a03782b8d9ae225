import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { endpointQuery, hostQuery, pairsOf, paymentAttributes, siteKey } from '../../modules/kernel/workflow/attributes.ts';
import { linksInto } from '../../modules/kernel/workflow/links.ts';
import { statusTable } from '../../modules/kernel/workflow/statusTable.ts';
import { outcomesOf, outcomeWord, sumUp } from '../../modules/settlement/rules/batchOutcome.ts';

test('links into the UI of Temporal lead to a workflow or to what a query finds, and there are none while nobody said where it is', () => {
  const { workflow, found } = linksInto({ uiUrl: 'https://temporal.example/', namespace: 'sales' });
  const workflows = 'https://temporal.example/namespaces/sales/workflows';
  expect(workflow('settle:eip155:8453:1')).toBe(`${workflows}/settle%3Aeip155%3A8453%3A1`);
  expect(workflow(null)).toBeNull();
  expect(found(endpointQuery('1'))).toBe(`${workflows}?query=EndpointId%20%3D%20'1'`);
  const nowhere = linksInto({ uiUrl: undefined, namespace: 'sales' });
  expect([nowhere.workflow('settle:1'), nowhere.found(hostQuery('1', 'a.example'))]).toEqual([null, null]);
});

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

test('a batch ends with what became of each payment: what is not named among those that have not settled, has', () => {
  const carried = [
    { paymentId: 'a', state: 'settled', reason: null },
    { paymentId: 'b', state: 'failed', reason: 'insufficient_funds' },
    { paymentId: 'c', state: null, reason: null },
    { paymentId: 'd', state: 'final', reason: null },
    { paymentId: 'e', state: 'review', reason: null },
    { paymentId: 'f', state: 'superseded', reason: null },
  ] as const;
  const { outcome, open, unsettled } = sumUp(carried, '0xaa');
  const reasons = ['insufficient_funds'];
  expect({ outcome, open }).toEqual({
    outcome: { settled: 2, failed: 2, reverted: 1, undecided: 1, reasons, txHash: '0xaa' },
    open: 0,
  });
  expect(unsettled?.map(({ paymentId }) => paymentId)).toEqual(['b', 'c', 'e', 'f']);
  expect(outcomesOf(carried, { open, ...(unsettled && { unsettled }) })).toEqual([
    { paymentId: 'a', became: 'settled' },
    { paymentId: 'b', became: 'failed', reason: 'insufficient_funds' },
    { paymentId: 'c', became: 'returned' },
    { paymentId: 'd', became: 'settled' },
    { paymentId: 'e', became: 'review' },
    { paymentId: 'f', became: 'superseded' },
  ]);
});

test('a look at a batch names no payment while all are sent, and none once all have settled; a look of a former release says nothing', () => {
  const all = (state: 'broadcast' | 'settled') =>
    sumUp(
      [...'abc'].map((paymentId) => ({ paymentId, state, reason: null })),
      null,
    );
  const payments = [{ paymentId: 'a' }];
  expect(all('broadcast')).toEqual({ outcome: expect.objectContaining({ undecided: 3 }), open: 3 });
  expect(outcomesOf(payments, all('broadcast'))).toEqual([{ paymentId: 'a', became: 'sent' }]);
  expect(all('settled')).toMatchObject({ open: 0, unsettled: [] });
  expect(outcomesOf(payments, { open: 0 })).toBeNull();
});

test('what became of a hundred payments takes eleven kilobytes at most', () => {
  const carried = Array.from({ length: 100 }, () => ({
    paymentId: randomUUID(),
    state: 'superseded' as const,
    reason: 'authorization_invalid',
  }));
  expect(JSON.stringify(sumUp(carried, null).unsettled).length).toBeLessThanOrEqual(11_000);
});

test('what others wrote stays text in the table that the UI draws, and what is unknown is left out', () => {
  const table = statusTable({ state: 'waits', why: '[click](https://evil.example) |\n| x', next: null });
  expect(table).toBe(
    ['| | |', '|---|---|', '| state | waits |', '| why | \\[click\\]\\(https://evil.example\\) \\| \\| x |'].join('\n'),
  );
});
