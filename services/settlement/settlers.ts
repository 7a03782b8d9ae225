import { findBatch } from '../../db/settlement/relayer.ts';
import type { ConfirmResult } from './confirm.ts';
import { confirmBatch } from './confirm.ts';
import type { SettlementDeps } from './deps.ts';
import { confirmWithFacilitator } from './facilitator/confirm.ts';
import { claimForFacilitator } from './facilitator/submit.ts';
import type { SendResult } from './send.ts';
import { claimAndSend } from './send.ts';
import type { BatchProposal } from './starter.ts';

/** Who moves the money of a batch (DESIGN §4, Settlers). Test keys have no batch: `settleMock` answers them. */
interface Settler {
  /** Claims what is open of a proposal and sets it on its way; called again for the same batch it claims nothing. */
  send(deps: SettlementDeps, proposal: BatchProposal, workflowId: string | null): Promise<SendResult>;
  /** Stays with a batch for `timeoutMs` and decides what the chain decides; any number of calls is harmless. */
  confirm(
    deps: SettlementDeps,
    batchId: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<ConfirmResult>;
}

const relayer: Settler = { send: claimAndSend, confirm: confirmBatch };
const facilitator: Settler = { send: claimForFacilitator, confirm: confirmWithFacilitator };

/** Sends a proposal by the rail that its network is configured for. */
export function sendProposal(deps: SettlementDeps, proposal: BatchProposal, workflowId: string | null): Promise<SendResult> {
  const settler = deps.networks.get(proposal.network).settler === 'facilitator' ? facilitator : relayer;
  return settler.send(deps, proposal, workflowId);
}

/** Confirms a batch by the rail that carries it, whatever its network is configured for by now. */
export async function confirmCarried(
  deps: SettlementDeps,
  batchId: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ConfirmResult> {
  const kind = (await findBatch(deps.database, batchId))?.kind;
  return (kind === 'facilitator' ? facilitator : relayer).confirm(deps, batchId, options);
}
