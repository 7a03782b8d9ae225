const SAID_TWICE = 'without a sight the other rules of settled payments wait, too: the first one says it to the reader';
const SEEN = 'without a sight the first rule of settled payments has spoken: the check is for the types';
const LAST = 'no rule follows: what nothing speaks to waits';
const NARROWS = 'there is no transfer, and no word of a rail, without a sight: the check is for the types';
const STATES = 'the two rules speak of different states: what is accepted may be unfit, what is sent may not have moved';
const COMPARED = 'without bytes of ours the comparison before it was false';
const NO_BLOCK = 'no block is below any: the check is for the types';
const BELOW = 'the rule below takes it back in the same way';

/** Mutants that change nothing anybody could notice, by name, and why. */
export const EQUIVALENTS: Readonly<Record<string, string>> = {
  "const OF_SETTLED = [: without (_payment, sight) => (sight === null ? 'wait' : null)": SAID_TWICE,
  "const OF_SETTLED = [: settledByRail before (_payment, sight) => (sight === null ? 'wait' : null)": SAID_TWICE,
  "(_payment, sight) => (sight === null ? 'wait' : null),: sight === null ? 'wait' : null → (null)": SAID_TWICE,
  'const paid = sight && payingTransfer(payment, sight.spending);: sight && payingTransfer(payment, sight.spending) → (payingTransfer(payment, sight.spending))':
    SEEN,
  "(_payment, sight) => (sight && isDoubtful(sight) ? 'wait' : null),: sight && isDoubtful(sight) → (isDoubtful(sight))": SEEN,
  'if (!paid || !sight) return null;: !paid || !sight → (!paid)': NARROWS,
  'if (facts.evidence === null || !sight || (sight.spending === null && s: facts.evidence === null || !sight → (facts.evidence === null)':
    SEEN,
  "if (facts.evidence === null || !sight || (sight.spending === null && s: return 'wait'; → return null;": LAST,
  "if (state === 'final' && known !== null && known.txHash !== paid.trans: return takenBack(known, sight); → return null;": BELOW,
  'const word = sight?.rail;: ?. → .': SEEN,
  'const hasRun = carrier?.batchId === facts.batchId && (carrier?.fate ==: ?. → . (2)': COMPARED,
  'const hasRun = carrier?.batchId === facts.batchId && (carrier?.fate ==: ?. → . (3)': COMPARED,
  'const isSafe = block !== undefined && safe !== null && block <= safe.b: block !== undefined && safe !== null → (safe !== null)':
    NO_BLOCK,
  'const OF_UNSETTLED = [: notMoved before unfitToSend': STATES,
  'if (!paid || !sight) return null;: !paid || !sight → (!paid) (2)': NARROWS,
  'const found = sight?.simulation;: ?. → . (2)': NARROWS,
};
