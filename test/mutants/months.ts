import type { Mutant } from './mutant.ts';

const MONTHS = 'test/integration/months.test.ts';
const REPEATS = 'test/integration/months-repeats.test.ts';
const ATTACKS = 'test/integration/months-attacks.test.ts';
const STATEMENTS = 'modules/operations/store/months/closing.ts';

/** Bugs of months that close: money that is lost to a reader, moved too soon, or charged again. */
export const MONTH_MUTANTS: readonly Mutant[] = [
  {
    id: 'month-closes-too-soon',
    rule: 22,
    bug: 'a month closes while its payments may still do something',
    edits: [
      { file: 'modules/kernel/time/months.ts', search: 'toMs + CLOSES_AFTER_DAYS * DAY_MS <= nowMs', replace: 'toMs <= nowMs' },
    ],
    test: { file: MONTHS, name: 'a month that ended less than 400 days ago is not closed' },
  },
  {
    id: 'month-detached-too-soon',
    rule: 22,
    bug: 'a month that a plan reads is detached',
    edits: [
      { file: 'modules/kernel/time/months.ts', search: 'toMs + DETACHES_AFTER_DAYS * DAY_MS <= nowMs', replace: 'toMs <= nowMs' },
    ],
    test: { file: MONTHS, name: 'one that a plan reads is not' },
  },
  {
    id: 'month-takes-watched',
    rule: 3,
    bug: 'a payment that is watched leaves with its month',
    edits: [{ file: STATEMENTS, search: "('s')} and i.at >= $2", replace: "('s')} is null and i.at >= $2" }],
    test: { file: MONTHS, name: 'a payment that' },
  },
  {
    id: 'month-takes-settled',
    rule: 3,
    bug: 'a payment that is not final leaves with its month',
    edits: [{ file: STATEMENTS, search: "state !== 'settled' && !OPEN_STATES", replace: '!OPEN_STATES' }],
    test: { file: MONTHS, name: 'a payment that' },
  },
  {
    id: 'month-attached-unseen',
    rule: 5,
    bug: 'a month comes back with other rows than it had',
    edits: [
      {
        file: 'modules/operations/use/months.ts',
        search: 'if (!checked.isRight) throw',
        replace: 'if (checked.month === "") throw',
      },
    ],
    test: { file: MONTHS, name: 'is detached and attached again' },
  },
  {
    id: 'month-rollups-forget',
    rule: 22,
    bug: 'rollups written anew lose the sums of a month that is detached',
    edits: [
      {
        file: 'modules/reports/store/rollupCheck.ts',
        search: "table: 'crossing_day',\n    isDetached: true,",
        replace: "table: 'crossing_day',",
      },
    ],
    test: { file: MONTHS, name: 'is detached and attached again' },
  },
  {
    id: 'month-locks-for-a-sale',
    rule: 22,
    bug: 'each sale locks every closed month',
    edits: [
      {
        file: 'db/migrations/0005_licences.sql',
        search: 'then\n    if not exists (select from archive.payment_intake as i',
        replace:
          'and not exists (select from archive.payment_intake as i where i.payment_id = new.payment_id) then\n    if not exists (select from archive.payment_intake as i',
      },
    ],
    test: { file: ATTACKS, name: 'a sale takes no lock of a closed month' },
  },
  {
    id: 'month-transfer-twice',
    rule: 1,
    bug: 'a transfer of a closed month that is read again counts twice',
    edits: [
      {
        file: 'modules/settlement/store/transfers.ts',
        search: 'or not archive.has_transfer(read.network, read.hash, read.place)',
        replace: 'or true',
      },
    ],
    test: { file: MONTHS, name: 'is not stored beside itself' },
  },
  {
    id: 'month-forgets-authorizations',
    rule: 1,
    bug: 'an authorization of a closed month is one that nobody knows',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: '  await returnPayments(sql, first.closed);',
        replace: '  await returnPayments(sql, []);',
      },
    ],
    test: { file: REPEATS, name: 'is answered as before and charged once' },
  },
  {
    id: 'month-corrects-nothing',
    rule: 4,
    bug: 'what a flush paid of a closed month is never in the ledger',
    edits: [
      { file: 'modules/reconciliation/store/corrections.ts', search: 'await returnPayments(sql, [payment]);', replace: '' },
    ],
    test: { file: REPEATS, name: 'a flush that pays authors of a closed month' },
  },
  {
    id: 'month-forgets-successor',
    rule: 14,
    bug: 'a purchase that another authorization repeats is open for ever once the first one is in a closed month',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: '  await returnPayments(sql, payments.flatMap(successorOf));',
        replace: '',
      },
    ],
    test: { file: ATTACKS, name: 'a superseded authorization whose successor' },
  },
  {
    id: 'month-final-unseen',
    rule: 5,
    bug: 'the evidence of a payment of a closed month vanishes and nobody judges the payment again',
    edits: [
      {
        file: 'modules/settlement/store/sweep.ts',
        search: 'returnPayments(sql, await run(sql, closed))',
        replace: 'returnPayments(sql, [])',
      },
    ],
    test: { file: ATTACKS, name: 'is judged again when the chain shows its evidence no more' },
  },
  {
    id: 'month-counts-by-zone',
    rule: 22,
    bug: 'a payment comes back to the month of the time zone of its session',
    edits: [
      {
        file: 'db/migrations/0018_months.sql',
        search: "accepted_at at time zone 'UTC')::date into of_month",
        replace: 'accepted_at)::date into of_month',
      },
    ],
    test: { file: ATTACKS, name: 'whatever time zone the session is in' },
  },
];
