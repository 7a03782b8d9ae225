import { z } from 'zod';
import { EARNINGS_GROUPS } from '../../../services/reports/earnings.ts';
import { kind } from '../shared.ts';
import { count, netMicro, nextCursor, reportFilters, reportFrame, reportParams } from './report.ts';

/** Parameters of GET /_svc/earnings. */
export const EarningsParams = reportParams(EARNINGS_GROUPS).extend(reportFilters);
/** Parameters of statements and exports. */
export const WindowParams = reportParams(EARNINGS_GROUPS);

/** Parameters of the PDF. */
export const PdfParams = WindowParams.extend({
  author: z.exactOptional(
    z
      .string('must be an author id')
      .min(1, 'must be an author id')
      .max(200, 'must be an author id')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no id holds them, and Postgres cannot compare one of them
      .regex(/^[^\x00-\x1f\x7f]+$/, 'must be an author id')
      .meta({ description: 'An author id of the site: the statement of this author alone. Unknown: 404.' }),
  ),
});

const sums = { events: count, reads: count, citations: count };

/** EarningsTotals of the specification. */
const EarningsTotals = z
  .object({ tenants: count, ...sums, authors: count, grossMicroUsdc: netMicro })
  .meta({ id: 'EarningsTotals' });

/** Crossing of the specification. */
const Crossing = z
  .object({ host: z.string(), slug: z.string(), kind, micro: netMicro, at: z.number() })
  .meta({ id: 'Crossing', description: 'One settled read or citation.' });

/** Body of GET /_svc/earnings. */
export const PublisherEarnings = z
  .object({
    ...reportFrame,
    totals: EarningsTotals,
    previous: z.exactOptional(z.object({ totals: EarningsTotals })),
    breakdown: z.exactOptional(
      z.array(z.object({ key: z.string(), label: z.string(), ...sums, grossMicroUsdc: netMicro }).meta({ id: 'BreakdownRow' })),
    ),
    tenants: z.array(
      z
        .object({
          id: z.string(),
          hosts: z.array(z.string()),
          ...sums,
          authors: count,
          grossMicroUsdc: netMicro,
          lastEventAt: z.number().nullable(),
        })
        .meta({ id: 'TenantLedger' }),
    ),
    recent: z.array(Crossing),
    nextCursor,
  })
  .meta({ id: 'PublisherEarnings' });

/** Body of GET /_svc/earnings/statements. */
export const PublisherStatements = z
  .object({
    ...reportFrame,
    statements: z.array(
      z
        .object({
          wallet: z.string(),
          ...sums,
          grossMicroUsdc: netMicro,
          lines: z.array(
            z
              .object({
                host: z.string(),
                slug: z.string(),
                kind,
                share: z.number().min(0).max(1),
                micro: netMicro,
                at: z.number(),
              })
              .meta({ id: 'PayoutStatementLine' }),
          ),
          truncatedLines: z.exactOptional(z.boolean()),
        })
        .meta({ id: 'PayoutStatement' }),
    ),
    totalMicroUsdc: netMicro,
    authors: count,
  })
  .meta({ id: 'PublisherStatements' });
