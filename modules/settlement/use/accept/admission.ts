import { raiseAlert } from '../../../../db/alerts.ts';
import { MAX_BATCH_GAS } from '../../../../platform/chain/gas/gas.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { expectedWaitMs } from '../../rules/expectedWait.ts';
import { isStruck, UNDECIDED_LIMIT } from '../../rules/payerLimits.ts';
import type { AdmissionFacts } from '../../store/admission.ts';
import { whyClosed } from '../rails/rails.ts';
import type { SettleDeps, SettleRequest } from './settle.ts';

const LONGEST_EXPECTED_WAIT_MS = 10_000;

/**
 * Lets a payment in by what was read of it, or refuses before its row exists: too long a queue, no key that may send, gas dearer than the network's cap, a blocked recipient, the network's or the tenant's gas
 * budget spent (the operator is told, safety 19), a payer whose items keep failing or, with code, has several on their way. Each is a 503
 * that counts nothing (safety 10, 18, 19).
 */
export async function admit(
  deps: SettleDeps,
  request: SettleRequest,
  network: Network,
  { payerKind, facts }: { readonly payerKind: 'plain' | 'contract'; readonly facts: AdmissionFacts },
): Promise<void> {
  if (facts.blockedPayee) {
    throw new ServiceError('payee_blocked', 'an author of this page cannot receive payments right now', {
      retryAfterSeconds: 600,
    });
  }
  if (request.mode === 'live') {
    const limit = deps.settings.networkGasBudgetWeiPerDay;
    const isGasSpent = limit !== null && facts.networkGasWeiToday >= limit;
    const baseFeeWei = (await deps.rpcOf(network.id).baseFee?.()) ?? null;
    const asked = { isSplit: request.terms.legWords !== null, isPaused: facts.isPaused, isGasSpent, baseFeeWei };
    const closed = await whyClosed(deps.database, network, asked);
    if (closed) throw closed;
  }
  const budget = deps.settings.gasBudgetWeiPerDay;
  if (budget !== null && facts.gasWeiToday >= budget) {
    await raiseAlert(
      deps.database,
      'gas_budget_spent',
      `site ${request.tenantId}: the daily gas budget of ${budget} wei`,
      request.tenantId,
    );
    throw new ServiceError('gas_budget_spent', "the site's gas budget for today is spent", { retryAfterSeconds: 3600 });
  }
  if (isStruck(facts)) {
    throw new ServiceError('payer_limited', 'too many of this payer’s payments failed on chain; wait before the next', {
      retryAfterSeconds: 3600,
    });
  }
  if (payerKind === 'contract' && facts.undecided >= UNDECIDED_LIMIT) {
    throw new ServiceError('payer_limited', 'payments from this wallet are already in flight; wait for one to settle', {
      retryAfterSeconds: 5,
    });
  }
  // A network without keys of ours settles by another rail: it takes what it takes, a batch of the limit at a time.
  const inFlightLimit = facts.inFlightLimit || deps.settings.inFlightLimit;
  const waitMs = expectedWaitMs(
    { ...facts, inFlightLimit, keys: facts.keys || inFlightLimit },
    MAX_BATCH_GAS,
    network.blockTimeMs,
  );
  if (waitMs > LONGEST_EXPECTED_WAIT_MS) {
    throw new ServiceError('overloaded', 'more payments are waiting than can be settled soon; nothing was charged', {
      retryAfterSeconds: 10,
    });
  }
}
