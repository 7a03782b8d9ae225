import { z } from 'zod';
import { MOMENT, moment } from './moment.ts';
import { NO_CONTROLS } from './shared.ts';

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

const OUTCOMES = ['open', 'settled', 'released'] as const;
/** A filter that Postgres can compare: printable text. */
const text = (most: number) =>
  z.string().min(1, 'is empty').max(most, 'is too long').regex(NO_CONTROLS, 'has a control character');

/** Which spending: parameters of the list and of the file. */
export const SpendingWindow = z.object({
  from: z.exactOptional(moment.meta({ description: `Start of the window, ${MOMENT}.` })),
  until: z.exactOptional(moment.meta({ description: `End of the window, ${MOMENT}, exclusive.` })),
  host: z.exactOptional(text(253).meta({ description: 'Only on this host.' })),
  resource: z.exactOptional(text(2_000).meta({ description: 'Only this page, by its URL.' })),
  outcome: z.exactOptional(z.enum(OUTCOMES, `must be one of ${OUTCOMES.join(', ')}`)),
});

/** Parameters of GET /_svc/accounts/spending. */
export const SpendingParams = SpendingWindow.extend({
  groupBy: z.exactOptional(z.enum(['host', 'page'], 'must be host or page').meta({ description: 'Adds sums by host or page.' })),
  cursor: z.exactOptional(text(2_000).meta({ description: '`nextCursor` of the previous page.' })),
  limit: z.exactOptional(
    z
      .string()
      .regex(/^0*[1-9]\d{0,5}$/, 'must be a whole number of at least 1')
      .meta({ description: 'Rows per page, 50 by default; values above 500 count as 500.' }),
  ),
});

const sums = {
  payments: z.int(),
  settledMicro: z.int().meta({ description: 'The money moved, micro-USDC.' }),
  openMicro: z.int().meta({ description: 'It may still move, and counts; micro-USDC.' }),
};

/** A payment counted against the account. */
const AccountSpending = z
  .object({
    at: z.number(),
    host: z.string(),
    resource: z.string(),
    kind: z.enum(['read', 'citation']),
    purpose: z.enum(['page', 'licence']),
    amountMicro: z.int(),
    outcome: z.enum(OUTCOMES).meta({
      description:
        '`settled`: the money moved; `open`: it may still move, and counts; `released`: it did not and no longer can, and no longer counts.',
    }),
    paymentState: z.string(),
    reason: z.string().nullable().meta({ description: 'Why it failed; null unless it did.' }),
    network: z.string(),
    payer: z.string(),
    nonce: z.string(),
    settlementRef: z.string().nullable(),
    settlementRefKind: z.enum(['txHash', 'transferId', 'mock', 'none']),
    licenceJti: z.string().nullable().meta({ description: 'The licence over pages that it bought; null for a page.' }),
  })
  .meta({ id: 'AccountSpending' });

/** Success of GET /_svc/accounts/spending. */
export const SpendingList = z
  .object({
    totals: z.object(sums),
    spending: z.array(AccountSpending),
    groups: z.exactOptional(z.array(z.object({ key: z.string(), ...sums }))),
    nextCursor: z.exactOptional(z.string()),
  })
  .meta({ id: 'SpendingList' });
