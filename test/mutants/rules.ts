import type { Mutant } from './mutant.ts';

const machine = 'modules/settlement/rules/machine.ts';
const machineTest = 'test/unit/payment-machine.test.ts';

/** Bugs in pure rules: their tests need nothing but Node. */
export const RULE_MUTANTS: readonly Mutant[] = [
  {
    id: 'evidence-without-log-index',
    rule: 1,
    bug: 'any Transfer of the payer in the transaction proves his nonce, not the next log',
    edits: [
      {
        file: 'platform/chain/evidence/evidence.ts',
        search: 'const next = token[at + 1];',
        replace: 'const next = token.find((one) => readTransfer(one, place)?.from === used.payer);',
      },
    ],
    test: { file: 'test/unit/evidence.test.ts', name: 'one transfer never proves two authorizations' },
  },
  {
    id: 'evidence-of-another-payer',
    rule: 1,
    bug: 'the next log may move the money of somebody else',
    edits: [
      {
        file: 'platform/chain/evidence/evidence.ts',
        search: 'if (transfer?.from !== used.payer) {',
        replace: 'if (!transfer) {',
      },
    ],
    test: { file: 'test/unit/evidence.test.ts', name: 'a transfer of another payer, or of another transaction, or none' },
  },
  {
    id: 'recorded-twice',
    rule: 3,
    bug: 'a payment that is recorded already is recorded again when it settles again after a reorganisation',
    edits: [
      {
        file: machine,
        search: "if (!facts.recorded) effects.push({ type: 'recordCrossing' }",
        replace: "effects.push({ type: 'recordCrossing' }",
      },
    ],
    test: { file: machineTest, name: 'crossings, observations and transfer claims net to what the state says' },
  },
  {
    id: 'orphan-is-never-sent',
    rule: 3,
    bug: 'a sale that somebody else’s transaction settled is only watched after a reorganisation, though its page was given',
    edits: [
      {
        file: machine,
        search: "facts.batchId === null && !facts.forgone ? 'accepted'",
        replace: "facts.batchId === null && !facts.forgone ? 'broadcast'",
      },
    ],
    test: { file: machineTest, name: 'a reorg of an accepted payment that somebody else sent makes it go out' },
  },
  {
    id: 'forgone-is-sent',
    rule: 14,
    bug: 'what was held or decided against goes out after a reorganisation took back what settled it',
    edits: [
      {
        file: machine,
        search: "facts.batchId === null && !facts.forgone ? 'accepted'",
        replace: "facts.batchId === null ? 'accepted'",
      },
    ],
    test: {
      file: machineTest,
      name: 'a reorg of a payment that somebody else sent does not send it: what was held is never sent',
    },
  },
  {
    id: 'failed-is-forgotten',
    rule: 3,
    bug: 'what failed is not watched any more',
    edits: [
      {
        file: machine,
        search: '...change, evidence: null, watched }',
        replace: '...change, evidence: null, watched: false }',
      },
    ],
    test: { file: machineTest, name: 'a payment whose authorization was spent otherwise is watched until that block is safe' },
  },
  {
    id: 'late-evidence-ignored',
    rule: 3,
    bug: 'evidence for a failed payment changes nothing',
    edits: [
      {
        file: machine,
        search: "    case 'evidence':\n      return speaksOf(facts, event.from) ? settle(facts, event.transfer) : stay(facts);",
        replace: "    case 'evidence':\n      return facts.state === 'failed' ? stay(facts) : settle(facts, event.transfer);",
      },
    ],
    test: { file: machineTest, name: 'late evidence moves a failed payment to settled' },
  },
  {
    id: 'other-batch-fails-it',
    rule: 7,
    bug: 'a failed item of an old batch fails the payment in its new one',
    edits: [
      {
        file: machine,
        search: 'return ofBatch(facts, event.batchId) ? fail(facts, event.reason) : stay(facts);',
        replace: "return facts.state === 'broadcast' ? fail(facts, event.reason) : stay(facts);",
      },
    ],
    test: { file: machineTest, name: 'bytes mined in vain five times fail the payment; those of another batch say nothing' },
  },
  {
    id: 'held-is-sent-after-reorg',
    rule: 14,
    bug: 'a reorganisation sends also what a stranger had submitted and we never signed',
    edits: [
      {
        file: machine,
        search: "if (facts.batchId !== null) effects.push({ type: 'resend' });",
        replace: "effects.push({ type: 'resend' });",
      },
    ],
    test: { file: machineTest, name: 'a reorg of a payment that somebody else sent does not send it' },
  },
  {
    id: 'no-open-purchase-guard',
    rule: 14,
    bug: 'a second authorization for the same thing is sent while the first is undecided',
    edits: [
      {
        file: 'modules/settlement/rules/guard.ts',
        search: "if (!owed && same.some(isLeading)) return { state: 'held' };",
        replace: '',
      },
    ],
    test: { file: 'test/simulation/thorough.test.ts', name: 'ten thousand seeded schedules keep every invariant' },
  },
  {
    id: 'held-fails-when-spent',
    rule: 14,
    bug: 'a held authorization that is cancelled counts as a failed payment and releases the next into flight',
    edits: [
      {
        file: machine,
        search: "if (facts.state === 'held') return to(facts, { state: 'expired' });\n  return isUndecided",
        replace: 'return isUndecided',
      },
    ],
    test: { file: machineTest, name: 'a held payment whose authorization is spent otherwise or unusable expires' },
  },
  {
    id: 'sent-too-late',
    rule: 10,
    bug: 'an authorization that runs out on its way is sent',
    edits: [
      {
        file: 'modules/kernel/x402/authorization.ts',
        search: 'const SETTLE_MARGIN_SECONDS = 6;',
        replace: 'const SETTLE_MARGIN_SECONDS = 0;',
      },
    ],
    test: { file: 'test/unit/authorization.test.ts', name: 'an authorization must last six seconds and two block times more' },
  },
  {
    id: 'valid-for-years',
    rule: 3,
    bug: 'an authorization that may be used for years is taken in, and watched for years',
    edits: [
      {
        file: 'modules/kernel/x402/authorization.ts',
        search: 'Math.floor(nowSeconds) + LONGEST_VALID_SECONDS',
        replace: 'Math.floor(nowSeconds) + 100_000 * LONGEST_VALID_SECONDS',
      },
    ],
    test: {
      file: 'test/unit/authorization.test.ts',
      name: 'an authorization that could be used for more than a day is refused at intake',
    },
  },
  {
    id: 'mixed-payer-kinds',
    rule: 9,
    bug: 'wallets of code travel in the batch of keys, and its gas is theirs',
    edits: [
      {
        file: 'platform/chain/calls/calldata.ts',
        search: 'if (item.payerKind !== payerKind || room.costOf(part) === null) {',
        replace: 'if (room.costOf(part) === null) {',
      },
    ],
    test: { file: 'test/unit/calldata.test.ts', name: 'a batch is of one payer kind, that of its first payment' },
  },
];
