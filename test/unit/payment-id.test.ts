import { expect, test } from 'vitest';
import { newPaymentId } from '../../modules/settlement/use/accept/paymentId.ts';

test('ids of payments are UUIDs of version 7: later ones sort later, and no two are alike', () => {
  const ids = [1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000, 9_999_999_999_999].map(newPaymentId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(Array.from({ length: 100 }, () => newPaymentId(1))).size).toBe(100);
});
