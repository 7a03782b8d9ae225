import { toldState } from '../../../db/paymentStates.ts';
import type { FailureReason } from '../../kernel/errors.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { Span } from '../../kernel/time/window.ts';
import type { Source } from '../../paging/store/source.ts';
import { equals, isWithin, timeOf } from '../../paging/store/source.ts';
import { spendingOutcome } from './standing.ts';

/** What became of what an account spent: it may still move, the money moved, or it did not and can no longer. */
export type SpendingOutcome = 'open' | 'settled' | 'released';

/** A payment counted against an account, with what became of it. */
export interface SpendingRow {
  readonly paymentId: string;
  readonly atMs: number;
  readonly host: string;
  /** The page, or what the licence is over. */
  readonly resource: string;
  readonly kind: CrossingKind;
  readonly purpose: 'page' | 'licence';
  readonly micro: bigint;
  readonly outcome: SpendingOutcome;
  readonly paymentState: PaymentState;
  /** Why it failed; null unless it did. */
  readonly reason: FailureReason | null;
  readonly mode: 'live' | 'mock';
  readonly network: string;
  readonly payer: string;
  /** Of the authorization: its sender has no other name for the payment. */
  readonly nonce: string;
  readonly txHash: string | null;
}

/** Which of them. */
export interface SpendingFilter {
  readonly host?: string | null | undefined;
  readonly resource?: string | null | undefined;
  readonly outcome?: SpendingOutcome | null | undefined;
  readonly window?: Span | undefined;
}

/** Where spending is read from, with its payment. */
export const SPENDING_FROM =
  'account_spending a join ledger.payment p on p.tenant_id = a.tenant_id and p.payment_id = a.payment_id';

/** What an account spent, over all sites: its rows are the account's, and its payments are found by their keys. */
export const SPENDING: Source<SpendingRow, SpendingFilter> = {
  columns: `a.payment_id, a.at, a.host, p.resource, a.kind, a.purpose, a.amount_micro, ${spendingOutcome('p')} as outcome,
    ${toldState('p')} as payment_state, p.reason, p.mode, p.network, p.payer, p.nonce, p.tx_hash`,
  from: SPENDING_FROM,
  tenant: 'a.account_id',
  id: { column: 'a.payment_id', type: 'uuid' },
  orderings: {
    NEWEST: { column: 'a.at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'a.at', type: 'timestamptz', direction: 'asc' },
  },
  keys: {},
  where: (binder, filter) => [
    ...equals(binder, 'a.host', filter.host),
    ...equals(binder, 'p.resource', filter.resource),
    ...equals(binder, spendingOutcome('p'), filter.outcome),
    ...isWithin(binder, 'a.at', filter.window),
  ],
  read: (row) => ({
    paymentId: row['payment_id'],
    host: row['host'],
    resource: row['resource'],
    kind: row['kind'],
    purpose: row['purpose'],
    outcome: row['outcome'],
    paymentState: row['payment_state'],
    reason: row['reason'],
    mode: row['mode'],
    network: row['network'],
    payer: row['payer'],
    nonce: row['nonce'],
    txHash: row['tx_hash'],
    atMs: timeOf(row['at']),
    micro: BigInt(row['amount_micro']),
  }),
};
