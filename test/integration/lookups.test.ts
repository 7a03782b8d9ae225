/** How often one payment asks whether its authorization is known: once before its row, once more when somebody was quicker. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { attempt, mine, submitAlone } from '../support/faults.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
/** What was asked of the ledger, in order. */
let asked: ('known?' | 'row')[] = [];
beforeAll(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50 });
  await mine(world, 5);
});
beforeEach(() => {
  asked = [];
});
afterAll(() => world.close());

/** The world as seen by a caller whose statements are noted, with a clock of its own. */
function noting(offsetMs = 0): SettlementWorld {
  const over = (sql: Sql): Sql => ({
    query: (statement, ...rest) => {
      if (/join authorization_claim|from authorization_claim/.test(statement)) asked.push('known?');
      if (statement.includes('insert into payment_intake')) asked.push('row');
      return sql.query(statement, ...rest);
    },
  });
  const { database } = world;
  const transaction: Database['transaction'] = (work, isolation) => database.transaction((sql) => work(over(sql)), isolation);
  const shortTransaction: Database['shortTransaction'] = (work) => database.shortTransaction((sql) => work(over(sql)));
  const noted: Database = { ...database, ...over(database), transaction, shortTransaction };
  return { ...world, settleDeps: { ...world.settleDeps, database: noted, now: () => Date.now() + offsetMs } };
}

test('a new payment is looked up once before its row; what became of it is read once more when it is still undecided', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'new' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(noting(), terms, payment)).code).toBe('settlement_pending');
  expect(asked).toEqual(['known?', 'row', 'known?']);
});

test('a payment that we hold is looked up once before its answer, when its time is over, too', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'held' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  for (const offsetMs of [0, 0, 40_000_000]) {
    asked = [];
    expect((await attempt(noting(offsetMs), terms, payment)).code).toBe('settlement_pending');
  }
  expect(asked).toEqual(['known?', 'known?']);
});

test('one that does not fit is looked up once, one whose nonce was used elsewhere twice, and neither gets a row', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'strange' });
  const payer = await newPayer(world);
  const late = await paymentFor(world, payer, terms, { validBefore: 1n });
  expect((await attempt(noting(), terms, late)).code).toBe('authorization_invalid');
  expect(asked).toEqual(['known?']);
  const used = await paymentFor(world, payer, terms);
  await submitAlone(world, used);
  asked = [];
  expect((await attempt(noting(), terms, used)).code).toBe('authorization_invalid');
  expect(asked).toEqual(['known?', 'known?']);
});
