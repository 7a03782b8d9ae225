import type { BatchOutcome } from '../../rules/batchOutcome.ts';
import type { BatchReport } from '../../store/batchOutcome.ts';
import { readBatchReport } from '../../store/batchOutcome.ts';
import type { SettlementDeps } from '../deps.ts';
import type { ConfirmResult } from './confirm.ts';
import type { SendResult } from './send.ts';

/** What sending came to, with the batch where it was sent; null where whoever asks knows it already. */
export interface ReportedSend extends SendResult {
  readonly batch: BatchReport | null;
}

/** What confirming came to, with what became of every payment of the batch. */
export interface ReportedConfirm extends ConfirmResult {
  readonly outcome: BatchOutcome;
}

const NOTHING: BatchOutcome = { settled: 0, failed: 0, reverted: 0, undecided: 0, reasons: [], txHash: null };

/** Adds what was sent. */
export async function reportSent(deps: SettlementDeps, batchId: string, sent: SendResult): Promise<ReportedSend> {
  const batch = sent.kind === 'sent' ? await readBatchReport(deps.database, batchId) : null;
  return { ...sent, batch };
}

/** Adds what became of it. */
export async function reportConfirmed(deps: SettlementDeps, batchId: string, confirmed: ConfirmResult): Promise<ReportedConfirm> {
  const report = await readBatchReport(deps.database, batchId);
  return { ...confirmed, outcome: report?.outcome ?? NOTHING };
}
