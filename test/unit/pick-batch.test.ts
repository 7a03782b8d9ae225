import { expect, test } from 'vitest';
import { expectedWaitMs } from '../../modules/settlement/rules/expectedWait.ts';
import {
  NEW_PAYER,
  PLAIN_SENT_LIMIT,
  payerRoom,
  STRIKE_LIMIT,
  UNDECIDED_LIMIT,
} from '../../modules/settlement/rules/payerLimits.ts';
import type { PickRules, WaitingPayment } from '../../modules/settlement/rules/pickBatch.ts';
import { pickBatch } from '../../modules/settlement/rules/pickBatch.ts';
import { openRoom } from '../../platform/chain/calls/calldata.ts';
import { MAX_BATCH_GAS } from '../../platform/chain/gas/gas.ts';

const rules: PickRules = { openRoom, payerRoom: ({ payerKind }) => payerRoom(payerKind, NEW_PAYER), last: null };
let made = 0;
/** A payment that waits, each a moment after the one before it. */
function waits(tenantId: string, changes: Partial<WaitingPayment> = {}): WaitingPayment {
  made += 1;
  return {
    tenantId,
    paymentId: `pay_${made}`,
    payer: `payer_${made}`,
    payTo: `page_${made}`,
    payerKind: 'plain',
    router: 'router',
    legs: 1,
    signatureBytes: 65,
    attempts: 0,
    batchSize: null,
    acceptedAtMs: made,
    ...changes,
  };
}
const many = (count: number, tenantId: string, changes: Partial<WaitingPayment> = {}): WaitingPayment[] =>
  Array.from({ length: count }, () => waits(tenantId, changes));
const countOf = (picked: readonly WaitingPayment[], tenantId: string) => picked.filter((one) => one.tenantId === tenantId).length;

test('a site with a small payment is in the next batch, however many large ones of others came before it', () => {
  const large = Array.from({ length: 20 }, (_, site) => many(20, `large-${site}`, { legs: 50 })).flat();
  const small = waits('small');
  const { picked, left } = pickBatch([...large, small], rules);
  expect(picked).toContain(small);
  expect(picked[0]).toBe(large[0]);
  expect(left).toHaveLength(large.length + 1 - picked.length);
});

test('two sites with work share a batch by gas, whoever came first', () => {
  const { picked } = pickBatch([...many(200, 'first'), ...many(200, 'second')], rules);
  expect(picked.length).toBeGreaterThan(90);
  expect(Math.abs(countOf(picked, 'first') - countOf(picked, 'second'))).toBeLessThanOrEqual(2);
  const mixed = pickBatch([...many(50, 'large', { legs: 50 }), ...many(200, 'small')], rules).picked;
  expect(countOf(mixed, 'large')).toBeGreaterThanOrEqual(2);
  expect(countOf(mixed, 'small')).toBeGreaterThanOrEqual(40);
});

test('a site alone has the whole batch, its oldest payments first, and those of one page share its cost', () => {
  const work = many(120, 'alone', { legs: 50, payTo: 'one page' });
  expect(pickBatch(work.toReversed(), rules).picked.slice(0, 60)).toEqual(work.slice(0, 60));
  expect(pickBatch(work, rules).picked.length).toBeGreaterThan(60);
});

test('what does not fit is skipped, and keeps nothing behind it waiting', () => {
  const filled = many(5, 'alone', { legs: 50 });
  const [tooLarge, fits] = [waits('alone', { legs: 50 }), waits('alone')];
  const { picked, left } = pickBatch([...filled, tooLarge, fits], rules);
  expect(picked).toEqual([...filled, fits]);
  expect(left).toEqual([tooLarge]);
});

test('a batch in vain is halved, and then each payment of it goes alone', () => {
  const once = many(22, 'site', { attempts: 1, batchSize: 22 });
  const { picked, left } = pickBatch([...once, waits('site')], rules);
  expect(picked).toEqual(once.slice(0, 11));
  expect(left).toHaveLength(12);
  const twice = many(3, 'site', { attempts: 2, batchSize: 11 });
  expect(pickBatch([...twice, waits('site')], rules).picked).toEqual([twice[0]]);
  expect(pickBatch(many(2, 'site', { attempts: 1, batchSize: 1 }), rules).picked).toHaveLength(1);
  const [fresh, later] = [waits('site'), waits('site', { attempts: 2, batchSize: 2 })];
  expect(pickBatch([fresh, later], rules).picked).toEqual([fresh]);
});

test('a batch is of one payer kind and router, and kinds take turns, so that none keeps another waiting', () => {
  const contract = many(40, 'flood', { payerKind: 'contract' });
  const plain = waits('honest');
  const first = pickBatch([...contract, plain], rules).picked;
  expect(new Set(first.map(({ payerKind }) => payerKind))).toEqual(new Set(['contract']));
  expect(pickBatch([...contract, plain], { ...rules, last: { payerKind: 'contract', router: 'router' } }).picked).toEqual([
    plain,
  ]);
  expect(pickBatch([plain], { ...rules, last: plain }).picked).toEqual([plain]);
  expect(pickBatch([waits('a', { router: 'older' }), waits('a')], rules).picked).toHaveLength(1);
});

test('a wallet of code has no more on its way than its limit, and the others go on', () => {
  const greedy = many(10, 'site', { payerKind: 'contract', payer: 'wallet' });
  const other = waits('site', { payerKind: 'contract' });
  const { picked, left } = pickBatch([...greedy, other], rules);
  expect(picked).toEqual([...greedy.slice(0, UNDECIDED_LIMIT), other]);
  expect(left).toEqual([]);
  expect(pickBatch(greedy.slice(2), { ...rules, taken: greedy.slice(0, 2) }).picked).toEqual([greedy[2]]);
});

test('what a payer may have on its way ends with the strikes it has left', () => {
  expect(payerRoom('contract', NEW_PAYER)).toBe(UNDECIDED_LIMIT);
  expect(payerRoom('contract', { strikes: 0, sent: 2 })).toBe(1);
  expect(payerRoom('contract', { strikes: STRIKE_LIMIT - 1, sent: 0 })).toBe(1);
  expect(payerRoom('contract', { strikes: STRIKE_LIMIT - 1, sent: 1 })).toBe(0);
  expect(payerRoom('plain', { strikes: STRIKE_LIMIT, sent: 0 })).toBe(0);
  expect(payerRoom('plain', { strikes: STRIKE_LIMIT - 1, sent: PLAIN_SENT_LIMIT - 2 })).toBe(2);
  expect(payerRoom('plain', { strikes: 0, sent: PLAIN_SENT_LIMIT + 5 })).toBe(0);
});

test('a batch that is filled up counts what is in it, and nothing waiting is no batch', () => {
  const taken = many(5, 'site', { legs: 50 });
  expect(pickBatch([waits('site', { legs: 50 })], { ...rules, taken }).picked).toEqual([]);
  expect(pickBatch([], rules)).toEqual({ picked: [], left: [] });
});

test('a site waits for its own work and its turns, not for what another has beyond them', () => {
  const idle = { openBatches: 0, inFlightLimit: 4, keys: 1, ownGas: 120_000n, othersGas: 0n };
  expect(expectedWaitMs(idle, MAX_BATCH_GAS, 2_000)).toBe(20);
  expect(expectedWaitMs({ ...idle, othersGas: 120_000n }, MAX_BATCH_GAS, 2_000)).toBe(40);
  expect(expectedWaitMs({ ...idle, openBatches: 4 }, MAX_BATCH_GAS, 2_000)).toBe(2_020);
  expect(expectedWaitMs({ ...idle, ownGas: 60_000_000n }, MAX_BATCH_GAS, 2_000)).toBe(10_000);
  expect(expectedWaitMs({ ...idle, ownGas: 60_000_000n, keys: 2 }, MAX_BATCH_GAS, 2_000)).toBe(5_000);
});
