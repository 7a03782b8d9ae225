import type { ChainEvidence } from '../../chain/evidence.ts';
import { evidenceFromLogs } from '../../chain/evidence.ts';
import type { Network } from '../../chain/network.ts';
import { confirmationsFor } from '../../chain/network.ts';
import type { Receipt } from '../../chain/receipts.ts';
import { blockNumbers, blockTimeSeconds, findAuthorization } from '../../chain/receipts.ts';
import type { Rpc } from '../../chain/rpc.ts';
import type { Occurrence } from '../../db/settlement/outcome.ts';
import type { Payment } from '../../db/settlement/payment.ts';
import type { ChainTransferRow } from '../../db/settlement/transfers.ts';
import { recordTransfers } from '../../db/settlement/transfers.ts';
import type { EvidenceRef } from '../../domain/payment/state.ts';
import type { SettlementDeps } from './deps.ts';

/** Evidence of one payment in a receipt, whether or not its confirmations are there. */
export interface FoundEvidence {
  readonly transfer: EvidenceRef;
  readonly confirmed: boolean;
  readonly blockTime: Date;
}

/** Seconds a block's time may lie behind our clock and still count as after a row (safety 2). */
const CLOCK_ALLOWANCE_SECONDS = 2n;

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
export function spentOtherwise(payment: Payment, rawReason: string): Occurrence {
  const sentence = 'the authorization was used or cancelled elsewhere';
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'spentOtherwise' }, rawReason, sentence };
}

/**
 * Judges a payment whose nonce the chain says is used, by whoever: our evidence if the transfer is the right one and
 * came after our row (safety 2), else `spentOtherwise`. Null when the chain must be asked again later: the log is not to
 * be found yet, or its confirmations are missing. What it reads is stored as evidence.
 */
export async function judgeUsedNonce(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  payment: Payment,
): Promise<Occurrence | null> {
  const { latest } = await blockNumbers(rpc);
  const fromBlock = payment.unusedAtBlock === null ? blockAtIntake(deps, network, payment, latest) : payment.unusedAtBlock + 1n;
  const finding = await findAuthorization(rpc, network, payment.payer, payment.nonce, fromBlock);
  if (finding.kind === 'none') {
    return payment.unusedAtBlock === null ? spentOtherwise(payment, 'invalid_exact_evm_nonce_already_used') : null;
  }
  if (finding.kind !== 'used') return spentOtherwise(payment, `authorization_${finding.kind}`);
  const transfer = evidenceIn(network, finding.receipt, payment);
  if (!transfer) return spentOtherwise(payment, 'authorization_used_otherwise');
  const blockTime = await storeReceipt(deps, network, rpc, finding.receipt);
  if (payment.unusedAtBlock === null && !isAfterRow(payment, blockTime)) {
    return spentOtherwise(payment, 'invalid_exact_evm_nonce_already_used');
  }
  return isConfirmed(network, payment, transfer.blockNumber, latest) ? evidenceEvent(payment, transfer, blockTime) : null;
}

/** Without a look of our own at the nonce: the first block that can be later than the row. */
function blockAtIntake(deps: SettlementDeps, network: Network, payment: Payment, latest: bigint): bigint {
  const blocks = BigInt(Math.ceil((deps.now() - payment.acceptedAt.getTime()) / network.blockTimeMs)) + 10n;
  return latest > blocks ? latest - blocks : 0n;
}

function isAfterRow(payment: Payment, blockTime: Date): boolean {
  return (
    BigInt(Math.floor(blockTime.getTime() / 1000)) >
    BigInt(Math.floor(payment.acceptedAt.getTime() / 1000)) + CLOCK_ALLOWANCE_SECONDS
  );
}

/** Stores a receipt's transfers as evidence, as read; returns its block's time. A second call changes nothing. */
export async function storeReceipt(deps: SettlementDeps, network: Network, rpc: Rpc, receipt: Receipt): Promise<Date> {
  const blockTime = new Date(Number(await blockTimeSeconds(rpc, receipt.blockNumber)) * 1000);
  const evidence = readOnce(network, receipt);
  const authorizationOf = new Map(evidence.authorizations.map((entry) => [entry.position, entry]));
  const rows: ChainTransferRow[] = evidence.transfers.map((transfer) => ({
    network: network.id,
    txHash: transfer.txHash,
    logPosition: transfer.position,
    logIndex: transfer.logIndex,
    blockNumber: transfer.blockNumber,
    blockHash: transfer.blockHash,
    blockTime,
    token: network.asset,
    from: transfer.from,
    to: transfer.to,
    amountMicro: transfer.value,
    payer: authorizationOf.get(transfer.position)?.payer ?? null,
    nonce: authorizationOf.get(transfer.position)?.nonce ?? null,
  }));
  await recordTransfers(deps.database, rows);
  return blockTime;
}
