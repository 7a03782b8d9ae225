import { z } from 'zod';
import { address, kind, micro, NextStep, ObservedAgent, resource } from './shared.ts';

/** A leg as sent: only address and amount count, the rest is ours to know. */
const SentLeg = z.looseObject({ toAddress: address, amountMicro: micro }, 'must be a leg');

/** A quote as sent back: the object of GET quote, or a bare price. */
const SentQuote = z
  .looseObject(
    {
      price: micro,
      kind: z.exactOptional(kind),
      host: z.exactOptional(z.string('must be text')),
      resource: z.exactOptional(resource),
      quoteToken: z.exactOptional(z.string('must be text')),
    },
    'must be a quote',
  )
  .meta({ id: 'SentQuote', description: 'The object of GET quote, verbatim, or a bare price of the resource.' });

/** Body of POST /_svc/verify. */
export const VerifyRequest = z
  .object(
    {
      payment: z
        .string('must be text')
        .min(1, 'must not be empty')
        .meta({ description: "The buyer's payment: the value of PAYMENT-SIGNATURE or X-PAYMENT, as received." }),
      legs: z.array(SentLeg, 'must be a list').max(500, 'is too long'),
      quote: SentQuote,
      resource: z.exactOptional(resource),
      agent: z.exactOptional(ObservedAgent),
      receiptName: z.exactOptional(z.enum(['host', 'service'], 'must be host or service')).meta({
        description:
          'In whose name the receipt is signed: `host` where the page’s own server shows our keys at /.well-known/did.json, else ours.',
      }),
    },
    'must be an object',
  )
  .meta({ id: 'VerifyRequest' });

/** Success of POST /_svc/verify. */
export const VerifyReceipt = z
  .object({
    ok: z.literal(true),
    settlementRef: z.exactOptional(z.string()),
    payer: z.string(),
    responseHeader: z.string(),
    licenseJws: z.string(),
    chargedMicro: z.string().regex(/^\d+$/),
    receiptId: z.exactOptional(z.string()).meta({ description: 'Names the payment’s record at /_svc/receipts/{id}.' }),
  })
  .meta({ id: 'VerifyReceipt' });

/** Any error of POST /_svc/verify. */
export const VerifyError = z
  .object({ ok: z.literal(false), error: z.string(), next: z.exactOptional(NextStep), upgrade: z.exactOptional(z.literal(true)) })
  .meta({ id: 'VerifyError' });
