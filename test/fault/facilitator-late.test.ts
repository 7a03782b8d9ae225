/** Facilitators whose answers come late, out of order, or never, and many of their batches at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { listOpenFacilitatorBatches } from '../../modules/settlement/store/facilitator.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import type { Answer, TestFacilitator } from '../support/facilitator.ts';
import { clientOf, startFacilitator } from '../support/facilitator.ts';
import { attempt, attemptUntilDecided, mine } from '../support/faults.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let server: TestFacilitator;
beforeAll(async () => {
  server = await startFacilitator();
  const facilitator = clientOf({ url: server.url, statusUrl: server.statusUrl });
  world = await startSettlement({ automine: true, waitMs: 1_000, network: { settler: 'facilitator' }, facilitator });
  await mine(world, 5);
});
afterAll(async () => {
  await server.stop();
  await world.close();
});

/** Makes it due to be asked about, as time would. */
const due = ({ authorization: { nonce } }: ParsedPayment): Promise<unknown> =>
  world.database.query(
    `update facilitator_submission s set due_at = now() from payment p
      where p.tenant_id = s.tenant_id and p.payment_id = s.payment_id and p.nonce = $1`,
    [nonce],
  );

const said = async ({ authorization: { nonce } }: ParsedPayment) => {
  const [row] = await world.database.query<{ said: string | null; reference: string | null; refusals: number }>(
    `select said, reference, refusals from facilitator_submission join payment using (tenant_id, payment_id) where nonce = $1`,
    [nonce],
  );
  return row;
};

test.for([
  ['a refusal', { success: false, errorReason: 'unexpected_settle_error', transaction: '' }],
  ['another id', { success: true, transaction: 'tr_of_another_attempt', network: 'eip155:84532' }],
] as const)(
  '%s of /settle that comes after an id of the facilitator changes nothing: the status of the id decides',
  async ([what, lateJson]) => {
    const terms = termsFor(world, newAuthors(1n), { slug: `late-${what.length}` });
    const payment = await paymentFor(world, await newPayer(world), terms);
    const id = `tr_kept_${what.length}`;
    const late = Promise.withResolvers<Answer>();
    let asked = 0;
    server.settle = () => (asked++ === 0 ? late.promise : { json: { success: true, transaction: id, network: 'eip155:84532' } });
    const open: Answer = { json: { status: 'received', toAddress: terms.payTo, amount: String(terms.priceMicro) } };
    server.status = () => open;
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    for (let round = 0; round < 200 && (await said(payment))?.reference !== id; round += 1) {
      await due(payment);
      await sweepNetwork(world.deps, world.network.id);
      await sleep(20);
    }
    expect(await said(payment)).toMatchObject({ reference: id, refusals: 0 });
    const askedForIt = asked;
    late.resolve({ json: lateJson });
    await sleep(300);
    expect(await said(payment)).toEqual({ said: 'unknown', reference: id, refusals: 0 });
    server.status = (of) =>
      of === id ? { json: { status: 'completed', toAddress: terms.payTo, amount: String(terms.priceMicro) } } : open;
    await due(payment);
    const { receipt } = await attemptUntilDecided(world, terms, payment);
    expect(receipt).toMatchObject({ settlementRef: id, settlementRefKind: 'transferId' });
    expect(asked).toBe(askedForIt);
  },
);

test('of more open batches than one round looks at, each has its turn', async () => {
  await world.database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, nonce)
     select uuidv7(), $1, 'facilitator', 'facilitator', 0 from generate_series(1, 20)`,
    [world.network.id],
  );
  const seen = new Set<string>();
  for (let round = 0; round < 120; round += 1) {
    for (const batchId of await listOpenFacilitatorBatches(world.database, world.network.id, 4)) seen.add(batchId);
  }
  expect(seen.size).toBeGreaterThanOrEqual(20);
  await world.database.query("update settlement_batch set state = 'safe' where kind = 'facilitator'");
});
