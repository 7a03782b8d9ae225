import type { AlertRecord, AlertState } from '../../modules/budgets/rules/alert.ts';
import type { ShownAlerts } from '../../modules/budgets/use/alerts.ts';
import { showAlerts } from '../../modules/budgets/use/alerts.ts';
import type { AccountCaller } from '../../modules/identity/use/accounts/authenticate.ts';
import type { NoticeKind } from '../../modules/licences/rules/purchaseNews.ts';
import type { NoticeBody } from '../../modules/licences/use/notices.ts';
import { listAccountNotices } from '../../modules/licences/use/notices.ts';
import { ROW_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import { words } from '../schema/words.ts';

/** A buyer account as its owner sees it; each file of this folder adds its fields. */
export const BuyerAccount = builder.objectRef<AccountCaller>('BuyerAccount');

/** Periods of a budget. */
export const PeriodName = words<'day' | 'week' | 'month'>('BudgetPeriod', 'How long a budget lasts, in UTC.', {
  day: 'From midnight to midnight.',
  week: 'From Monday to Monday.',
  month: 'A month of the calendar.',
});

const AlertStateName = words<AlertState>('BudgetAlertState', 'How far an alert of a budget has come.', {
  unsent: 'Nobody said where to send it: it stands here alone.',
  waiting: 'It is on its way, or waits for its next attempt.',
  delivered: 'The receiver took it.',
  failed: 'It cannot be sent there.',
  exhausted: 'Every attempt failed.',
});

const BudgetAlertType = builder.objectRef<AlertRecord>('BudgetAlert').implement({
  description: 'What the account was told when a part of its budget was spent.',
  fields: (t) => ({
    eventId: t.exposeID('eventId', { description: 'Its id, the same for each attempt.' }),
    percent: t.exposeInt('percent', { description: 'Which part: 50, 80 or 100 percent.' }),
    period: t.field({ type: PeriodName, description: 'Of which budget.', resolve: ({ period }) => period }),
    periodStartsAt: t.field({
      type: 'EpochMs',
      description: 'When the period began.',
      resolve: ({ periodStart }) => periodStart.getTime(),
    }),
    spentMicro: t.expose('spentMicro', { type: 'Micro', description: 'What was spent then.' }),
    limitMicro: t.expose('limitMicro', { type: 'Micro', description: 'Of what.' }),
    at: t.field({ type: 'EpochMs', description: 'When.', resolve: ({ at }) => at.getTime() }),
    state: t.field({ type: AlertStateName, description: 'How far it has come.', resolve: ({ state }) => state }),
    attempts: t.exposeInt('attempts', { description: 'How often it was sent.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why its last attempt failed; null: none did.' }),
  }),
});

const AlertsType = builder.objectRef<ShownAlerts>('BudgetAlerts').implement({
  description: 'Where the account’s budget alerts are sent, and what was sent.',
  fields: (t) => ({
    url: t.exposeString('url', { nullable: true, description: 'Where; null: nowhere.' }),
    setAt: t.field({ type: 'EpochMs', nullable: true, description: 'Since when.', resolve: ({ setAtMs }) => setAtMs }),
    alerts: t.field({
      type: [BudgetAlertType],
      description: 'The newest hundred, newest first.',
      resolve: ({ alerts }) => [...alerts],
    }),
  }),
});

const NoticeKindName = words<NoticeKind>('AccountNoticeKind', 'What came of a purchase.', {
  licence_granted: 'A licence.',
  licence_taken_back: 'The chain took its payment back, and with it the licence.',
  purchase_failed: 'Nothing was paid, and nothing can be any more.',
  purchase_expired: 'It was not sent in time.',
  purchase_in_review: 'A person looks at it.',
});

const NoticeType = builder.objectRef<NoticeBody>('AccountNotice').implement({
  description: 'What came of a purchase whose request was over by then.',
  fields: (t) => ({
    kind: t.field({ type: NoticeKindName, description: 'What came of it.', resolve: ({ kind }) => kind }),
    jti: t.exposeID('jti', {
      nullable: true,
      description: 'The licence that was granted or taken back; null in every other case.',
    }),
    host: t.exposeString('host', { description: 'Of which site.' }),
    priceMicro: t.field({ type: 'Micro', description: 'For how much.', resolve: ({ priceMicro }) => BigInt(priceMicro) }),
    payer: t.exposeString('payer', { description: 'Who signed the payment.' }),
    nonce: t.exposeString('nonce', { description: 'Its nonce: its sender has no other name for it.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed; null in every other case.' }),
    at: t.exposeFloat('at', { description: 'When, epoch milliseconds.' }),
  }),
});

BuyerAccount.implement({
  description: 'A buyer account: its budget, what it spent, and who may buy for it. For its owner, signed in with its wallet.',
  fields: (t) => ({
    accountId: t.exposeID('accountId', { description: 'Its id.' }),
    alerts: t.field({
      type: AlertsType,
      description: 'Where its budget alerts are sent, and what was sent.',
      complexity: ROW_COST,
      resolve: ({ accountId }, _args, { deps }) => showAlerts({ database: deps.reading }, accountId),
    }),
    notices: t.field({
      type: [NoticeType],
      description: 'What came of its purchases, the newest hundred, newest first.',
      complexity: ROW_COST,
      resolve: ({ accountId }, _args, { deps }) => listAccountNotices({ database: deps.reading }, accountId),
    }),
  }),
});

builder.queryField('account', (t) =>
  t.field({
    type: BuyerAccount,
    nullable: true,
    description: 'The buyer account whose owner asks; refused for its agents’ keys and for credentials of a site.',
    authScopes: { accountOwner: true },
    complexity: ROW_COST,
    resolve: (_root, _args, { account }) => account,
  }),
);
