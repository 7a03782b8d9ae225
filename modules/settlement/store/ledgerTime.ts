/**
 * The time of a row that is being appended to the ledger, as SQL; both are SQL. A sale counts when its payment was made. One that is decided more
 * than an hour later, and every correction, counts when it is recorded, so that a report of a time changes no more an hour after it.
 */
export function ledgerTime(sequence: string, paidAt: string): string {
  return `case when ${sequence} = 0 and ${paidAt} > now() - interval '1 hour' then ${paidAt} else now() end`;
}
