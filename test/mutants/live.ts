import type { Mutant } from './mutant.ts';

const evidence = 'test/fault/evidence.test.ts';
const queue = 'test/fault/relayer-queue.test.ts';
const node = 'test/fault/node.test.ts';
const refusal = 'test/fault/refusal.test.ts';
const reorg = 'test/fault/reorg.test.ts';
const limits = 'test/fault/limits.test.ts';
const sqlSimulation = {
  file: 'test/integration/simulation-sql.test.ts',
  name: 'two hundred seeded schedules keep every invariant on the ledger of a real Postgres',
};

/** Bugs in what meets Postgres and the chain: their tests run on real ones. */
export const LIVE_MUTANTS: readonly Mutant[] = [
  {
    id: 'first-of-its-group-unseen',
    rule: 1,
    bug: 'an authorization that is shown twice in one transaction fails everybody who is taken in with it',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: '&& !winners.has(authorizationText(payment))) {',
        replace: ') {',
      },
    ],
    test: { file: 'test/integration/intake.test.ts', name: 'one authorization shown for two purchases at once' },
  },
  {
    id: 'streams-are-pipelined',
    rule: 24,
    bug: 'a reader who goes away in the middle of an export leaves a connection that nobody cuts',
    edits: [{ file: 'db/database.ts', search: 'options.pipelined ?? false', replace: 'options.pipelined ?? true' }],
    test: { file: 'test/integration/export-copy.test.ts', name: 'a reader that goes away' },
  },
  {
    id: 'one-transfer-many-payments',
    rule: 1,
    bug: 'a payment is proven by any transfer of its payer in the transaction, and a transfer may be claimed twice',
    edits: [
      {
        file: 'platform/chain/evidence/evidence.ts',
        search: 'const next = token[at + 1];',
        replace: 'const next = token.find((one) => readTransfer(one, place)?.to === REAL) ?? token[at + 1];',
      },
      {
        file: 'platform/chain/evidence/evidence.ts',
        search: '  const authorizations: AuthorizationEvidence[] = [];\n  const unpaired: NonceEvidence[] = [];\n',
        replace:
          '  const authorizations: AuthorizationEvidence[] = [];\n  const unpaired: NonceEvidence[] = [];\n' +
          '  const seen = token.flatMap((one) => readTransfer(one, place) ?? []).map((one) => one.to);\n' +
          '  const REAL = seen.find((to, at) => at === 2);\n',
      },
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: 'filter((id) => !got.has(id))',
        replace: 'filter(() => false)',
      },
    ],
    test: { file: evidence, name: 'one transfer proves one payment' },
  },
  {
    id: 'foreign-calldata-accepted',
    rule: 2,
    bug: 'a nonce that was used before our row is taken in, and its old transfer proves it',
    edits: [{ file: 'modules/settlement/rules/firstLook.ts', search: 'return look?.used === true;', replace: 'return false;' }],
    test: { file: evidence, name: 'calldata of a sale made elsewhere before it was shown to us buys nothing' },
  },
  {
    id: 'item-failed-is-failed',
    rule: 3,
    bug: 'ItemFailed of our batch fails the payment, without a look for the log of its authorization',
    edits: [
      {
        file: 'modules/settlement/rules/judge.ts',
        search: 'for (const rule of isSettled(payment.facts.state) ? OF_SETTLED : OF_UNSETTLED) {',
        replace: 'for (const rule of isSettled(payment.facts.state) ? OF_SETTLED : [notMoved, ...OF_UNSETTLED]) {',
      },
      {
        file: 'modules/settlement/rules/judge.ts',
        search: "if (!found) return 'wait';",
        replace: "if (!found) return { event: { type: 'itemFailed', batchId: carrier.batchId, reason: 'settlement_failed' } };",
      },
    ],
    test: { file: node, name: 'a payment that a stranger submits between our send and our block is settled by his hash' },
  },
  {
    id: 'timeout-is-failed',
    rule: 3,
    bug: 'no receipt in time fails the batch',
    edits: [
      {
        file: 'modules/settlement/use/batch/confirm.ts',
        search: '  await raiseFees(deps, call.network, call.rpc, batch);',
        replace: '',
      },
      {
        file: 'modules/settlement/use/batch/confirm.ts',
        search: '  return { undecided: payments.filter(isOpen).length, isMined: false };',
        replace:
          "  const late = { fate: 'reverted', size: 1, batchId } as const;\n" +
          '  await runRound(call, payments.filter(isOpen).map((payment) => ({ payment, hashes: [], carrier: late })), { atSafe: false });\n' +
          '  return { undecided: 0, isMined: false };',
      },
    ],
    test: { file: queue, name: 'stuck fees are raised to what the block asks in one step' },
  },
  {
    id: 'text-as-it-came',
    rule: 11,
    bug: 'what an agent says of itself is stored as it came',
    edits: [
      {
        file: 'modules/gate/rules/agent.ts',
        search: "return text?.toWellFormed().replaceAll('\\u0000', '\\ufffd');",
        replace: 'return text;',
      },
    ],
    test: { file: refusal, name: 'text that no database takes is made storable at intake' },
  },
  {
    id: 'guard-without-lock',
    rule: 14,
    bug: 'the open purchase is looked for without its lock',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: '      lockPurchases(sql, payments),\n',
        replace: '      null,\n',
      },
    ],
    test: { file: refusal, name: 'two processes asked for the same page by one payer at once charge once' },
  },
  {
    id: 'siblings-before-the-lock',
    rule: 14,
    bug: 'what else there is of a purchase is asked for before its lock is held',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'const [, claimed, siblings] = await Promise.all([',
        replace: 'const [siblings, , claimed] = await Promise.all([\n      listSiblings(sql, payments),',
      },
      { file: 'modules/settlement/store/intake.ts', search: '      listSiblings(sql, payments),\n    ]);', replace: '    ]);' },
    ],
    test: { file: refusal, name: 'two processes asked for the same page by one payer at once charge once' },
  },
  {
    id: 'released-into-flight',
    rule: 14,
    bug: 'a failure releases what is held although another of the same purchase is on its way',
    edits: [
      {
        file: 'modules/settlement/rules/held.ts',
        search: 'isFirst && !others.some(isLeading)',
        replace: 'isFirst',
      },
      {
        file: 'modules/settlement/store/held.ts',
        search: ".whereRef('leader.kind', '=', 'held.kind')",
        replace: ".where(text.raw<boolean>('false'))",
      },
    ],
    test: sqlSimulation,
  },
  {
    id: 'held-sent-though-twin-settled',
    rule: 14,
    bug: 'in one round a failure releases what a success of the same purchase would supersede',
    edits: [
      {
        file: 'modules/settlement/store/held.ts',
        search: 'settlesNow ? Number.POSITIVE_INFINITY : seen.decidedAtMs',
        replace: 'settlesNow ? null : seen.decidedAtMs',
      },
    ],
    test: { file: evidence, name: 'when one purchase fails and its twin settles in the same round' },
  },
  {
    id: 'claim-outlives-its-block',
    rule: 1,
    bug: 'a transfer that a reorganisation took stays claimed',
    edits: [
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: '  if (released.length > 0) {',
        replace: '  if (released.length > 1_000) {',
      },
    ],
    test: sqlSimulation,
  },
  {
    id: 'decided-from-a-stale-row',
    rule: 7,
    bug: 'decisions write crossings for payments whose row is not locked and not read again',
    edits: [
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: 'const { next, effects } = decide(payment.facts, occurrence.event);',
        replace:
          "const { next, effects } = decide({ ...payment.facts, recorded: payment.facts.recorded && payment.facts.state === 'settled' }, occurrence.event);",
      },
    ],
    test: sqlSimulation,
  },
  {
    id: 'poison-fails-the-batch',
    rule: 11,
    bug: 'one payment that cannot be written keeps its whole batch from being recorded',
    edits: [
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: '    if (occurrences.length === 1) {',
        replace: '    if (occurrences.length >= 1) {',
      },
    ],
    test: { file: limits, name: 'one payment that the ledger refuses keeps no other of its batch from being recorded' },
  },
  {
    id: 'reorg-ignored',
    rule: 5,
    bug: 'evidence once seen is never read again',
    edits: [
      {
        file: 'modules/settlement/rules/judge.ts',
        search: "return head < known.blockNumber ? 'wait' : { event: { type: 'reorged', transfer: known } };",
        replace: "return head < known.blockNumber ? 'wait' : 'wait';",
      },
    ],
    test: { file: reorg, name: 'a reorg in which the payer cancels takes the sale back' },
  },
  {
    id: 'signature-after-stored-answer',
    rule: 12,
    bug: 'whoever names a settled nonce gets its licence, whatever he signed',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: '  const signature = await checkSignature(rpc, network, payment, findWithCode);\n',
        replace:
          '  const early = await find(call);\n' +
          '  if (early) return answerKnown(call, early);\n' +
          '  const signature = await checkSignature(rpc, network, payment, findWithCode);\n',
      },
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'if (request.payment.signature !== known.signature) {',
        replace: 'if (!known) {',
      },
    ],
    test: { file: limits, name: 'a settled payment shown with another signature gets no licence' },
  },
  {
    id: 'replay-after-licence',
    rule: 12,
    bug: 'a stored success is repeated for ever',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'if (isSettled(known.facts.state) && licence && deps.now() >= licence.expiresAtSeconds * 1000) {',
        replace: 'if (licence && deps.now() < 0) {',
      },
      {
        file: 'modules/settlement/use/answer/answer.ts',
        search: 'if (deps.now() >= licence.expiresAtSeconds * 1000) {',
        replace: 'if (deps.now() < 0) {',
      },
    ],
    test: { file: refusal, name: 'a settled payload shown again after its licence has ended is refused' },
  },
  {
    id: 'licence-before-settled',
    rule: 13,
    bug: 'a payment that is taken in is answered with its licence',
    edits: [
      {
        file: 'modules/settlement/use/answer/answer.ts',
        search: 'if (isSettled(payment.facts.state)) {\n    return receiptOf(',
        replace: "if (isSettled(payment.facts.state) || payment.facts.state === 'accepted') {\n    return receiptOf(",
      },
    ],
    test: { file: refusal, name: 'a node that falls silent after the row leaves it pending and undecided' },
  },
  {
    id: 'legs-not-compared',
    rule: 4,
    bug: 'the legs that a site says it sold with are not compared with the quote',
    edits: [
      {
        file: 'modules/settlement/use/accept/verify.ts',
        search: 'if (!sameLegs(request.legs, quoted.legs)) {',
        replace: 'if (!sameLegs) {',
      },
    ],
    test: { file: 'test/integration/api-verify.test.ts', name: 'legs in another order and merged are the same' },
  },
  {
    id: 'funded-for-nothing',
    rule: 12,
    bug: 'who lacked money when the payment was sent is told to fund the wallet and to send what failed for good',
    edits: [
      {
        file: 'modules/settlement/use/answer/answer.ts',
        search: "transaction, next: { action: 'sign_again' } }",
        replace: 'transaction }',
      },
    ],
    test: { file: refusal, name: 'a sale that failed for want of money says to sign again' },
  },
  {
    id: 'blocked-author-not-refused',
    rule: 18,
    bug: 'an author whom the token refuses is found out on chain, at our cost',
    edits: [
      {
        file: 'modules/settlement/use/batch/simulate.ts',
        search: "if (!isOther && groups.includes('payee_reverts')) return { kind: 'payee_blocked' };",
        replace: '',
      },
    ],
    test: { file: refusal, name: 'one author of three whom the token refuses is found before anything is sent' },
  },
  {
    id: 'old-router-mixed-in',
    rule: 4,
    bug: 'payments to splits of an older router go through the new one, which knows nothing of them',
    edits: [
      {
        file: 'modules/settlement/use/batch/send.ts',
        search: 'const routed = { ...network, router: chosen[0]?.router ?? network.router };',
        replace: 'const routed = network;',
      },
    ],
    test: { file: limits, name: 'a payment to a split of an older router goes through that router' },
  },
  {
    id: 'dust-is-flushed',
    rule: 4,
    bug: 'every split that holds anything is paid out by schedule, at our gas',
    edits: [
      {
        file: 'modules/settlement/rules/flush.ts',
        search: 'balanceMicro >= floorMicro &&',
        replace: 'floorMicro >= 0n &&',
      },
    ],
    test: { file: limits, name: 'dust at a split costs no flush its gas' },
  },
  {
    id: 'no-back-pressure',
    rule: 10,
    bug: 'payments are taken in however many wait',
    edits: [
      {
        file: 'modules/settlement/use/accept/admission.ts',
        search: 'if (waitMs > LONGEST_EXPECTED_WAIT_MS) {',
        replace: 'if (waitMs < 0) {',
      },
    ],
    test: { file: limits, name: 'when more wait than can be sent in ten seconds, the next is refused' },
  },
];
