import type { RetentionPeriods } from '../../modules/operations/use/retention.ts';

/** Periods as they are unless configured. */
export const KEPT: RetentionPeriods = { webhooks: 90, userAgents: 90, signIns: 90 };
