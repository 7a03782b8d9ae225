/** Pages of what the operator's command line lists: the newest first, each with the place at which the next one begins. */

/** Where a row stands in its list. */
export interface Place {
  readonly at: Date;
  readonly id: string;
}

/** How much of a list is asked for, and behind which row; null: from its beginning. */
export interface Page {
  readonly limit: number;
  readonly after: Place | null;
}
