import { z } from 'zod';
import { EARNINGS_GROUPS } from '../../../modules/reports/use/earnings.ts';
import { address, kind } from '../shared.ts';
import { count, netMicro, nextCursor, reportFilters, reportFrame, reportParams } from './report.ts';

/** Parameters of GET /_svc/earnings. */
export const EarningsParams = reportParams(EARNINGS_GROUPS).extend(reportFilters);
/** Parameters of statements and exports. */
export const WindowParams = reportParams(EARNINGS_GROUPS);

/** Text of a filter, up to some length; `what` it must be. */
const filterText = (what: string, longest: number) =>
  z
    .string(`must be ${what}`)
    .min(1, `must be ${what}`)
    .max(longest, `must be ${what}`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no name holds them, and Postgres cannot compare one of them
    .regex(/^[^\x00-\x1f\x7f]+$/, `must be ${what}`);
const authorId = filterText('an author id', 200);

/** What names the days of a file. */
const timeZone = z.exactOptional(
  filterText('a time zone', 64).meta({
    description: 'By whose calendar the file’s name has its days, such as Europe/Berlin; UTC unless given.',
  }),
);

/** Parameters of the PDF. */
export const PdfParams = WindowParams.extend({
  timeZone,
  author: z.exactOptional(
    authorId.meta({ description: 'An author id of the site: the statement of this author alone. Unknown: 404.' }),
  ),
});

/** Parameters of the ZIP of statements. */
export const ZipParams = WindowParams.extend({
  timeZone,
  part: z.exactOptional(
    z
      .string()
      .regex(/^[1-9]\d{0,4}$/, 'must be a whole number of at least 1')
      .meta({ description: 'Which archive of several, from 1; the first unless given.' }),
  ),
});

/** Filters of the CSV that the PDF and statements do not have. */
const csvFilters = {
  ...reportFilters,
  slug: z.exactOptional(filterText('a slug', 2_048).meta({ description: 'One page.' })),
  agent: z.exactOptional(filterText('the label of an agent', 253).meta({ description: 'Sales to one agent, by its label.' })),
  purpose: z.exactOptional(z.enum(['page', 'licence'], 'must be page or licence').meta({ description: 'Pages, or licences.' })),
  payer: z.exactOptional(address.meta({ description: 'Sales to one wallet.' })),
  wallet: z.exactOptional(address.meta({ description: 'The legs to this wallet alone.' })),
};
/** Parameters of the CSV. */
export const CsvParams = WindowParams.extend({
  ...csvFilters,
  timeZone,
  author: z.exactOptional(
    authorId.meta({
      description: 'An author id of the site: the legs to the wallets of this author alone, as earnings count them.',
    }),
  ),
});

const sums = { events: count, reads: count, citations: count };

/** EarningsTotals of the specification. */
const EarningsTotals = z
  .object({ tenants: count, ...sums, authors: count, grossMicroUsdc: netMicro })
  .meta({ id: 'EarningsTotals' });

/** Crossing of the specification. */
const Crossing = z.object({ host: z.string(), slug: z.string(), kind, micro: netMicro, at: z.number() }).meta({
  id: 'Crossing',
  description:
    'One settled read or citation, or what takes one back: its amount is negative, and it is of the time it was recorded.',
});

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
