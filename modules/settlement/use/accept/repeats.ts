import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../../db/database.ts';
import type { Rates } from '../../../../platform/pacing/rates.ts';
import type { Caller } from '../../../identity/use/keys/authenticate.ts';
import { COSTS } from '../../../kernel/rate.ts';
import { parsePayment } from '../../../kernel/x402/payload.ts';
import type { Payment } from '../../store/payment.ts';
import type { AnswerDeps } from '../answer/answer.ts';
import { pendingError } from '../answer/answer.ts';
import { atLedger } from '../answer/ledger.ts';
import { findKnown } from './intake.ts';

/** What letting repeated payments in needs. */
type RepeatDeps = Pick<AnswerDeps, 'networks' | 'metrics'> & { readonly database: Database; readonly rates?: Rates };

/** A repeated payment waits so long for its turn at most, as long as a payment waits for its row; after that it is told to come back. */
const LONGEST_WAIT_MS = 20_000;

/**
 * Lets in a call above the rate of its key that shows, byte for byte, a payment its site took in before: it has a row, so that it gets its
 * answer and no 429. False for any other, which is refused as it would have been.
 *
 * What bounds the cost: the body and the key are read, then comes one look into an index; both statements are shared with the calls of the
 * same moment, the look one statement at a time; a refusal waits half a second on its connection (api/held.ts). The signature is compared
 * with the stored one, so that an invented one costs no more. And what is let in waits for its turn in buckets of the key's and the site's
 * rate, which nothing but such calls takes from: neither has more answers a second by it than it may have calls. Where the turn is too far
 * away the answer is settlement_pending. Throws that, and database_unavailable.
 */
export async function letRepeatIn(deps: RepeatDeps, caller: Caller, text: unknown): Promise<boolean> {
  const known = typeof text === 'string' ? await findRepeated(deps, caller, text) : null;
  if (!known) return false;
  const waitMs = turnOf(deps.rates, caller);
  if (waitMs === null) throw pendingError(deps, known);
  if (waitMs > 0) await sleep(waitMs);
  return true;
}

/** Milliseconds until this repeat's turn, after those of its key and of its site; null when it is too far away. */
function turnOf(rates: Rates | undefined, { key, tenant }: Caller): number | null {
  const ofKey = rates?.queue(['key', `repeated ${key.keyId}`], COSTS.medium, LONGEST_WAIT_MS) ?? null;
  if (ofKey === null) return null;
  const ofTenant = rates?.queue(['tenant', `repeated ${tenant.tenantId}`], COSTS.medium, LONGEST_WAIT_MS) ?? null;
  return ofTenant === null ? null : Math.max(ofKey, ofTenant);
}

async function findRepeated({ database, networks }: RepeatDeps, { tenant }: Caller, text: string): Promise<Payment | null> {
  const parsed = parsePayment(text);
  const network = parsed.ok ? networks.findForPayment(parsed.payment) : null;
  if (!parsed.ok || !network) return null;
  const { authorization, signature } = parsed.payment;
  const { from: payer, nonce } = authorization;
  const known = await atLedger(() => findKnown(database, { network: network.id, asset: network.asset, payer, nonce }));
  return known?.tenantId === tenant.tenantId && known.signature === signature ? known : null;
}
