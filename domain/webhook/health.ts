/** When an endpoint is disabled by us (decisions §4, Auto-disable); a success starts both counts anew, so does enabling it. */
export const DISABLE_AFTER = { failingDays: 5, exhaustedInRow: 100 } as const;
