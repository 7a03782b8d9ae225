/** Who may have what a payment bought that a restore lost the row of: its signature is public, so that everybody can show it (ADR 0018). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { freezeOffer } from '../../modules/licences/store/offers.ts';
import { LOST_HONOURED_HOURS } from '../../modules/settlement/rules/firstLook.ts';
import { findLost, listLost, recordLost } from '../../modules/settlement/store/lostSettlements.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { receiptOf } from '../../platform/chain/evidence/receipts.ts';
import { mine, submitAlone } from '../support/faults.ts';
import { addressOf } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';
import { query } from '../support/sql.ts';

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement();
});
afterAll(() => world.close());

const HOURS = LOST_HONOURED_HOURS;
const keyOf = ({ authorization: { from: payer, nonce } }: ParsedPayment) => {
  const { id: network, asset } = world.network;
  return { network, asset, payer, nonce };
};

async function newSite(): Promise<string> {
  const tenantId = randomUUID();
  await world.database.query(
    "insert into tenant (tenant_id, status, plan, price_usdc) values ($1, 'active', 'studio', '0.001')",
    [tenantId],
  );
  return tenantId;
}

/** A payment that the chain has and no row tells of, in a block of this moment. */
async function moveUnseen(terms: Terms) {
  const payment = await paymentFor(world, await newPayer(world), terms);
  const txHash = await submitAlone(world, payment);
  const blockNumber = (await receiptOf(world.rpc, txHash))?.blockNumber ?? 0n;
  await mine(world, 3);
  return { payment, txHash, blockNumber, blockTime: new Date() };
}

/** Stores it as `admin recover` does. */
async function recordAs(terms: Terms, { payment, ...moved }: Awaited<ReturnType<typeof moveUnseen>>): Promise<void> {
  const { payTo, priceMicro: amountMicro } = terms;
  const relayer = { relayer: addressOf(await newPayer(world)), relayerNonce: 0n };
  await recordLost(world.database, [{ ...keyOf(payment), ...moved, ...relayer, payTo, amountMicro, legs: [] }]);
}

async function lose(terms: Terms) {
  const moved = await moveUnseen(terms);
  await recordAs(terms, moved);
  return moved;
}

const show = async (...[terms, payment, changes]: [Terms, ParsedPayment, Parameters<typeof pay>[3]?]): Promise<string> => {
  try {
    return (await pay(world, terms, payment, changes)).settlementRef ?? 'no transaction';
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
};

test('a lost payment is honoured at the site that sold under its recipient before, and not at one that names the recipient since', async () => {
  const authors = newAuthors(1n);
  const ours = termsFor(world, authors, { slug: 'ours' });
  const theirs = { ...termsFor(world, authors, { slug: 'theirs' }), tenantId: await newSite() };
  const sale = async (terms: Terms, mode: 'live' | 'mock') =>
    show(terms, await paymentFor(world, await newPayer(world), terms), { mode });
  expect(await sale(ours, 'live')).toMatch(/^0x/);
  await sale(theirs, 'mock'); // costs nothing
  const moved = await moveUnseen(ours);
  expect(await sale(theirs, 'live')).toMatch(/^0x/); // bought from itself, after the ledger was restored
  await recordAs(ours, moved);

  expect(await show(theirs, moved.payment)).toBe('authorization_invalid');
  expect(await show(ours, moved.payment)).toBe(moved.txHash);
});

test('a lost payment to a recipient that no restored row names is honoured at the site it is shown for, once', async () => {
  const authors = newAuthors(1n);
  const terms = termsFor(world, authors, { slug: 'first' });
  const { payment, txHash } = await lose(terms);
  expect(await show(terms, payment)).toBe(txHash);
  expect(await show({ ...terms, tenantId: await newSite() }, payment)).toBe('authorization_invalid');
});

test('a day after a lost payment was found it is refused, and stays listed', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'late' });
  const { payment } = await lose(terms);
  const foundAgo = (minutes: number) =>
    query(world.ownerUrl, "update lost_settlement set found_at = now() - $1 * interval '1 minute' where nonce = $2", [
      minutes,
      payment.authorization.nonce,
    ]);
  const claimant = { tenantId: terms.tenantId, accountId: null };
  await foundAgo(HOURS * 60 - 1);
  expect(await findLost(world.database, keyOf(payment), claimant, HOURS)).not.toBeNull();
  await foundAgo(HOURS * 60 + 1);
  expect(await show(terms, payment)).toBe('authorization_invalid');
  const listed = await listLost(world.database, world.network.id, 100);
  expect(listed.map(({ nonce }) => nonce)).toContain(payment.authorization.nonce);
});

test('a lost payment buys a licence for the account of the wallet that paid, and for no other', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'licence' });
  const { payment, txHash } = await lose(terms);
  /** An account with an offer of this price. */
  const buyer = async (wallet: Address | null) => {
    const [accountId, offerId] = [randomUUID(), randomUUID()];
    await world.database.query('insert into buyer_account (account_id, wallet) values ($1, $2)', [accountId, wallet]);
    const { tenantId, host, kind, priceMicro, legs, legWords, payTo, network, asset, router } = terms;
    const sold = { tenantId, host, kind, priceMicro, legs, legWords, payTo, network, asset, router };
    const asked = { requestHash: 'hash', patterns: ['/articles/*'], terms: ['ai-input'], pageCount: 1, holder: null };
    const [periodFrom, periodUntil] = [new Date(), new Date(Date.now() + 86_400_000)];
    await freezeOffer(
      world.database,
      { offerId, accountId, ...sold, ...asked, periodFrom, periodUntil, expiresAt: periodUntil },
      [{ path: '/articles/licence', slug: 'licence', micro: priceMicro }],
    );
    return { purchase: { accountId, offerId } };
  };
  const stranger = addressOf(await newPayer(world));
  expect(await show(terms, payment, await buyer(stranger))).toBe('authorization_invalid');
  expect(await show(terms, payment, await buyer(null))).toBe('authorization_invalid');
  expect(await show(terms, payment, await buyer(payment.authorization.from))).toBe(txHash);
});
