import { z } from 'zod';
import { FAILURE_REASONS } from '../../../modules/kernel/errors.ts';
import { AUDIT_GROUPS } from '../../../modules/reports/use/audit.ts';
import { VERDICTS } from '../observe.ts';
import { kind } from '../shared.ts';
import { count, cursorUpTo, netMicro, reportFilters, reportFrame, reportParams } from './report.ts';

const verdict = z.enum(VERDICTS, 'must be a verdict');

/** Parameters of GET /_svc/audit. */
export const AuditParams = reportParams(AUDIT_GROUPS).extend({
  ...reportFilters,
  cursor: z.exactOptional(cursorUpTo(Number.MAX_SAFE_INTEGER)),
  verdict: z.exactOptional(verdict),
  agent: z.exactOptional(
    z
      .string()
      .min(1, 'must name an agent')
      .max(2048, 'is too long')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the one character Postgres cannot compare
      .regex(/^[^\u0000]*$/, 'must name an agent')
      .meta({
        description:
          'A label, as byAgent shows it, or the exact User-Agent or verified host that an agent sent. `other` finds the requests of no other label.',
      }),
  ),
});

const reasons = Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, count])) as Record<
  (typeof FAILURE_REASONS)[number],
  typeof count
>;

const answered = count.meta({
  description:
    'Paid requests that a gate had denied before, as x402 asks first. `missedMicroUsdc` counts what they were asked for all the same.',
});

const verifiedEarned = netMicro.meta({
  description:
    'Of `earnedMicroUsdc`, what requests paid whose signature verified. The rest was paid by agents that proved nothing.',
});

const AuditTotals = z
  .object({
    observations: count,
    agentHits: count,
    denied: count,
    answered,
    paid: count,
    servedFree: count,
    paymentFailed: count,
    missedMicroUsdc: netMicro,
    failedMicroUsdc: netMicro,
    earnedMicroUsdc: netMicro,
    failedByReason: z.object(reasons),
    verifiedHits: count,
    verifiedEarnedMicroUsdc: verifiedEarned,
    masqueradeAttempts: count,
  })
  .meta({ id: 'AuditTotals' });

const agentLabel = z.string().meta({
  description:
    'A verified host, a known crawler, the name that an agent gives itself, or `other`. A site has at most 200 such names a day.',
});

const hits = { hits: count, denied: count, answered, paid: count };

/** Body of GET /_svc/audit. */
export const PublisherAudit = z
  .object({
    ...reportFrame,
    totals: AuditTotals,
    previous: z.exactOptional(z.object({ totals: AuditTotals })),
    breakdown: z.exactOptional(
      z.array(
        z
          .object({
            key: z.string(),
            label: z.string(),
            ...hits,
            missedMicroUsdc: netMicro,
            earnedMicroUsdc: netMicro,
            verifiedEarnedMicroUsdc: verifiedEarned,
          })
          .meta({ id: 'AuditBreakdownRow' }),
      ),
    ),
    byAgent: z.array(z.object({ agent: agentLabel, ...hits, verified: z.exactOptional(z.boolean()) })),
    recent: z.array(
      z
        .object({
          host: z.string(),
          slug: z.string(),
          kind: z.exactOptional(kind),
          verdict,
          classifiedAs: z.enum(['human', 'agent']),
          agentUa: z.exactOptional(z.string()),
          verified: z.exactOptional(z.boolean()),
          verifiedAgent: z.exactOptional(z.string()),
          sigInvalid: z.exactOptional(z.boolean()),
          micro: z.exactOptional(netMicro),
          at: z.number(),
        })
        .meta({ id: 'AuditObservation' }),
    ),
    nextCursor: z.exactOptional(
      z.int().meta({ description: 'The cursor of the next page, to be given back as it is; absent at the end of the list.' }),
    ),
    truncated: z.exactOptional(
      z.boolean().meta({
        description:
          'True when groups or agents were left out, or rows that no cursor leads to: of one millisecond, those after the first 2,047 and the rest of their page.',
      }),
    ),
  })
  .meta({ id: 'PublisherAudit' });
