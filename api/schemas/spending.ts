import { z } from 'zod';

const threshold = z.union([z.literal(50), z.literal(80), z.literal(100)]);

/** An alert of a budget, and how far it has come. */
const BudgetAlert = z
  .object({
    eventId: z.string(),
    percent: threshold,
    period: z.enum(['day', 'week', 'month']),
    periodStartsAt: z.number(),
    periodEndsAt: z.number(),
    spentMicro: z.number(),
    limitMicro: z.number(),
    at: z.number(),
    state: z.enum(['unsent', 'waiting', 'delivered', 'failed', 'exhausted']),
    attempts: z.number(),
    reason: z.string().nullable().meta({ description: 'Why its last attempt failed; null: none did.' }),
  })
  .meta({ id: 'BudgetAlert' });

/** Success of GET /_svc/accounts/alerts. */
export const BudgetAlerts = z
  .object({ url: z.string().nullable(), setAt: z.number().nullable(), alerts: z.array(BudgetAlert) })
  .meta({ id: 'BudgetAlerts' });

/** Body of PUT /_svc/accounts/alerts. */
export const AlertUrl = z
  .strictObject({ url: z.string('must be a URL, or null').max(2_000, 'is too long').nullable() }, 'must be an object')
  .meta({ id: 'AlertUrl' });

/** Success of PUT /_svc/accounts/alerts; without a secret where alerts go nowhere from now on. */
export const AlertUrlSet = z
  .object({ url: z.string().nullable(), secret: z.exactOptional(z.string()) })
  .meta({ id: 'AlertUrlSet' });
