import type { ChainEvidence } from '../../chain/evidence.ts';
import { evidenceFromLogs } from '../../chain/evidence.ts';
import type { Network } from '../../chain/network.ts';
import { confirmationsFor } from '../../chain/network.ts';
import type { Receipt } from '../../chain/receipts.ts';
import { blockNumbers, blockTimeSeconds, findAuthorization } from '../../chain/receipts.ts';
import type { Rpc } from '../../chain/rpc.ts';
import type { Occurrence } from '../../db/settlement/outcome.ts';
import type { Payment } from '../../db/settlement/payment.ts';
import { recordTransfers } from '../../db/settlement/transfers.ts';
import type { EvidenceRef } from '../../domain/payment/state.ts';
import type { SettlementDeps } from './deps.ts';
import { transferRows } from './transferRows.ts';

/** Evidence of one payment in a receipt, whether or not its confirmations are there. */
export interface FoundEvidence {
  readonly transfer: EvidenceRef;
  readonly confirmed: boolean;
  readonly blockTime: Date;
}

/**
 * The Transfer in `receipt` that proves the payment: `AuthorizationUsed(payer, nonce)` directly followed by
 * `Transfer(payer, payTo, amount)` of the asset (safety 1). Null when the receipt does not prove it.
 */
export function evidenceIn(network: Network, receipt: Receipt, payment: Payment): EvidenceRef | null {
  const found = readOnce(network, receipt).authorizations.find(
    (entry) => entry.payer === payment.payer && entry.nonce === payment.nonce,
  );
  if (!found || found.to !== payment.payTo || found.value !== payment.amountMicro) return null;
  return { txHash: receipt.hash, logIndex: found.position, blockNumber: receipt.blockNumber };
}

const READ = new WeakMap<Receipt, ChainEvidence>();

/** A receipt's logs are decoded once, however many payments it carries. */
function readOnce(network: Network, receipt: Receipt): ChainEvidence {
  const evidence = READ.get(receipt) ?? evidenceFromLogs(receipt.logs, network);
  READ.set(receipt, evidence);
  return evidence;
}

/** True when enough blocks stand on the evidence for its amount (decisions: finality). */
export function isConfirmed(network: Network, payment: Payment, blockNumber: bigint, latest: bigint): boolean {
  return latest - blockNumber + 1n >= BigInt(confirmationsFor(network, payment.amountMicro));
}

/** The event that records evidence. */
export function evidenceEvent(payment: Payment, transfer: EvidenceRef, blockTime: Date): Occurrence {
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'evidence', transfer }, blockTime };
}

/** The event of a nonce that went elsewhere or was cancelled. */
function spentOtherwise(payment: Payment, rawReason: string): Occurrence {
  const sentence = 'the authorization was used or cancelled elsewhere';
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'spentOtherwise' }, rawReason, sentence };
}

/** What the chain shows of a payment's nonce, and in which block. */
export interface Judged {
  readonly occurrence: Occurrence;
  readonly blockNumber: bigint;
}

/** How far a reorg may have moved a transaction below the block at which its nonce was seen unused. */
const REORG_BLOCKS = 64n;

/**
 * Looks for what became of a payment's nonce, by its log (safety 1): our evidence if the transfer is the right one, else
 * `spentOtherwise`. The nonce was seen unused before the row was written, so whatever uses it on the chain as it is now came
 * after the row (safety 2), also where a reorg put it into a lower block. `none`: no log; `wait`: evidence without its
 * confirmations. What it reads is stored as evidence.
 */
export async function judgeByLog(
  deps: Pick<SettlementDeps, 'database'>,
  network: Network,
  rpc: Rpc,
  payment: Payment,
): Promise<Judged | 'none' | 'wait'> {
  const { latest } = await blockNumbers(rpc);
  const seen = payment.unusedAtBlock ?? latest;
  const finding = await findAuthorization(
    rpc,
    network,
    payment.payer,
    payment.nonce,
    seen > REORG_BLOCKS ? seen - REORG_BLOCKS : 0n,
  );
  if (finding.kind === 'none') return 'none';
  if (finding.kind !== 'used') {
    return { occurrence: spentOtherwise(payment, `authorization_${finding.kind}`), blockNumber: finding.at.blockNumber };
  }
  const { blockNumber } = finding.receipt;
  const transfer = evidenceIn(network, finding.receipt, payment);
  if (!transfer) return { occurrence: spentOtherwise(payment, 'authorization_used_otherwise'), blockNumber };
  const blockTime = await storeReceipt(deps, network, rpc, finding.receipt);
  if (!isConfirmed(network, payment, blockNumber, latest)) return 'wait';
  return { occurrence: evidenceEvent(payment, transfer, blockTime), blockNumber };
}

/** The same for a nonce that the chain says is used; null when it must be asked again later. */
export async function judgeUsedNonce(
  deps: Pick<SettlementDeps, 'database'>,
  network: Network,
  rpc: Rpc,
  payment: Payment,
): Promise<Occurrence | null> {
  const judged = await judgeByLog(deps, network, rpc, payment);
  return typeof judged === 'string' ? null : judged.occurrence;
}

/** Stores a receipt's transfers as evidence, as read; returns its block's time. A second call changes nothing. */
export async function storeReceipt(
  deps: Pick<SettlementDeps, 'database'>,
  network: Network,
  rpc: Rpc,
  receipt: Receipt,
): Promise<Date> {
  const blockTime = new Date(Number(await blockTimeSeconds(rpc, receipt.blockNumber)) * 1000);
  await recordTransfers(deps.database, transferRows(network, readOnce(network, receipt), blockTime));
  return blockTime;
}
