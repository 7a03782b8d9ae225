import { z } from 'zod';
import { MAX_PRICE_MICRO } from '../../modules/kernel/money/money.ts';
import { kind, micro, NextStep, ObservedAgent, resource } from './shared.ts';

/** Every verdict of an observation. */
export const VERDICTS = ['served-free', 'agent-reread', 'denied', 'blocked', 'paid', 'payment-failed', 'unservable'] as const;

/** Where a report may hold text that Postgres cannot: it is refused by its place, since telemetry of a payment is cut to fit instead. */
const TEXTS = ['ua', 'classifyReason', 'verifiedAgent'] as const;

/** One report of POST /_svc/observe. */
export const ObservationReport = z
  .object(
    {
      resource,
      slug: z.exactOptional(z.string('must be text').max(512, 'is too long')),
      verdict: z.enum(VERDICTS, 'must be a verdict').meta({
        description: '`paid` and `payment-failed` are refused: the service writes them itself from settlements.',
      }),
      classifiedAs: z.enum(['human', 'agent'], 'must be human or agent'),
      kind: z.exactOptional(kind),
      priceMicro: z.exactOptional(micro.max(Number(MAX_PRICE_MICRO), 'is more than a page can cost')),
      at: z.exactOptional(z.int('must be epoch milliseconds').positive('must be epoch milliseconds')),
      agent: z.exactOptional(ObservedAgent),
    },
    'must be a report',
  )
  .superRefine(({ slug, agent }, context) => {
    const refuse = (...path: string[]) => context.addIssue({ code: 'custom', path, message: 'holds a NUL character' });
    if (slug?.includes('\u0000')) refuse('slug');
    for (const name of TEXTS) if (agent?.[name]?.includes('\u0000')) refuse('agent', name);
  })
  .meta({ id: 'ObservationReport' });

/** 1 to 50 reports. */
export const ObservationReports = z
  .array(ObservationReport)
  .min(1, 'must hold at least one report')
  .max(50, 'holds at most 50 reports');

/** Success of POST /_svc/observe. */
export const ObserveAccepted = z.object({ ok: z.literal(true), accepted: z.int() }).meta({ id: 'ObserveAccepted' });

/** Any error of POST /_svc/observe. */
export const ObserveError = z
  .object({ ok: z.literal(false), error: z.string(), next: z.exactOptional(NextStep), upgrade: z.exactOptional(z.literal(true)) })
  .meta({ id: 'ObserveError' });
