/** States of endpoints and deliveries in words. */
import { ago, words } from '../../core/format.ts';
import { many } from '../../core/lists.ts';
import type { Tone } from '../../parts/panel.ts';
import type { Delivery, Endpoint } from './documents.ts';

/** What events are about. */
export const EVENT_WORDS: Readonly<Record<string, string>> = {
  SETTLEMENT_COMPLETED: 'Settlement completed',
  ANOMALY_DETECTED: 'Anomaly detected',
};

/** Where endpoints are. */
export const CHANNELS = [
  { value: 'RAW', label: 'Your server (signed JSON)' },
  { value: 'SLACK', label: 'Slack' },
  { value: 'DISCORD', label: 'Discord' },
  { value: 'TEAMS', label: 'Microsoft Teams' },
] as const;

/** How much is told. */
export const PROFILES = [
  { value: 'DETAILED', label: 'Every share of every sale' },
  { value: 'SUMMARY', label: 'Counts alone' },
] as const;

const WHY: Readonly<Record<string, string>> = {
  owner: 'you disabled it',
  gone: 'the receiver said that it is gone',
  failing: 'every attempt failed for too long',
};

/** Whether nothing is sent to an endpoint because somebody paused it. */
export function isPaused({ pausedUntil }: Pick<Endpoint, 'pausedUntil'>, now: number = Date.now()): boolean {
  return pausedUntil !== null && pausedUntil > now;
}

/** How an endpoint stands. */
export function standingOf(
  endpoint: Pick<Endpoint, 'enabled' | 'disabledReason' | 'failuresInRow' | 'failingSince' | 'pausedUntil'>,
  now: number = Date.now(),
): { readonly tone: Tone; readonly text: string; readonly more: string } {
  if (!endpoint.enabled) {
    const why = WHY[endpoint.disabledReason ?? ''] ?? 'it was disabled';
    return { tone: endpoint.disabledReason === 'owner' ? 'plain' : 'bad', text: 'Disabled', more: `Nothing is sent: ${why}.` };
  }
  if (isPaused(endpoint, now)) return { tone: 'plain', text: 'Paused', more: 'Nothing is sent; what waits uses no attempt.' };
  if (endpoint.failuresInRow > 0) {
    const since = endpoint.failingSince === null ? '' : `, the first ${ago(endpoint.failingSince, now)}`;
    return { tone: 'warn', text: 'Failing', more: `${many(endpoint.failuresInRow, 'attempt')} in a row failed${since}.` };
  }
  return { tone: 'good', text: 'Enabled', more: 'Its newest attempt did not fail.' };
}

/** How a delivery stands. */
export function deliveryState({ state, attemptCount }: Pick<Delivery, 'state' | 'attemptCount'>): {
  readonly tone: Tone;
  readonly text: string;
} {
  if (state === 'DELIVERED') return { tone: 'good', text: 'Delivered' };
  if (state === 'PENDING')
    return attemptCount === 0 ? { tone: 'plain', text: 'Waiting' } : { tone: 'warn', text: 'Failing, will be retried' };
  if (state === 'EXHAUSTED') return { tone: 'bad', text: 'Given up' };
  return { tone: 'bad', text: words(state) };
}

/** JSON text for people; what is none stays as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
