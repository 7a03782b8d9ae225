import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAYMENTS_DOCUMENT } from '../../console/screens/earnings/document.ts';
import { PAYMENT_DOCUMENT } from '../../console/screens/payments/document.ts';
import type { LedgerEntry } from '../../console/screens/payments/words.ts';
import { reversedAt } from '../../console/screens/payments/words.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
beforeAll(async () => {
  graph = await startTestGraphql();
});
afterAll(() => graph?.stop());

test('a sale that was taken back stays among the payments of its window, and says when; one that settled again is a sale', async () => {
  const site = await graph.api.site();
  const atMs = Date.now() - 3 * 86_400_000;
  const legs = [{ toAddress: `0x${'a1'.repeat(20)}`, amountMicro: 1_000, authorId: 'ann' }];
  const sale = { tenantId: site.tenantId, host: site.host, slug: 'solo', kind: 'read', legs } as const;
  const ids = await insertPurchases(graph.api.deps.database, [
    { ...sale, steps: 1, atMs },
    { ...sale, steps: 2, atMs: atMs + 1 },
    { ...sale, steps: 3, atMs: atMs + 2 },
  ]);
  const ask = async (query: string, variables: Record<string, unknown>) => {
    const { data, errors } = await graph.ask(site.key, query, { tenantId: null, ...variables });
    expect(errors).toEqual([]);
    return data.tenant;
  };
  const { nodes } = (await ask(PAYMENTS_DOCUMENT, { filter: { window: { lastHours: 1 } }, orderBy: 'NEWEST' })).payments;
  const listed = nodes as readonly { readonly paymentId: string; readonly crossings: readonly LedgerEntry[] }[];
  const reversals = new Map(listed.map(({ paymentId, crossings }) => [paymentId, reversedAt(crossings)]));
  expect(ids.map((id) => reversals.get(id))).toEqual([null, expect.any(Number), null]);
  const reversed = Number(reversals.get(ids[1] ?? ''));
  expect(Math.abs(Date.now() - reversed)).toBeLessThan(600_000); // today, not with the sale
  const { payment } = await ask(PAYMENT_DOCUMENT, { paymentId: ids[1] });
  expect(payment.crossings.map(({ micro }: { micro: string }) => micro).toSorted()).toEqual(['-1000', '1000']);
  expect([reversedAt(payment.crossings), payment.answer]).toEqual([reversed, null]);
});

test('the owner sees of a payment whether its page was lost, served again, and that its buyer holds another one than was sent', async () => {
  const site = await graph.api.site();
  const legs = [{ toAddress: `0x${'a1'.repeat(20)}`, amountMicro: 1_000, authorId: 'ann' }];
  const sale = {
    tenantId: site.tenantId,
    host: site.host,
    slug: 'solo',
    kind: 'read',
    legs,
    steps: 1,
    atMs: Date.now() - 60_000,
  } as const;
  const { database } = graph.api.deps;
  const [paymentId = ''] = await insertPurchases(database, [sale]);
  await database.query(
    `insert into page_answer (tenant_id, payment_id, sha256, bytes, answered_at, outcome, lost_at, again_count, held_sha256, held_signature, held_at)
     values ($1, $2, $3, 10, now(), 'delivered', now(), 1, $4, $3, now())`,
    [site.tenantId, paymentId, Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
  );
  const ofOwner = await graph.ask(site.key, PAYMENT_DOCUMENT, { tenantId: null, paymentId });
  expect([ofOwner.errors, ofOwner.data.tenant.payment.answer]).toEqual([
    [],
    { outcome: 'DELIVERED', lostAt: expect.any(Number), servedAgain: 1, heldSha256: '02'.repeat(32), isHeldAsSent: false },
  ]);
  const other = await graph.api.site();
  expect((await graph.ask(other.key, PAYMENT_DOCUMENT, { tenantId: null, paymentId })).data.tenant.payment).toBeNull();
});
