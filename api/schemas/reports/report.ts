import { z } from 'zod';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import { keptHost } from '../../../modules/kernel/hosts/hostname.ts';
import { MAX_TIME_MS } from '../../../modules/kernel/time/window.ts';
import type { ReportQuery } from '../../../modules/reports/use/request.ts';
import { MOMENT, moment } from '../moment.ts';
import { parseWith } from '../parse.ts';
import { kind } from '../shared.ts';

/** Parameters and parts that the reports share. */

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 50;

/** A cursor of at most this: a whole number as any JSON library prints it, 1.79586498715e+12 as well. */
export const cursorUpTo = (most: number) =>
  z
    .string('must be a nextCursor')
    .regex(/^(\d{1,16}(\.0)?|\d(\.\d{1,16})?[eE]\+?\d{1,2})$/, 'must be a nextCursor')
    .refine((text) => Number.isSafeInteger(Number(text)) && Number(text) <= most, 'must be a nextCursor')
    .meta({ description: '`nextCursor` of the page before, a whole number; also in a form like 1.79586498715e+12.' });

/** What `compare` adds; the window before is cut by retention like any other. */
const COMPARE =
  '1: the answer of earnings and audit has `previous`, the totals of the window of the same length right before; without `to` the ' +
  'length is up to `generatedAt`. The plan’s retention cuts that window, too: where it begins before retention does, `previous` ' +
  'covers only what is after that, and is all zeros when `retentionClampedTo` is set. Whether it covers the whole length shows by ' +
  'asking for that window itself: `retentionClampedTo` is absent then.';

/** The six parameters of every report; `groups` are the names `groupBy` takes. */
export function reportParams<const Groups extends readonly [string, ...string[]]>(groups: Groups) {
  return z.object({
    from: z.exactOptional(moment.meta({ description: `Start of the window, ${MOMENT}; the plan limits how far back.` })),
    to: z.exactOptional(moment.meta({ description: `End of the window, ${MOMENT}, exclusive.` })),
    compare: z.exactOptional(z.enum(['0', '1'], 'must be 0 or 1').meta({ description: COMPARE })),
    groupBy: z.exactOptional(z.enum(groups, `must be one of ${groups.join(', ')}`)),
    cursor: z.exactOptional(cursorUpTo(MAX_TIME_MS)),
    limit: z.exactOptional(
      z
        .string()
        .regex(/^0*[1-9]\d*$/, 'must be a whole number of at least 1')
        .meta({ description: `Rows of a page, ${DEFAULT_LIMIT} by default; more than ${MAX_LIMIT} is taken as ${MAX_LIMIT}.` }),
    ),
  });
}

/** Filters of the reports that have them. */
export const reportFilters = {
  host: z.exactOptional(
    z
      .string()
      .min(1, 'must be a host')
      .max(253, 'must be a host')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no name holds them, and Postgres cannot compare one of them
      .regex(/^[^\x00-\x20\x7f]+$/, 'must be a host')
      .meta({ description: 'A host of the site, in A-labels or as people read it.' }),
  ),
  kind: z.exactOptional(kind),
};

/** Parameters as they came, after their shapes were checked. */
interface Given {
  readonly from?: number;
  readonly to?: number;
  readonly compare?: '0' | '1';
  readonly cursor?: string;
  readonly limit?: string;
  readonly host?: string;
  readonly kind?: 'read' | 'citation';
}

/** Query parameters of a report's shape. Throws 400 that names the parameter. */
export function parseReport<T extends Given>(
  schema: z.ZodType<T>,
  query: ReadonlyMap<string, string>,
): { readonly given: T; readonly query: ReportQuery } {
  const given = parseWith(schema, Object.fromEntries(query), 'invalid_parameter');
  const { from: fromMs = null, to: toMs = null, compare, cursor, limit, host, kind: only } = given;
  if (fromMs !== null && toMs !== null && fromMs > toMs) {
    throw new ServiceError('invalid_parameter', 'from: must not be after to', { parameter: 'from' });
  }
  return {
    given,
    query: {
      fromMs,
      toMs,
      compare: compare === '1',
      cursorMs: cursor === undefined ? null : Number(cursor),
      limit: Math.min(limit === undefined ? DEFAULT_LIMIT : Number(limit), MAX_LIMIT),
      host: host === undefined ? null : keptHost(host),
      kind: only ?? null,
    },
  };
}

const time = z.number().meta({ description: 'Epoch milliseconds' });
/** A number of things. */
export const count = z.int();
/** Net micro-USDC of a report. */
export const netMicro = z.int().meta({ description: 'Micro-USDC' });

/** The frame of every report. */
export const reportFrame = {
  generatedAt: time,
  window: z
    .object({ from: time.nullable(), to: time.nullable() })
    .meta({ id: 'Window', description: 'What the figures cover: `from` is inclusive, `to` exclusive.' }),
  retentionClampedTo: z.exactOptional(time.meta({ description: 'Start of the plan’s retention, if it cut the window.' })),
};
/** The cursor of a list; absent at its end. */
export const nextCursor = z.exactOptional(time);
