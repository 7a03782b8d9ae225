import type { RetentionPeriods } from '../../services/retention/forget.ts';

/** Periods as they are unless configured. */
export const KEPT: RetentionPeriods = { webhooks: 90, userAgents: 90, signIns: 90 };
