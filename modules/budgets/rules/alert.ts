import { microToJson } from '../../kernel/money/money.ts';

/** Parts of a budget, in percent, at which its account is told. */
export const THRESHOLDS = [50, 80, 100] as const;
/** One of them. */
export type Threshold = (typeof THRESHOLDS)[number];

/** The type of what is sent. */
export const ALERT_TYPE = 'budget.alert';

/** A change of what an account has spent of its limit, or of the limit, micro-USDC. */
export interface Spending {
  readonly limitMicro: bigint;
  readonly beforeMicro: bigint;
  readonly spentMicro: bigint;
  /** The limit before the change, 0 where there was none; the same as now unless told. */
  readonly limitBeforeMicro?: bigint;
}

/** The thresholds that spending has come to or past and had not before; none where nothing came closer, or there is no limit to speak of. */
export function thresholdsCrossed(spending: Spending): readonly Threshold[] {
  const { limitMicro, beforeMicro, spentMicro, limitBeforeMicro = limitMicro } = spending;
  const isReached = (micro: bigint, limit: bigint, percent: Threshold): boolean =>
    limit > 0n && micro * 100n >= limit * BigInt(percent);
  return THRESHOLDS.filter(
    (percent) => isReached(spentMicro, limitMicro, percent) && !isReached(beforeMicro, limitBeforeMicro, percent),
  );
}

/**
 * Whether a limit is used up for a purchase: all of it would have paid the price, and what is left does not. A price above the whole limit is
 * refused in any period, and says nothing of what was spent.
 */
export function isUsedUp({ limitMicro, spentMicro }: Pick<Spending, 'limitMicro' | 'spentMicro'>, amountMicro: bigint): boolean {
  return amountMicro <= limitMicro && spentMicro + amountMicro > limitMicro;
}

/** An alert as it was written down; nothing of it changes afterwards. */
export interface BudgetAlert {
  readonly accountId: string;
  readonly eventId: string;
  readonly period: 'day' | 'week' | 'month';
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly percent: Threshold;
  readonly spentMicro: bigint;
  readonly limitMicro: bigint;
  readonly at: Date;
}

/** What became of an alert. */
export type AlertState = 'unsent' | 'waiting' | 'delivered' | 'failed' | 'exhausted';

/** An alert, and how far it has come. */
export interface AlertRecord extends BudgetAlert {
  readonly state: AlertState;
  /** Why its last attempt failed; null: none did. */
  readonly reason: string | null;
  readonly attempts: number;
}

/** The bytes of an alert: the same ones for each attempt. Throws RangeError for an amount that no JSON integer holds. */
export function alertBody({ accountId, eventId, at, ...alert }: BudgetAlert): string {
  return JSON.stringify({
    id: eventId,
    type: ALERT_TYPE,
    eventId,
    createdAt: at.getTime(),
    data: {
      account: accountId,
      percent: alert.percent,
      period: alert.period,
      periodStartsAt: alert.periodStart.getTime(),
      periodEndsAt: alert.periodEnd.getTime(),
      spentMicro: microToJson(alert.spentMicro),
      limitMicro: microToJson(alert.limitMicro),
    },
  });
}
