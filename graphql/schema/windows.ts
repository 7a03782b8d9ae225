import { z } from 'zod';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { NamedWindow } from '../../modules/kernel/time/series.ts';
import type { ReadableWindow } from '../../modules/kernel/time/window.ts';
import { readableWindow } from '../../modules/kernel/time/window.ts';
import { calendarWindow } from '../../modules/reports/use/calendar.ts';
import type { AskedWindow, ReportFrame, ReportSite } from '../../modules/reports/use/request.ts';
import { builder } from './builder.ts';
import { NamedWindowName } from './enums.ts';
import { timeZoneText } from './inputs.ts';

const MAX_DAYS = 3_660;
const HOUR_MS = 3_600_000;

/** A window as callers write it. */
export const WindowInput = builder.inputType('WindowInput', {
  description: 'A stretch of time. Left out: everything the plan lets read.',
  fields: (t) => ({
    from: t.field({ type: 'EpochMs', description: 'Where it begins; the plan limits how far back.' }),
    to: t.field({ type: 'EpochMs', description: 'Where it ends; does not belong to it. Left out: no end.' }),
    lastHours: t.int({
      description: 'Instead of `from`: so many hours back from now.',
      validate: z
        .int()
        .min(1, 'must be at least 1')
        .max(MAX_DAYS * 24, 'is too long')
        .nullish(),
    }),
    lastDays: t.int({
      description: 'Instead of `from`: so many days of 24 hours back from now.',
      validate: z.int().min(1, 'must be at least 1').max(MAX_DAYS, 'is too long').nullish(),
    }),
    named: t.field({ type: NamedWindowName, description: 'Instead of all others: a day, week, month or year of the calendar.' }),
    timeZone: t.string({
      description: 'Whose calendar `named` goes by: an IANA name such as Europe/Berlin. Left out: UTC.',
      validate: timeZoneText,
    }),
  }),
});

/** What of a report the window shows. */
export const Window = builder.objectRef<ReadableWindow>('Window').implement({
  description: 'What the figures cover.',
  fields: (t) => ({
    from: t.field({ type: 'EpochMs', description: 'Where it begins.', resolve: ({ fromMs }) => fromMs }),
    to: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Where it ends; does not belong to it. Null: no end.',
      resolve: ({ toMs }) => toMs,
    }),
    retentionClampedTo: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Start of the plan’s retention, if it cut the window.',
      resolve: ({ clampedToMs }) => clampedToMs,
    }),
  }),
});

/** What every report says of itself. */
export const Report = builder.interfaceRef<ReportFrame>('Report').implement({
  description: 'What every report says of itself.',
  fields: (t) => ({
    generatedAt: t.field({
      type: 'EpochMs',
      description: 'When it was made; all its figures are of one moment.',
      resolve: ({ generatedAtMs }) => generatedAtMs,
    }),
    window: t.field({ type: Window, description: 'What it covers.', resolve: ({ window }) => window }),
  }),
});

/** A window as given. */
export type GivenWindow =
  | {
      readonly from?: number | null | undefined;
      readonly to?: number | null | undefined;
      readonly lastHours?: number | null | undefined;
      readonly lastDays?: number | null | undefined;
      readonly named?: NamedWindow | null | undefined;
      readonly timeZone?: string | null | undefined;
    }
  | null
  | undefined;

/**
 * The window a caller means. Throws invalid_parameter when it names two beginnings, ends before it begins, or goes by a zone that does not
 * exist.
 */
export function askedWindow(given: GivenWindow, nowMs: number): AskedWindow {
  if (given?.named) return namedWindow(given, given.named, nowMs);
  if (given?.timeZone) refuse('window: timeZone applies only to `named`; `from` and `to` carry their own offset');
  const starts = [
    given?.from ?? null,
    given?.lastHours ? nowMs - given.lastHours * HOUR_MS : null,
    given?.lastDays ? nowMs - given.lastDays * 24 * HOUR_MS : null,
  ].filter((start) => start !== null);
  if (starts.length > 1) refuse('window: give one of from, lastHours and lastDays');
  const fromMs = starts[0] ?? null;
  const toMs = given?.to ?? null;
  if (fromMs !== null && toMs !== null && fromMs > toMs) refuse('window: must not end before it begins');
  return { fromMs: fromMs === null ? null : Math.max(0, fromMs), toMs };
}

function namedWindow(given: NonNullable<GivenWindow>, named: NamedWindow, nowMs: number): AskedWindow {
  const { from, to, lastHours, lastDays } = given;
  if ([from, to, lastHours, lastDays].some((other) => other !== null && other !== undefined)) {
    refuse('window: give `named`, or from and to, lastHours or lastDays');
  }
  return calendarWindow(named, given.timeZone, nowMs);
}

/** What of it the site's plan lets read. Throws as `askedWindow` does. */
export function windowOf(site: ReportSite, given: GivenWindow, nowMs: number): ReadableWindow {
  return readableWindow(askedWindow(given, nowMs), site.plan, nowMs);
}

function refuse(sentence: string): never {
  throw new ServiceError('invalid_parameter', sentence, { parameter: 'window' });
}
