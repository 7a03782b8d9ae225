import type { Network } from '../../../../../platform/chain/network.ts';
import { ServiceError } from '../../../../kernel/errors.ts';
import { hasFlusher } from '../../../store/facilitator.ts';
import type { SettlementDeps } from '../../deps.ts';
import type { Rail } from '../rails.ts';
import { confirmWithFacilitator, sweepFacilitator } from './confirm.ts';
import { claimForFacilitator } from './submit.ts';
import { wordsOfWatched } from './words.ts';

/** An x402 facilitator that executes authorizations for us. The chain decides whatever it says, but for ids of its own. */
export const facilitatorRail: Rail = {
  check,
  // It never pays a split out: that takes a relayer key of ours (safety 4).
  whyClosed: async (sql, { id }, { isSplit }) => (isSplit && !(await hasFlusher(sql, id)) ? noFlusher() : null),
  claim: claimForFacilitator,
  confirm: confirmWithFacilitator,
  look: (deps, { batchId }) => confirmWithFacilitator(deps, batchId, { timeoutMs: 0 }),
  sweep: sweepFacilitator,
  words: wordsOfWatched,
};

/** Compares a network with what the facilitator offers; one that cannot be reached is only warned of: payments wait for it. */
async function check(deps: SettlementDeps, network: Network): Promise<void> {
  const reached = await deps.facilitatorOf(network.id)?.checkSupport(network);
  if (reached === null) deps.log.warn({ networkId: network.id }, 'the facilitator cannot be reached');
}

function noFlusher(): ServiceError {
  const sentence = 'a page with several authors cannot be paid on this network at present';
  return new ServiceError('payee_blocked', sentence, { retryAfterSeconds: 600 });
}
