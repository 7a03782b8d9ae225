import { z } from 'zod';
import type { Approval, ApprovalState } from '../../modules/budgets/use/approvals.ts';
import { sayToApproval, showApprovals } from '../../modules/budgets/use/approvals.ts';
import type { AgentKey } from '../../modules/budgets/use/keys.ts';
import { mintAgentKey, revokeAgentKey, showAgentKeys } from '../../modules/budgets/use/keys.ts';
import type { ShownBudget } from '../../modules/budgets/use/settings.ts';
import { lookAtBudget, setBudget } from '../../modules/budgets/use/settings.ts';
import { ROW_COST } from '../limits/limits.ts';
import { accountMutation, id, line } from '../mutations/field.ts';
import { builder } from '../schema/builder.ts';
import { CrossingKind } from '../schema/enums.ts';
import { words } from '../schema/words.ts';
import { BuyerAccount, PeriodName } from './account.ts';

const limit = 'null: there is no such limit.';

const BudgetType = builder.objectRef<ShownBudget>('Budget').implement({
  description: 'What an account may spend.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: '`ifVersion` of `setBudget` is this.' }),
    period: t.field({ type: PeriodName, description: 'How long it lasts.', resolve: ({ period }) => period }),
    totalMicro: t.expose('totalMicro', { type: 'Micro', description: 'In all, in a period.' }),
    hostMicro: t.expose('hostMicro', { type: 'Micro', nullable: true, description: `At one host in a period; ${limit}` }),
    pageMicro: t.expose('pageMicro', { type: 'Micro', nullable: true, description: `What one page may cost; ${limit}` }),
    approveAboveMicro: t.expose('approveAboveMicro', {
      type: 'Micro',
      nullable: true,
      description: 'What costs more waits for the owner’s word; null: nothing does.',
    }),
    isStopped: t.exposeBoolean('isStopped', { description: 'True: nothing may be bought.' }),
    spentMicro: t.expose('spentMicro', {
      type: 'Micro',
      description: 'What counts in this period: what was paid and what may still be.',
    }),
    leftMicro: t.expose('leftMicro', { type: 'Micro', description: 'What is left of `totalMicro`.' }),
    periodEndsAt: t.field({
      type: 'EpochMs',
      description: 'When it starts again.',
      resolve: ({ periodEndsAtMs }) => periodEndsAtMs,
    }),
    updatedAt: t.field({
      type: 'EpochMs',
      description: 'When it was set.',
      resolve: ({ updatedAt }) => updatedAt.getTime(),
    }),
  }),
});

const ApprovalStateName = words<ApprovalState>('ApprovalState', 'What became of a purchase that the owner was asked about.', {
  asked: 'It waits for the owner’s word.',
  approved: 'It may be bought, once.',
  refused: 'It may not be bought.',
  used: 'It was bought.',
  ended: 'Nobody decided, or nobody bought, in time.',
});

const ApprovalType = builder.objectRef<Approval>('Approval').implement({
  description: 'A purchase that the owner was asked about, because it costs more than `approveAboveMicro`.',
  fields: (t) => ({
    approvalId: t.exposeID('approvalId', { description: 'Its id, which its agent was told.' }),
    host: t.exposeString('host', { description: 'Of which site.' }),
    resource: t.exposeString('resource', { description: 'The URL.' }),
    kind: t.field({ type: CrossingKind, description: 'A read or a citation.', resolve: ({ kind }) => kind }),
    amountMicro: t.expose('amountMicro', { type: 'Micro', description: 'For how much, exactly.' }),
    state: t.field({ type: ApprovalStateName, description: 'What became of it.', resolve: ({ state }) => state }),
    askedAt: t.field({ type: 'EpochMs', description: 'When it was asked.', resolve: ({ askedAt }) => askedAt.getTime() }),
    endsAt: t.field({ type: 'EpochMs', description: 'Until when it lasts.', resolve: ({ endsAt }) => endsAt.getTime() }),
  }),
});

const AgentKeyType = builder.objectRef<AgentKey>('AgentKey').implement({
  description:
    'A key of an agent: it buys for the account and changes nothing of it. The key itself was shown once and is not kept.',
  fields: (t) => ({
    keyId: t.exposeID('keyId', { description: 'Names it; no secret.' }),
    name: t.exposeString('name', { nullable: true, description: 'What it is for; null for one that the operator made.' }),
    last4: t.exposeString('last4', { description: 'Its last four characters.' }),
    createdAt: t.field({ type: 'EpochMs', description: 'When it was made.', resolve: ({ createdAt }) => createdAt.getTime() }),
  }),
});

builder.objectFields(BuyerAccount, (t) => ({
  budget: t.field({
    type: BudgetType,
    nullable: true,
    description: 'What it may spend and what is left; null: it may spend anything.',
    complexity: ROW_COST,
    resolve: ({ accountId }, _args, { deps }) => lookAtBudget({ database: deps.reading }, accountId),
  }),
  approvals: t.field({
    type: [ApprovalType],
    description: 'Purchases that its owner was asked about, the newest hundred, newest first.',
    complexity: ROW_COST,
    resolve: ({ accountId }, _args, { deps }) => showApprovals({ database: deps.reading }, accountId),
  }),
  keys: t.field({
    type: [AgentKeyType],
    description: 'Keys of its agents that let somebody in, oldest first.',
    complexity: ROW_COST,
    resolve: ({ accountId }, _args, { deps }) => showAgentKeys({ database: deps.reading }, accountId),
  }),
}));

const SetBudgetPayload = builder.objectRef<{ readonly budget: ShownBudget }>('SetBudgetPayload').implement({
  description: 'The budget from now on.',
  fields: (t) => ({
    budget: t.field({ type: BudgetType, description: 'As it is now.', resolve: ({ budget }) => budget }),
  }),
});

accountMutation('setBudget', {
  description: 'Sets what the account may spend, from the very next purchase on. What is left out is no limit.',
  input: builder.inputType('SetBudgetInput', {
    description: 'What an account may spend.',
    fields: (t) => ({
      ifVersion: t.int({ required: true, description: 'The version that this was decided by: 0 where there is no budget yet.' }),
      period: t.field({ type: PeriodName, required: true, description: 'How long it lasts.' }),
      totalMicro: t.field({ type: 'Micro', required: true, description: 'In all, in a period.' }),
      hostMicro: t.field({ type: 'Micro', description: 'At one host in a period.' }),
      pageMicro: t.field({ type: 'Micro', description: 'What one page may cost.' }),
      approveAboveMicro: t.field({ type: 'Micro', description: 'A purchase above this price waits for the owner’s approval.' }),
      isStopped: t.boolean({ description: 'True: nothing may be bought. Left out: false.' }),
    }),
  }),
  schema: z.object({
    ifVersion: z.int().min(0, 'must be at least 0'),
    period: z.enum(['day', 'week', 'month']),
    totalMicro: z.bigint(),
    hostMicro: z.bigint().nullish(),
    pageMicro: z.bigint().nullish(),
    approveAboveMicro: z.bigint().nullish(),
    isStopped: z.boolean().nullish(),
  }),
  payload: SetBudgetPayload,
  change: async (deps, accountId, { ifVersion, period, totalMicro, ...given }) => {
    const { hostMicro = null, pageMicro = null, approveAboveMicro = null } = given;
    const limits = { period, totalMicro, hostMicro, pageMicro, approveAboveMicro, isStopped: given.isStopped ?? false };
    return { budget: await setBudget(deps, accountId, limits, ifVersion) };
  },
});

const DecideApprovalPayload = builder.objectRef<{ readonly approval: Approval }>('DecideApprovalPayload').implement({
  description: 'The purchase with the owner’s decision.',
  fields: (t) => ({
    approval: t.field({ type: ApprovalType, description: 'As it is now.', resolve: ({ approval }) => approval }),
  }),
});

accountMutation('decideApproval', {
  description: 'Says yes or no to a purchase. Until it is bought the word may be taken back.',
  input: builder.inputType('DecideApprovalInput', {
    description: 'An owner’s word.',
    fields: (t) => ({
      approvalId: t.id({ required: true, description: 'Which purchase.' }),
      isApproved: t.boolean({ required: true, description: 'True: it may be bought, once, for exactly its amount.' }),
    }),
  }),
  schema: z.object({ approvalId: id('purchase'), isApproved: z.boolean() }),
  payload: DecideApprovalPayload,
  change: async (deps, accountId, word) => ({ approval: await sayToApproval(deps, accountId, word) }),
});

const MintAgentKeyPayload = builder
  .objectRef<{ readonly key: AgentKey; readonly token: string }>('MintAgentKeyPayload')
  .implement({
    description: 'A key just made.',
    fields: (t) => ({
      key: t.field({ type: AgentKeyType, description: 'As it is listed.', resolve: ({ key }) => key }),
      token: t.exposeString('token', { description: 'The key itself. It is shown this once and cannot be read again.' }),
    }),
  });

accountMutation('mintAgentKey', {
  description: 'Makes a key for an agent: it buys within the budget, and changes nothing. At most 20 an account.',
  input: builder.inputType('MintAgentKeyInput', {
    description: 'A key to make.',
    fields: (t) => ({ name: t.string({ required: true, description: 'What it is for, 1 to 100 characters.' }) }),
  }),
  schema: z.object({ name: line(100) }),
  payload: MintAgentKeyPayload,
  change: async (deps, accountId, { name }) => {
    const { token, ...key } = await mintAgentKey(deps, accountId, name);
    return { key, token };
  },
});

const RevokeAgentKeyPayload = builder.objectRef<{ readonly keyId: string }>('RevokeAgentKeyPayload').implement({
  description: 'A key that is revoked.',
  fields: (t) => ({ keyId: t.exposeID('keyId', { description: 'The key; every call with it is refused from now on.' }) }),
});

accountMutation('revokeAgentKey', {
  description: 'Revokes a key of an agent from the very next call on. Again: it stays revoked.',
  input: builder.inputType('RevokeAgentKeyInput', {
    description: 'A key to revoke.',
    fields: (t) => ({ keyId: t.id({ required: true, description: 'The key.' }) }),
  }),
  schema: z.object({ keyId: id('key') }),
  payload: RevokeAgentKeyPayload,
  change: async (deps, accountId, { keyId }) => {
    await revokeAgentKey(deps, accountId, keyId);
    return { keyId };
  },
});
