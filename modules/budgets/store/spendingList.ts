import { toldState } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import type { Span } from '../../kernel/time/window.ts';
import type { Source } from '../../paging/store/source.ts';
import { equals, isWithin } from '../../paging/store/source.ts';
import { spendingOutcome } from './standing.ts';

/** What became of what an account spent: it may still move, the money moved, or it did not and can no longer. */
export type SpendingOutcome = 'open' | 'settled' | 'released';

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

const SPENT = both(
  both(
    columnsOf('account_spending a', ['paymentId', 'at', 'host', 'kind', 'purpose', 'amountMicro']),
    columnsOf('ledger.payment p', ['resource', 'reason', 'mode', 'network', 'payer', 'nonce', 'txHash']),
  ),
  workedOut<{ readonly outcome: SpendingOutcome; readonly paymentState: PaymentState }>(
    `${spendingOutcome('p')} as outcome, ${toldState('p')} as "paymentState"`,
  ),
);
/**
 * A payment counted against an account, with what became of it. `resource` is the page, or what the licence is over; `reason` why it failed;
 * `nonce` that of the authorization: its sender has no other name for the payment.
 */
export type SpendingRow = RowOf<typeof SPENT>;

/** What an account spent, over all sites: its rows are the account's, and its payments are found by their keys. */
export const SPENDING: Source<SpendingRow, SpendingFilter> = {
  columns: SPENT,
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
};
