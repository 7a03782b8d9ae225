import type { Sight } from '../../modules/kernel/payment/sight.ts';
import type { EvidenceRef, PaymentState } from '../../modules/kernel/payment/state.ts';
import type { Verdict } from '../../modules/settlement/rules/judge.ts';
import { InvariantBroken } from './actor.ts';
import type { Spending } from './chain.ts';
import { FakeChain } from './chain.ts';
import { TWO_CONFIRMATIONS_MICRO } from './scenario.ts';
import type { AuditedPayment, BatchRow, Change, PaymentRow, SignedTx } from './store.ts';
import { authorizationKey } from './token.ts';
import type { ChainTx } from './transactions.ts';
import { itemsOf } from './transactions.ts';
import type { World } from './world.ts';

/** Undecided, and maybe on its way. Said again here: the observer trusts none of the service's own lists. */
function isLeading({ state }: { readonly state: PaymentState }): boolean {
  return state === 'accepted' || state === 'broadcast' || state === 'review';
}

/** Its money has moved as far as the service knows. */
function isSettled(state: PaymentState): boolean {
  return state === 'settled' || state === 'final';
}

/** What an observer remembers of one payment. */
interface Remembered {
  row: PaymentRow;
  state: PaymentState;
  readonly born: PaymentState;
  readonly insertedAt: number;
  settledAt: number;
  failures: number;
  /** Held, decided against or superseded, and not released since: never sent by us. */
  forgone: boolean;
  /** How often its bytes were decided to have moved nothing, and how often its payer was struck for it. */
  misses: number;
  strikes: number;
  /** How many reorgs there had been when it was last settled. */
  reorgsAtEvidence: number;
}

/** What the change that is being written was judged from. */
interface Judged {
  readonly verdict: Verdict;
  readonly sight: Sight | null;
  readonly reorgs: number;
}

/** The simulator's own memory, kept from commits only: it must not depend on what the store claims later. */
export class History {
  readonly payments = new Map<string, Remembered>();
  readonly bytes = new Map<string, SignedTx>();
  judged: Judged | null = null;
  /** The payments of batches of several that reverted, as one text a batch. */
  readonly reverted = new Set<string>();
  private clock = 0;

  /** Takes in a committed row. */
  see(row: PaymentRow): void {
    const known = this.payments.get(row.id);
    if (!known) this.remember(row);
    else known.row = row;
  }

  /** Takes in a committed change. */
  note(change: Change): Remembered {
    const known = this.payments.get(change.paymentId) as Remembered;
    known.state = change.after.state;
    this.clock += 1;
    if (change.after.state === 'settled' && !change.before.recorded) known.settledAt = this.clock;
    if (change.after.state === 'failed' && change.before.state !== 'failed') known.failures += 1;
    if (['held', 'failed', 'superseded', 'expired'].includes(change.after.state)) known.forgone = true;
    if (change.event === 'released') known.forgone = false;
    if (change.event === 'unsent' || change.event === 'itemFailed') known.misses += 1;
    return known;
  }

  /** Other payments of the same payer for the same thing. */
  siblings(row: PaymentRow): Remembered[] {
    return [...this.payments.values()].filter(
      ({ row: other }) =>
        other.id !== row.id && other.resource === row.resource && other.kind === row.kind && other.auth.payer === row.auth.payer,
    );
  }

  private remember(row: PaymentRow): void {
    this.clock += 1;
    const { state } = row.facts;
    const counts = { settledAt: 0, failures: 0, misses: 0, strikes: 0, reorgsAtEvidence: 0 };
    const forgone = state !== 'accepted';
    this.payments.set(row.id, { row, state, born: state, forgone, insertedAt: this.clock, ...counts });
  }
}

function hold(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new InvariantBroken(sentence);
}

/** The canonical transfer that pays this payment, or null: what the chain says, whatever the service believes. */
export function truth(world: World, row: PaymentRow): Spending | null {
  const spending = world.chain.spendings.get(authorizationKey(row.auth.payer, row.auth.nonce));
  if (spending?.how !== 'used') return null;
  const transfer = FakeChain.transferAfter(spending.receipt, spending.log);
  return transfer?.to === row.auth.to && transfer.value === row.auth.value ? spending : null;
}

/** Before bytes leave: they are stored, under their batch's nonce, and carry nothing that is held (safety 7, 14). */
export function checkSend(world: World, raw: ChainTx): void {
  const stored = world.history.bytes.get(raw.hash);
  hold(stored !== undefined, `bytes ${raw.hash} were sent before they were stored`);
  for (const auth of itemsOf(raw)) {
    const known = [...world.history.payments.values()].find(({ row }) => row.auth.nonce === auth.nonce);
    hold(known !== undefined, `authorization ${auth.nonce} was sent without a payment row`);
    hold(!['held', 'superseded', 'expired'].includes(known.state), `${known.row.id} was sent while ${known.state}`);
  }
}

/** After a claim: every item is in this batch only, all bytes use its one nonce (safety 7), and no set that reverted goes out again. */
export function checkBatch(world: World, batch: BatchRow): void {
  for (const attempt of batch.attempts) hold(attempt.raw.nonce === batch.nonce, `${batch.id} signed under two nonces`);
  const first = batch.attempts[0]?.raw;
  if (world.history.bytes.has(first?.hash ?? '')) return;
  hold(!world.history.reverted.has(setOf(first)), `${batch.id} carries the payments of a batch that reverted`);
  for (const id of batch.items) {
    const facts = world.history.payments.get(id)?.row.facts;
    hold(facts?.batchId === batch.id, `${id} was claimed by ${batch.id} while ${facts?.state} in ${facts?.batchId}`);
  }
}

/** The payments that bytes carry, as one text. */
function setOf(raw: ChainTx | undefined): string {
  return itemsOf(raw)
    .map(({ nonce }) => nonce)
    .sort()
    .join();
}

/** When a payer is struck: gas of ours was mined for his payment, for nothing, and he is struck once for it (safety 19). */
export function checkStrike(world: World, row: PaymentRow, verdict: Verdict): void {
  const known = world.history.payments.get(row.id) as Remembered;
  known.strikes += 1;
  hold(known.strikes <= known.misses, `the payer of ${row.id} was struck ${known.strikes} times for ${known.misses} misses`);
  const batchId = 'batchId' in verdict.event ? verdict.event.batchId : null;
  const ran = [...world.history.bytes.values()].some(
    ({ batchId: of, kind, raw }) => of === batchId && kind === 'settle' && world.chain.everMined.get(raw.nonce)?.has(raw.hash),
  );
  hold(ran, `the payer of ${row.id} was struck for bytes that never ran`);
}

/** After a commit: what the ledger holds of one payment fits its state. */
export function checkLedger(row: AuditedPayment): void {
  const { facts } = row;
  const price = BigInt(row.auth.value);
  const net = row.crossings.reduce((sum, crossing) => sum + crossing.amountMicro, 0n);
  hold(net === (facts.recorded ? price : 0n), `${row.id} is ${facts.state} with net crossings of ${net}`);
  for (const crossing of row.crossings) {
    const sum = crossing.legs.reduce((total, leg) => total + leg.amountMicro, 0n);
    hold(sum === crossing.amountMicro, `${row.id}: legs sum to ${sum}, price is ${crossing.amountMicro}`);
    hold(crossing.announced === 1, `${row.id}: a crossing was announced ${crossing.announced} times`);
  }
  const netOf = (verdict: string) => row.observations.reduce((sum, seen) => sum + (seen.verdict === verdict ? seen.count : 0), 0);
  hold(netOf('paid') === (facts.recorded ? 1 : 0), `${row.id} is ${facts.state} with ${netOf('paid')} paid observations`);
  const failed = facts.state === 'failed' ? 1 : 0;
  hold(netOf('payment-failed') === failed, `${row.id} is ${facts.state} with ${netOf('payment-failed')} failures`);
  if (isSettled(facts.state)) {
    const { evidence } = facts;
    hold(evidence !== null && facts.recorded, `${row.id} is ${facts.state} without evidence or crossing`);
    hold(row.claims.join() === `${evidence.txHash}:${evidence.logIndex}`, `${row.id} claims ${row.claims.join() || 'nothing'}`);
  } else {
    hold(row.claims.length === 0, `${row.id} is ${facts.state} and claims ${row.claims.join()}`);
    if (['failed', 'superseded', 'expired', 'held'].includes(facts.state))
      hold(!facts.recorded, `${row.id} is ${facts.state} and recorded`);
  }
}

/** After a commit: the change was allowed by what the chain and the other payments showed. */
export function checkChange(world: World, change: Change): void {
  const known = world.history.note(change);
  const { row } = known;
  const siblings = world.history.siblings(row);
  const spared = change.before.state !== 'held' || change.after.state !== 'failed';
  hold(spared, `${row.id} failed while held: it ends superseded or expired`);
  const isJudged = change.after.state !== 'final' || change.event === 'safe';
  hold(isJudged, `${row.id} became final by ${change.event}, which says nothing of the safe block`);
  switch (change.event) {
    case 'inserted':
      hold(known.born !== 'accepted' || !siblings.some(isLeading), `${row.id} went past an open purchase`);
      return;
    case 'released':
      hold(!siblings.some(isLeading), `${row.id} was released while the open purchase was undecided`);
      hold(
        !siblings.some((other) => isSettled(other.state) && other.settledAt > known.insertedAt),
        `${row.id} was released although the open purchase settled`,
      );
      return;
    case 'superseded':
      hold(
        siblings.some((other) => other.row.facts.recorded),
        `${row.id} was superseded by nothing`,
      );
      return;
    case 'evidence':
      checkEvidence(world, row, change);
      known.reorgsAtEvidence = world.history.judged?.reorgs ?? 0;
      return;
    case 'reorged':
      hold(world.chain.reorgs > known.reorgsAtEvidence, `${row.id} lost its evidence although no block was taken back`);
      hold(
        change.after.state === (change.before.batchId === null && !known.forgone ? 'accepted' : 'broadcast'),
        `${row.id} is ${change.after.state} after its block went, ${known.forgone ? 'forgone' : 'not forgone'}`,
      );
      return;
    case 'itemFailed':
    case 'unsent':
      checkMinedInVain(world, row, change);
      return;
    case 'safe':
      checkSafe(world, row, change.after.evidence);
      return;
    case 'unusable':
      checkUnusable(world, row);
      return;
    default:
      return;
  }
}

/**
 * A crossing rests on a Transfer right after this authorization's log (safety 1), with the blocks its amount asks for. It is not in a
 * block that our look before the row had seen, unless a reorg has put it there since (safety 2).
 */
function checkEvidence(world: World, row: PaymentRow, { before, after: { evidence } }: Change): void {
  hold(evidence !== null, `${row.id} settled without evidence`);
  const key = authorizationKey(row.auth.payer, row.auth.nonce);
  const seen = world.chain.archive.get(`${evidence.txHash}:${evidence.logIndex}:${evidence.blockNumber}:${key}`);
  hold(seen !== undefined, `${row.id} settled on a log that does not follow its authorization`);
  hold(seen.transfer.to === row.auth.to && seen.transfer.value === row.auth.value, `${row.id} settled on another transfer`);
  const isLater = Number(evidence.blockNumber) > row.seenBlock || world.chain.reorgs > row.seenReorgs;
  hold(isLater, `${row.id} settled on a transfer older than its row`);
  const needed = row.auth.value >= TWO_CONFIRMATIONS_MICRO ? 2 : 1;
  const depth = world.chain.highest - Number(evidence.blockNumber) + 1;
  hold(isSettled(before.state) || depth >= needed, `${row.id} settled on ${depth} of ${needed} blocks`);
}

/** Nothing is decided against before the nonce is mined, or against a transfer that our mined transaction shows. */
function checkMinedInVain(world: World, row: PaymentRow, change: Change): void {
  const attempts = [...world.history.bytes.values()].filter((signed) => signed.batchId === change.before.batchId);
  const nonce = attempts[0]?.raw.nonce ?? -1;
  const mined = [...(world.chain.everMined.get(nonce) ?? [])];
  const { verdict, sight, reorgs } = world.history.judged ?? {};
  const elsewhere = change.event === 'unsent' && sight?.carrier?.fate === 'overtaken';
  const isMined = mined.some((hash) => attempts.some(({ raw }) => raw.hash === hash) !== elsewhere);
  // A reorg below the safe block may come between the look at the relayer's count and the look at its transactions.
  const isTornDeep = elsewhere && world.deepReorged;
  hold(isMined || isTornDeep, `${row.id} was ${change.event} before its nonce was mined`);
  const first = attempts.find(({ attempt }) => attempt === 1)?.raw;
  if (change.event === 'unsent' && sight?.carrier?.fate === 'reverted') world.history.reverted.add(setOf(first));
  const isAlone = verdict?.rawReason !== 'reverted_alone' || itemsOf(first).length === 1;
  hold(isAlone, `${row.id} failed for the revert of a batch of ${itemsOf(first).length}`);
  const paid = truth(world, row);
  const receipt = attempts.map((signed) => world.chain.receipts.get(signed.raw.hash)).find((found) => found !== undefined);
  const sameChain = reorgs === world.chain.reorgs; // as when the judging process read it
  const wrong = paid !== null && receipt !== undefined && paid.receipt.block <= receipt.block && sameChain;
  hold(!wrong || isTornDeep, `${row.id} was ${change.event} although its money had moved`);
}

function checkSafe(world: World, row: PaymentRow, evidence: EvidenceRef | null): void {
  if (world.deepReorged) return;
  const paid = truth(world, row);
  const same = paid !== null && paid.receipt.tx.hash === evidence?.txHash && BigInt(paid.receipt.block) === evidence.blockNumber;
  hold(same && paid.receipt.block <= world.chain.safe, `${row.id} became final without safe evidence`);
}

function checkUnusable(world: World, row: PaymentRow): void {
  if (world.deepReorged) return;
  hold(truth(world, row) === null, `${row.id} was given up although its money had moved`);
  const spending = world.chain.spendings.get(authorizationKey(row.auth.payer, row.auth.nonce));
  const past = world.chain.timeOf(world.chain.safe) >= row.auth.validBefore;
  const spent = spending !== undefined && spending.receipt.block <= world.chain.safe;
  hold(past || spent, `${row.id} was given up although it could still be used`);
}

const ENDS: readonly PaymentState[] = ['final', 'failed', 'superseded', 'expired'];

/** When all has come to rest: every payment is decided, as the chain says, and no nonce is missing. */
export function checkRest(world: World, payments: readonly AuditedPayment[], batches: readonly BatchRow[]): void {
  for (const row of payments) {
    const { facts } = row;
    checkLedger(row);
    hold(ENDS.includes(facts.state), `${row.id} ended ${facts.state}`);
    hold(!facts.watched, `${row.id} is ${facts.state} and watched for ever`);
    const paid = truth(world, row);
    hold((paid !== null) === facts.recorded, `${row.id}: chain ${paid ? 'paid' : 'did not pay'}, recorded ${facts.recorded}`);
    if (paid !== null) hold(paid.receipt.tx.hash === facts.evidence?.txHash, `${row.id} names another transaction`);
  }
  for (const batch of batches) hold(batch.closed, `${batch.id} never closed`);
  if (!world.deepReorged) checkNonces(world, batches);
  for (const known of world.history.payments.values()) checkPaidOnce(world, known);
}

/** Every nonce of the relayer's key is mined, ours or used elsewhere. Below the safe block only a payment brings bytes back. */
function checkNonces(world: World, batches: readonly BatchRow[]): void {
  const ours = new Set(batches.map(({ nonce }) => nonce));
  for (const nonce of ours) hold(nonce < world.chain.relayerNonce, `nonce ${nonce} was never mined`);
  for (let nonce = 0; nonce < world.chain.relayerNonce; nonce += 1) {
    const isElsewhere = [...(world.chain.everMined.get(nonce) ?? [])].some((hash) => !world.history.bytes.has(hash));
    hold(ours.has(nonce) || isElsewhere, `nonce ${nonce} belongs to no batch`);
  }
}

/** A payment that was held pays besides its leader only when somebody else sent it, or the leader had failed first. */
function checkPaidOnce(world: World, known: Remembered): void {
  if (known.born !== 'held' || truth(world, known.row)?.receipt.tx.from !== 'relayer') return;
  for (const other of world.history.siblings(known.row)) {
    const led = other.born === 'accepted' && other.insertedAt < known.insertedAt && other.settledAt > known.insertedAt;
    if (led && truth(world, other.row)) hold(other.failures > 0, `${other.row.id} and ${known.row.id} both paid`);
  }
}
