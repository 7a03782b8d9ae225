import { z } from 'zod';
import { address, kind } from '../shared.ts';
import { count, netMicro, reportFrame } from './report.ts';

const ReconciliationBucket = z.object({ legs: count, micro: netMicro }).meta({ id: 'ReconciliationBucket' });

const ReconciliationException = z
  .object({
    eventId: z.string().meta({ description: 'The crossing whose leg it is.' }),
    host: z.string(),
    slug: z.string(),
    kind,
    toAddress: address,
    micro: netMicro,
    recordedAt: z.number().meta({ description: 'Epoch milliseconds' }),
    ageMs: z.number(),
    reason: z.enum([
      'unsettled',
      'settlement_pending',
      'amount_mismatch',
      'missing_receipt',
      'payee_blocked',
      'forgone',
      'reverted',
      'written_off',
    ]),
    settlementRef: z.string().nullable(),
    settlementRefKind: z.enum(['txHash', 'transferId', 'mock', 'none']),
  })
  .meta({ id: 'ReconciliationException', description: 'A recorded leg that the chain does not show settled.' });

/** Body of GET /_svc/earnings/reconciliation. */
export const PublisherReconciliation = z
  .object({
    ...reportFrame,
    recorded: z.object({ events: count, grossMicroUsdc: netMicro }),
    settled: ReconciliationBucket,
    outstanding: ReconciliationBucket,
    exceptions: z.array(ReconciliationException).max(1_000),
    truncatedExceptions: z.exactOptional(
      z.literal(true).meta({ description: 'Set if exceptions were cut off; the buckets count all.' }),
    ),
  })
  .meta({ id: 'PublisherReconciliation' });
