import type { Mutant } from './mutant.ts';

const fair = 'test/fault/fair.test.ts';
const pick = 'test/unit/pick-batch.test.ts';
const byOne = 'test/fault/refused-by-one.test.ts';
const picking = 'modules/settlement/rules/pickBatch.ts';

/** Bugs in choosing what a batch carries, and in what one payer or one site may cost the others. */
export const FAIR_MUTANTS: readonly Mutant[] = [
  {
    id: 'first-come-first-served',
    rule: 9,
    bug: 'a site takes as much of a batch as fits before the next site has its turn',
    edits: [
      {
        file: picking,
        search: 'if (cost !== null && cost > turn.credit) return;',
        replace: 'if (cost !== null && cost < 0n) return;',
      },
    ],
    test: { file: pick, name: 'two sites with work share a batch by gas, whoever came first' },
  },
  {
    id: 'what-does-not-fit-closes',
    rule: 9,
    bug: 'a payment that does not fit keeps everything of its site behind it waiting',
    edits: [
      {
        file: picking,
        search: 'if (cost !== null && cost > turn.credit) return;\n    turn.at += 1;',
        replace:
          'if (cost !== null && cost > turn.credit) return;\n    turn.at = cost === null ? turn.queue.length : turn.at + 1;',
      },
    ],
    test: { file: pick, name: 'what does not fit is skipped, and keeps nothing behind it waiting' },
  },
  {
    id: 'one-kind-first',
    rule: 9,
    bug: 'a flood of older payments of one payer kind keeps the other waiting until it is gone',
    edits: [{ file: picking, search: 'last === null || !isOfKind(payment, last)', replace: 'last === null || payment !== last' }],
    test: { file: pick, name: 'a batch is of one payer kind and router, and kinds take turns' },
  },
  {
    id: 'one-kind-waits-for-a-node',
    rule: 9,
    bug: 'wallets of code whose payments one node alone refuses have every turn, and no plain sale goes out',
    edits: [{ file: 'modules/settlement/use/batch/choose.ts', search: 'taken, last: tried }', replace: 'taken, last }' }],
    test: { file: byOne, name: 'payments of wallets of code that wait for a second node' },
  },
  {
    id: 'undecided-at-the-head',
    rule: 9,
    bug: 'what a look decided nothing of stays at the head of its site, and nothing behind it is looked at',
    edits: [
      {
        file: 'modules/settlement/use/batch/choose.ts',
        search: 'touchChecked(deps.database, undecided)]',
        replace: 'touchChecked(deps.database, [])]',
      },
    ],
    test: { file: byOne, name: 'payments that come out short while one node answers' },
  },
  {
    id: 'one-site-fills-the-look',
    rule: 9,
    bug: 'of each site as many rows are read as of one alone, so that what a choice costs grows with what waits',
    edits: [{ file: 'modules/settlement/store/queue.ts', search: '/ count(*)', replace: '/ least(count(*), 1)' }],
    test: {
      file: 'test/integration/waiting-rows.test.ts',
      name: 'every site has its oldest payments in a choice, held and test payments are never in it',
    },
  },
  {
    id: 'sent-again-unchanged',
    rule: 8,
    bug: 'a batch that was mined in vain goes out again as it was',
    edits: [
      {
        file: picking,
        search: '  if (attempts === 0) return Number.POSITIVE_INFINITY;',
        replace: '  if (attempts < 5) return Number.POSITIVE_INFINITY;',
      },
    ],
    test: { file: pick, name: 'a batch in vain is halved, and then each payment of it goes alone' },
  },
  {
    id: 'batch-size-not-kept',
    rule: 8,
    bug: 'how many shared a batch is not written with its claim, so that a reverted one is taken for a lone payment',
    edits: [
      { file: 'modules/settlement/store/claim.ts', search: 'batchId, settler, moved.length]', replace: 'batchId, settler, 1]' },
    ],
    test: {
      file: 'test/fault/node.test.ts',
      name: 'a batch that reverts for want of gas fails no payment that the chain would take',
    },
  },
  {
    id: 'strikes-at-the-door-only',
    rule: 19,
    bug: 'what a payer was let in with before its strikes is sent after them',
    edits: [
      {
        file: 'modules/settlement/use/batch/choose.ts',
        search: 'waiting.filter((payment) => isStruck(recordOf(payment)))',
        replace: 'waiting.filter((payment) => isStruck(recordOf(payment)) && payment.legs < 0)',
      },
      { file: 'modules/settlement/rules/payerLimits.ts', search: '  if (isStruck(payer)) return 0;\n', replace: '' },
      {
        file: 'modules/settlement/rules/payerLimits.ts',
        search: 'Math.min(UNDECIDED_LIMIT, STRIKE_LIMIT - payer.strikes)',
        replace: 'UNDECIDED_LIMIT',
      },
    ],
    test: { file: fair, name: 'rows of a wallet of code that were taken in before its strikes' },
  },
  {
    id: 'any-number-of-a-wallet',
    rule: 19,
    bug: 'a wallet of code may have any number of payments on its way',
    edits: [
      {
        file: 'modules/settlement/rules/payerLimits.ts',
        search: "  if (payerKind === 'plain') return Math.max(0, PLAIN_SENT_LIMIT - payer.sent);",
        replace: "  if (payerKind !== 'plain' || payerKind === 'plain') return PLAIN_SENT_LIMIT;",
      },
      // What a choice reads is bounded by the same rule.
      {
        file: 'modules/settlement/store/queue.ts',
        search: "and (payer_kind = 'plain' or $" + '{UNDECIDED_LIMIT} > (',
        replace: "and (payer_kind <> '' or $" + '{UNDECIDED_LIMIT} > (',
      },
    ],
    test: { file: fair, name: 'rows of a wallet of code that were taken in before its strikes' },
  },
  {
    id: 'any-number-of-a-wallet-at-the-door',
    rule: 19,
    bug: 'a wallet of code may have any number of payments taken in',
    edits: [
      {
        file: 'modules/settlement/use/accept/admission.ts',
        search: 'facts.undecided >= UNDECIDED_LIMIT',
        replace: 'facts.undecided < 0',
      },
    ],
    test: { file: fair, name: 'a strike is written with the decision it belongs to' },
  },
  {
    id: 'strike-after-the-decision',
    rule: 19,
    bug: 'strikes are not written in the transaction that decides their payments',
    edits: [
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: 'changes.filter(({ occurrence }) => occurrence.strike)',
        replace: 'changes.filter(() => false)',
      },
    ],
    test: { file: fair, name: 'a strike is written with the decision it belongs to' },
  },
  {
    id: 'money-spent-twice-in-a-batch',
    rule: 19,
    bug: 'each payment of a wallet of code is looked at as if it were the only one',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: "judged.kind === 'passed' && before + value > balance",
        replace: "judged.kind === 'passed' && value > balance",
      },
    ],
    test: { file: fair, name: 'a wallet of code is sent no more payments than its money pays' },
  },
  {
    id: 'waiting-counted-in-payments',
    rule: 10,
    bug: 'a payment of fifty authors counts as little as one of a single author',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'plannedGas: gasAlone(signature.payerKind, partOf(request))',
        replace: 'plannedGas: gasAlone(signature.payerKind, { ...partOf(request), legs: 1 })',
      },
    ],
    test: { file: fair, name: 'a site with 420 payments of fifty authors keeps another waiting for no batch' },
  },
  {
    id: 'wait-of-all-sites',
    rule: 10,
    bug: 'a site that has nothing waiting is refused for what another has',
    edits: [{ file: 'modules/settlement/store/admission.ts', search: 'sum(least(work.gas, own.gas))', replace: 'sum(work.gas)' }],
    test: { file: fair, name: 'a site with 420 payments of fifty authors keeps another waiting for no batch' },
  },
  {
    id: 'last-place-for-all',
    rule: 10,
    bug: 'a site that fills the queue takes its last place, too',
    edits: [
      {
        file: 'modules/settlement/rules/queueRoom.ts',
        search: 'return isNewcomer || open === 0 || (open < limit - 1 && openGas < IN_FLIGHT_GAS);',
        replace: 'return isNewcomer || open < limit;',
      },
    ],
    test: { file: fair, name: 'a site whose batches fill the queue keeps the last place from no other' },
  },
  {
    id: 'a-key-sends-any-number',
    rule: 19,
    bug: 'a key may have any number of payments on its way, each of which burns gas when its money leaves in our block',
    edits: [
      {
        file: 'modules/settlement/rules/payerLimits.ts',
        search: 'return Math.max(0, PLAIN_SENT_LIMIT - payer.sent);',
        replace: 'return PLAIN_SENT_LIMIT + payer.sent;',
      },
    ],
    test: {
      file: 'test/fault/burn.test.ts',
      name: 'a key whose money leaves in our block burns the gas of no more than thirty-two items',
    },
  },
  {
    id: 'behind-its-own-is-our-delay',
    rule: 10,
    bug: 'a payer that signs more at once than it may have on their way wakes an operator when they run out behind its own',
    edits: [
      {
        file: 'modules/settlement/use/batch/examine.ts',
        search: 'const isBehindOwn = behindOwn.has(payment.paymentId)',
        replace: 'const isBehindOwn = false',
      },
    ],
    test: { file: 'test/fault/refusal.test.ts', name: 'payments that wait behind more of their own payer' },
  },
  {
    id: 'stuck-behind-its-own-is-the-payers',
    rule: 10,
    bug: 'payments that run out while a full window of their payer is stuck with us count as the payer’s own doing',
    edits: [
      {
        file: 'modules/settlement/store/queue.ts',
        search: 'having count(*) > asked.payer_window',
        replace: 'having count(*) >= asked.payer_window',
      },
    ],
    test: { file: 'test/fault/refusal.test.ts', name: 'payments that wait behind more of their own payer' },
  },
  {
    id: 'a-key-is-never-struck',
    rule: 19,
    bug: 'an item of a key that ran in vain and would pass now is nobody’s fault',
    edits: [
      {
        file: 'modules/settlement/rules/judge.ts',
        search: "if (payerKind === 'plain' || facts.attempts === 0) return { event: unsent, strike: true };",
        replace:
          "if (payerKind === 'plain' || facts.attempts === 0) return payerKind === 'plain' ? { event: unsent } : { event: unsent, strike: true };",
      },
    ],
    test: { file: 'test/fault/burn.test.ts', name: 'money that is away in our block and back after it is a strike each time' },
  },
  {
    id: 'code-found-for-one-only',
    rule: 9,
    bug: 'a key that turns out to have code fills the window of its site with rows that may not go out',
    edits: [
      {
        file: 'modules/settlement/store/claim.ts',
        search: 'if (ofCode.length === 0) return;',
        replace: 'if (ofCode.length >= 0) return;',
      },
    ],
    test: { file: 'test/fault/burn.test.ts', name: 'a key that turns out to have code keeps no buyer of a site waiting' },
  },
  {
    id: 'first-count-releases-batches',
    rule: 8,
    bug: 'a count of the chain that one round saw releases batches that are still unmined',
    edits: [
      { file: 'modules/settlement/use/relayer/nonce.ts', search: "  if (verdict.kind === 'seen') return 0n;\n", replace: '' },
    ],
    test: { file: 'test/fault/burn.test.ts', name: 'one round in which a node counts too much releases no batch' },
  },
];
