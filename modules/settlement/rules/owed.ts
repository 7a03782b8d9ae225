/** How much of a page is owed to who paid for it and may not have it. Pure figures; `store/owed.ts` asks them of rows. */

/** How long after its settlement a sale whose answer was lost is served again for nothing, in hours. */
export const OWED_HOURS = 24;

/**
 * Who asks for it: somebody with the payment as it was shown before, which calldata publishes once it is mined; or the wallet, which has just signed
 * another payment for the page.
 */
export type OwedTo = 'payment' | 'wallet';

/** How many answers each gets after the licence has ended. Two counts, so that strangers with the payment cannot use up those of the wallet. */
export const MOST_OWED: Readonly<Record<OwedTo, number>> = { payment: 3, wallet: 5 };
