import { z } from 'zod';
import { PERIODS } from '../../modules/budgets/rules/period.ts';
import { MOST_MICRO } from '../../modules/budgets/use/settings.ts';
import { NO_CONTROLS } from './shared.ts';

const MOST = Number(MOST_MICRO);
const micro = z.int('must be whole micro-USDC').min(0, 'must be at least 0').max(MOST, 'is too much');
const optionalMicro = z.exactOptional(micro.nullable());
const period = z.enum(PERIODS, 'must be one of day, week, month');
const uuid = z.string();

/** Body of PUT /_svc/accounts/budget. What is left out is no limit. */
export const BudgetBody = z
  .strictObject(
    {
      ifVersion: z
        .int('must be a whole number')
        .min(0, 'must be at least 0')
        .meta({ description: 'The version this change is based on; 0 if there is none yet.' }),
      period: period.meta({ description: 'UTC; a week begins on Monday.' }),
      totalMicro: micro.meta({ description: 'In all, in a period.' }),
      hostMicro: optionalMicro.meta({ description: 'At one host in a period.' }),
      pageMicro: optionalMicro.meta({ description: 'What one page may cost.' }),
      approveAboveMicro: optionalMicro.meta({ description: 'A purchase above this price waits for the owner’s approval.' }),
      isStopped: z.exactOptional(z.boolean('must be true or false')),
    },
    'must be an object',
  )
  .meta({ id: 'BudgetBody' });

const Budget = z
  .object({
    version: z.int(),
    period,
    totalMicro: z.int(),
    hostMicro: z.int().nullable(),
    pageMicro: z.int().nullable(),
    approveAboveMicro: z.int().nullable(),
    isStopped: z.boolean(),
    updatedAt: z.number(),
    spentMicro: z.int(),
    leftMicro: z.int(),
    periodStartsAt: z.number(),
    periodEndsAt: z.number(),
  })
  .meta({ id: 'AccountBudget', description: 'What the account may spend, and what is left; amounts in micro-USDC.' });

/** Success of GET and PUT /_svc/accounts/budget; null: the account may spend anything. */
export const BudgetAnswer = z.object({ budget: Budget.nullable() }).meta({ id: 'BudgetAnswer' });

/** A purchase that the owner was asked about. */
export const AccountApproval = z
  .object({
    approvalId: uuid,
    host: z.string(),
    resource: z.string(),
    kind: z.enum(['read', 'citation']),
    amountMicro: z.int(),
    state: z.enum(['asked', 'approved', 'refused', 'used', 'ended']),
    askedAt: z.number(),
    decidedAt: z.number().nullable(),
    endsAt: z.number(),
  })
  .meta({ id: 'AccountApproval' });

/** Success of GET /_svc/accounts/approvals. */
export const AccountApprovals = z.object({ approvals: z.array(AccountApproval) }).meta({ id: 'AccountApprovals' });

/** Body of POST /_svc/accounts/approvals/{approvalId}. */
export const ApprovalWord = z
  .strictObject({ decision: z.enum(['approve', 'refuse'], 'must be approve or refuse') }, 'must be an object')
  .meta({ id: 'ApprovalWord' });

const agentKey = { keyId: uuid, name: z.string().nullable(), last4: z.string(), createdAt: z.number() };

/** Success of GET /_svc/accounts/keys. */
export const AgentKeys = z.object({ keys: z.array(z.object(agentKey)) }).meta({ id: 'AgentKeys' });

/** Body of POST /_svc/accounts/keys. */
export const AgentKeyBody = z
  .strictObject(
    {
      name: z
        .string('must be text')
        .min(1, 'is empty')
        .max(100, 'is too long')
        .regex(NO_CONTROLS, 'has a control character')
        .refine((text) => text.isWellFormed(), 'is not well-formed text'),
    },
    'must be an object',
  )
  .meta({ id: 'AgentKeyBody' });

/** Success of POST /_svc/accounts/keys: the key itself is shown this once. */
export const MintedAgentKey = z.object({ ...agentKey, token: z.string() }).meta({ id: 'MintedAgentKey' });
