/** The envelope: what the key of this machine may spend. A file that its owner writes, and no tool ever changes. */
import { z } from 'zod';
import { microOfUsdc } from '../money.ts';

const PERIODS = ['day', 'week', 'month'] as const;

/** A span of UTC; weeks begin on Monday. */
export type Period = (typeof PERIODS)[number];

/** Limits in micro-USDC; null where there is none. */
export interface Envelope {
  readonly period: Period;
  /** Most in a period, everything counted. */
  readonly totalMicro: bigint;
  /** Most in a period at one host. */
  readonly hostMicro: bigint | null;
  /** Most for one page or licence. */
  readonly pageMicro: bigint | null;
  /** What costs more needs a yes of a person first. */
  readonly approveAboveMicro: bigint | null;
  /** Nothing is bought while this is true. */
  readonly stop: boolean;
}

const usdc = z.string('must be a decimal amount of USDC in quotes: "0.05"').transform((text, context) => {
  const micro = microOfUsdc(text);
  if (micro !== null) return micro;
  context.addIssue({ code: 'custom', message: 'must be a decimal amount of USDC in quotes, with at most six places' });
  return z.NEVER;
});

/** Misspelt limits are errors: a limit that nobody reads would be none. */
const shape = z.strictObject({
  period: z.enum(PERIODS).default('day'),
  total: usdc,
  perHost: usdc.optional(),
  perPage: usdc.optional(),
  approveAbove: usdc.optional(),
  stop: z.boolean().default(false),
});

/** What holds where no file says otherwise: 1 USDC a day, 0.10 for one page. */
export const DEFAULT_ENVELOPE: Envelope = {
  period: 'day',
  totalMicro: 1_000_000n,
  hostMicro: null,
  pageMicro: 100_000n,
  approveAboveMicro: null,
  stop: false,
};

/** Reads the text of an envelope file; a sentence for one that cannot be read. */
export function parseEnvelope(text: string): Envelope | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is no JSON';
  }
  const read = shape.safeParse(value);
  if (!read.success)
    return `${read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ')}; its members are ${Object.keys(shape.shape).join(', ')}`;
  const { period, total, perHost = null, perPage = null, approveAbove = null, stop } = read.data;
  return { period, totalMicro: total, hostMicro: perHost, pageMicro: perPage, approveAboveMicro: approveAbove, stop };
}

/** The period that `atMs` lies in, in milliseconds: from, and until but not with. */
export function periodAt(period: Period, atMs: number): { readonly fromMs: number; readonly untilMs: number } {
  const at = new Date(atMs);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (period === 'month') return { fromMs: Date.UTC(year, month), untilMs: Date.UTC(year, month + 1) };
  const first = period === 'day' ? day : day - ((at.getUTCDay() + 6) % 7);
  return { fromMs: Date.UTC(year, month, first), untilMs: Date.UTC(year, month, first + (period === 'day' ? 1 : 7)) };
}
