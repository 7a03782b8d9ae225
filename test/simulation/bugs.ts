import type { Edit } from '../mutants/mutant.ts';

/** A bug that the simulator must find, put into a file of the service: one line that somebody could plausibly have written. */
export interface Bug {
  readonly name: string;
  /** What somebody could plausibly have done. */
  readonly bug: string;
  readonly edits: readonly Edit[];
}

const judge = 'modules/settlement/rules/judge.ts';
const machine = 'modules/settlement/rules/machine.ts';
const state = 'modules/kernel/payment/state.ts';

function bug(name: string, what: string, ...edits: readonly (readonly [file: string, search: string, replace: string])[]): Bug {
  return { name, bug: what, edits: edits.map(([file, search, replace]) => ({ file, search, replace })) };
}

/** The named bugs of the simulator. */
export const BUGS: readonly Bug[] = [
  bug('noClaimCas', 'claims rows that another batch already carries', [
    state,
    "payment.facts.state === 'accepted' && payment.facts.batchId === null",
    "['accepted', 'broadcast'].includes(payment.facts.state)",
  ]),
  bug('itemFailedMeansFailed', 'what our bytes ran without moving failed, whatever its nonce says', [
    judge,
    'const OF_UNSETTLED: readonly Rule[] = [',
    `const OF_UNSETTLED: readonly Rule[] = [
  ({ facts }, sight) =>
    facts.state === 'broadcast' && sight?.carrier?.fate === 'executed'
      ? { event: { type: 'itemFailed', batchId: sight.carrier.batchId, reason: 'settlement_failed' } }
      : null,`,
  ]),
  bug('evidenceWithoutLogIndex', 'any transfer of the payer in the transaction proves his nonce', [
    'platform/chain/evidence/evidence.ts',
    'const next = token[at + 1];',
    'const next = token.find((one) => readTransfer(one, place)?.from === used.payer);',
  ]),
  bug('anyTransferPays', 'the transfer of an authorization proves a payment to whomever it went', [
    judge,
    'return spending.to === payment.payTo && spending.valueMicro === payment.amountMicro ? spending : null;',
    'return spending.valueMicro === payment.amountMicro ? spending : null;',
  ]),
  bug('lessPays', 'the transfer of an authorization proves a payment of whatever value', [
    judge,
    'return spending.to === payment.payTo && spending.valueMicro === payment.amountMicro ? spending : null;',
    'return spending.to === payment.payTo ? spending : null;',
  ]),
  bug('finalOnceLookedAt', 'a batch is final as soon as it was looked at', [
    'modules/settlement/rules/finality.ts',
    'return settled.every(',
    'return judged.size >= 0 || settled.every(',
  ]),
  bug('recordedTwice', 'a payment that is recorded is recorded again when it settles again', [
    machine,
    "if (!facts.recorded) effects.push({ type: 'recordCrossing' }",
    "effects.push({ type: 'recordCrossing' }",
  ]),
  bug('guardForgetsSent', 'what is sent does not keep another payment for the same thing waiting', [
    state,
    "broadcast: { verdict: 'open', leads: true, isLoose: false },",
    "broadcast: { verdict: 'open', leads: false, isLoose: false },",
  ]),
  bug('timeoutMeansFailed', 'no answer in time: failed', [
    judge,
    "return isOver ? { event: { type: 'overdue' } } : null;",
    "return isOver ? { event: { type: 'itemFailed', batchId: facts.batchId ?? '', reason: 'settlement_failed' } } : null;",
  ]),
  bug('forgetWatch', 'what failed is never looked at again', [
    state,
    "failed: { verdict: 'unpaid', leads: false, isLoose: true },",
    "failed: { verdict: 'unpaid', leads: false, isLoose: false },",
  ]),
  bug('lateEvidenceIgnored', 'evidence for a failed payment changes nothing', [
    machine,
    "    case 'evidence':\n      return speaksOf(facts, event.from) ? settle(facts, event.transfer) : stay(facts);",
    "    case 'evidence':\n      return facts.state === 'failed' ? stay(facts) : settle(facts, event.transfer);",
  ]),
  bug('reorgIgnored', 'evidence once seen is never taken back', [
    judge,
    "return head < known.blockNumber ? 'wait' : { event: { type: 'reorged', transfer: known } };",
    "return 'wait';",
  ]),
  bug('behindTakesBack', 'a node that does not know the block of the evidence yet takes it back', [
    judge,
    "return head < known.blockNumber ? 'wait' : { event: { type: 'reorged', transfer: known } };",
    "return { event: { type: 'reorged', transfer: known } };",
  ]),
  bug('releaseWithoutDecision', 'what waits is released while the purchase before it is undecided', [
    'modules/settlement/rules/held.ts',
    'return isFirst && !others.some(isLeading) ?',
    'return isFirst ?',
  ]),
  bug('foreignEvidenceBeforeRow', 'a nonce that was used before our row is taken in', [
    'modules/settlement/rules/firstLook.ts',
    'return look?.used === true;',
    'return false;',
  ]),
  bug('spentForgets', 'an authorization spent otherwise is dropped before that block is safe', [
    judge,
    'if (safe !== null && blockNumber <= safe.blockNumber) {',
    'if (safe !== null) {',
  ]),
  bug('expiredByTheHead', 'a time that is over by our clock is over', [
    judge,
    "if (!sight?.safe || sight.safe.nonce === 'used' || sight.safe.timeSeconds <= validBefore) return null;",
    "if (!sight?.safe || sight.nonce === 'used' || sight.safe.timeSeconds + 10n <= validBefore) return null;",
  ]),
  bug('confirmationsIgnored', 'a large amount is settled by the first block', [
    judge,
    "return depth >= BigInt(now.confirmationsFor(payment.amountMicro)) ? evidence(paid, null) : 'wait';",
    "return depth >= 1n ? evidence(paid, null) : 'wait';",
  ]),
  bug('unsentBeforeMined', 'payments go out again while their bytes can still be mined', [
    'modules/settlement/rules/carrier.ts',
    'return safeCount > nonce;',
    'return safeCount >= nonce;',
  ]),
  bug('queueSkipsLower', 'only the batch itself is sent again', [
    'modules/settlement/rules/resend.ts',
    'return counts.pending < batch.nonce ? counts.latest : batch.nonce;',
    'return batch.nonce;',
  ]),
  bug('sameSetAgain', 'a batch that reverted goes out again as it was', [
    'modules/settlement/rules/pickBatch.ts',
    'if (attempts === 0) return Number.POSITIVE_INFINITY;',
    'if (attempts <= 1) return Number.POSITIVE_INFINITY;',
  ]),
  bug('revertIsEachOnes', 'what a batch of several reverted for is every payment’s own failure', [
    judge,
    'if (carrier.size > 1) return { event: unsent };',
    '',
  ]),
  bug('struckForNothing', 'a payer is struck for bytes that never ran', [
    judge,
    "if (carrier.fate === 'voided' || carrier.fate === 'overtaken') return { event: unsent };",
    "if (carrier.fate === 'voided' || carrier.fate === 'overtaken') return { event: unsent, strike: true };",
  ]),
  bug('claimOutlivesItsBlock', 'the transfer of a lost block stays claimed', [
    machine,
    "const effects: PaymentEffect[] = [{ type: 'unclaimTransfer' }];",
    'const effects: PaymentEffect[] = [];',
  ]),
];
