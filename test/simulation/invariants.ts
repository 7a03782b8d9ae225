import { isLeading } from '../../domain/payment/guard.ts';
import type { EvidenceRef, PaymentState } from '../../domain/payment/state.ts';
import { isSettled } from '../../domain/payment/state.ts';
import { InvariantBroken } from './actor.ts';
import type { Spending } from './chain.ts';
import { FakeChain } from './chain.ts';
import type { AuditedPayment, BatchRow, Change, PaymentRow, SignedTx } from './store.ts';
import { authorizationKey } from './token.ts';
import type { ChainTx } from './transactions.ts';
import type { World } from './world.ts';

/** What an observer remembers of one payment. */
interface Remembered {
  row: PaymentRow;
  state: PaymentState;
  readonly born: PaymentState;
  readonly insertedAt: number;
  settledAt: number;
  failures: number;
}

/** The simulator's own memory, kept from commits only: it must not depend on what the store claims later. */
export class History {
  readonly payments = new Map<string, Remembered>();
  readonly bytes = new Map<string, SignedTx>();
  /** How many reorgs there had been when the event that is being applied was read from the chain. */
  judgedAt = 0;
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
    this.payments.set(row.id, { row, state, born: state, insertedAt: this.clock, settledAt: 0, failures: 0 });
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
  if (transfer?.to !== row.auth.to || transfer.value !== row.auth.value) return null;
  const ours = spending.receipt.tx.from === 'relayer';
  return ours || spending.receipt.block > row.seenBlock ? spending : null;
}

/** Before bytes leave: they are stored, under their batch's nonce, and carry nothing that is held (safety 7, 14). */
export function checkSend(world: World, raw: ChainTx): void {
  const stored = world.history.bytes.get(raw.hash);
  hold(stored !== undefined, `bytes ${raw.hash} were sent before they were stored`);
  if (raw.body.kind !== 'batch') return;
  for (const auth of raw.body.groups.flatMap((group) => group.items)) {
    const known = [...world.history.payments.values()].find(({ row }) => row.auth.nonce === auth.nonce);
    hold(known !== undefined, `authorization ${auth.nonce} was sent without a payment row`);
    hold(!['held', 'superseded', 'expired'].includes(known.state), `${known.row.id} was sent while ${known.state}`);
  }
}

/** After a claim: every item belongs to this batch only, and all bytes use its one nonce (safety 7). */
export function checkBatch(world: World, batch: BatchRow): void {
  for (const attempt of batch.attempts) hold(attempt.raw.nonce === batch.nonce, `${batch.id} signed under two nonces`);
  if (world.history.bytes.has(batch.attempts[0]?.raw.hash ?? '')) return;
  for (const id of batch.items) {
    const facts = world.history.payments.get(id)?.row.facts;
    hold(facts?.batchId === batch.id, `${id} was claimed by ${batch.id} while ${facts?.state} in ${facts?.batchId}`);
  }
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
  switch (change.event) {
    case 'inserted':
      hold(row.seenBlock <= world.chain.highest, `${row.id} would disown evidence from after its insert`);
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
      checkEvidence(world, row, change.after.evidence);
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

/** A crossing rests on a Transfer right after this authorization's log, in our transaction or after our row (safety 1, 2). */
function checkEvidence(world: World, row: PaymentRow, evidence: EvidenceRef | null): void {
  hold(evidence !== null, `${row.id} settled without evidence`);
  const key = authorizationKey(row.auth.payer, row.auth.nonce);
  const seen = world.chain.archive.get(`${evidence.txHash}:${evidence.logIndex}:${evidence.blockNumber}:${key}`);
  hold(seen !== undefined, `${row.id} settled on a log that does not follow its authorization`);
  hold(seen.transfer.to === row.auth.to && seen.transfer.value === row.auth.value, `${row.id} settled on another transfer`);
  const later = Number(evidence.blockNumber) > row.seenBlock;
  hold(later || seen.tx.from === 'relayer', `${row.id} settled on a transfer older than its row`);
}

/** Nothing is decided against before the nonce is mined, or against a transfer that our mined transaction shows. */
function checkMinedInVain(world: World, row: PaymentRow, change: Change): void {
  const attempts = [...world.history.bytes.values()].filter((signed) => signed.batchId === change.before.batchId);
  const nonce = attempts[0]?.raw.nonce ?? -1;
  const mined = world.chain.everMined.get(nonce);
  hold(
    attempts.some((signed) => mined?.has(signed.raw.hash)),
    `${row.id} was ${change.event} before its nonce was mined`,
  );
  const paid = truth(world, row);
  const receipt = attempts.map((signed) => world.chain.receipts.get(signed.raw.hash)).find((found) => found !== undefined);
  const sameChain = world.history.judgedAt === world.chain.reorgs; // as when the judging process read it
  const wrong = paid !== null && receipt !== undefined && paid.receipt.block <= receipt.block && sameChain;
  hold(!wrong, `${row.id} was ${change.event} although its money had moved`);
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
  batches.forEach((batch, i) => {
    hold(batch.nonce === i, `nonce ${i} belongs to no batch`);
    hold(batch.closed, `${batch.id} never closed`);
  });
  hold(world.chain.relayerNonce === batches.length, `nonce ${world.chain.relayerNonce} was never mined`);
  for (const known of world.history.payments.values()) checkPaidOnce(world, known);
}

/** A payment that was held pays besides its leader only when somebody else sent it, or the leader had failed first. */
function checkPaidOnce(world: World, known: Remembered): void {
  if (known.born !== 'held' || truth(world, known.row)?.receipt.tx.from !== 'relayer') return;
  for (const other of world.history.siblings(known.row)) {
    const led = other.born === 'accepted' && other.insertedAt < known.insertedAt && other.settledAt > known.insertedAt;
    if (led && truth(world, other.row)) hold(other.failures > 0, `${other.row.id} and ${known.row.id} both paid`);
  }
}
