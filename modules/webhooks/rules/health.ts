/** When an endpoint is disabled by us; a success starts both counts anew, so does enabling it. */
export const DISABLE_AFTER = { failingDays: 5, exhaustedInRow: 100 } as const;
