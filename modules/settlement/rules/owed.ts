/** For how long, and how often, a buyer whose page was lost gets it again for nothing. Figures alone; `store/owed.ts` applies them to rows. */

/** How long after its settlement a sale whose answer was lost is served again for nothing, in hours. */
export const OWED_HOURS = 24;

/** How many licences its payer gets for nothing within these, each for another payment that its wallet has signed. */
export const MOST_OWED = 5;
