/** How much of a page is owed to who paid for it and may not have it. Pure figures; `store/owed.ts` asks them of rows. */

/** How long after its settlement a sale whose answer was lost is served again for nothing, in hours. */
export const OWED_HOURS = 24;

/** How many licences its payer gets for nothing within these, each for another payment that its wallet has signed. */
export const MOST_OWED = 5;
