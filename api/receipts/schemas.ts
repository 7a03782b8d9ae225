import { z } from 'zod';
import { SETTLED_STATES } from '../../modules/kernel/payment/state.ts';
import { address } from '../schemas/shared.ts';

const sha256 = z.string('must be text').regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case');
const micro = z.int().min(0);

/** How a record is written; the `Accept` of a request says it, too. */
export const RecordQuery = z.object({
  format: z.exactOptional(z.enum(['json', 'jws', 'html'], 'must be json, jws or html')),
});

const outcome = z.enum(['delivered', 'lost'], 'must be delivered or lost').meta({
  description: '`delivered`: all of it was handed to the connection. `lost`: the reader was gone before that.',
});
const ServedBody = z
  .object(
    {
      receiptId: z.uuid('must be the receiptId of a verify answer'),
      sha256: z.exactOptional(sha256),
      bytes: z.exactOptional(z.int('must be a number of bytes').min(1, 'must not be empty')),
      at: z.exactOptional(
        z
          .int('must be epoch milliseconds')
          .min(0, 'must be epoch milliseconds')
          .max(4_102_444_800_000, 'must be epoch milliseconds')
          .meta({
            description:
              'When the answer was given: one answer has one time. Without it only the first word about a payment counts.',
          }),
      ),
      outcome: z.exactOptional(outcome),
    },
    'must be an object',
  )
  .refine((one) => (one.sha256 === undefined) === (one.bytes === undefined), 'sha256 and bytes go together')
  .refine((one) => one.outcome === undefined || one.at !== undefined, 'outcome needs at')
  .refine((one) => one.sha256 !== undefined || one.at !== undefined, 'must say sha256 and bytes, or at');

/** 1 to 50 words of a site about pages that it served. */
export const ServedBodies = z.array(ServedBody).min(1, 'must hold at least one').max(50, 'holds at most 50');

/** What a payer says it holds. */
export const HeldWordBody = z.object(
  {
    sha256: sha256.meta({ description: 'Of the bytes of the page without their content coding.' }),
    signature: z
      .string('must be text')
      .regex(/^0x(?:[0-9a-fA-F]{2}){1,4000}$/, 'must be 0x and hex digits')
      .meta({ description: 'Of the message, by the wallet that paid.' }),
  },
  'must be an object',
);

/** The word that stands. */
export const HeldBody = z
  .object({
    id: z.string(),
    sha256,
    heldAt: z.int().meta({ description: 'Epoch milliseconds.' }),
    isAsSent: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the site says that it sent this page; null: it said nothing.' }),
  })
  .meta({ id: 'HeldPage' });

/** How many of them are noted. */
export const ServedBodiesNoted = z.object({ noted: z.int() }).meta({ id: 'ServedBodiesNoted' });

const Transfer = z.object({
  role: z.enum(['payment', 'beside', 'payout']).meta({
    description: 'The buyer’s own; into the same split for another payment; or out of the split.',
  }),
  transaction: z.string(),
  blockNumber: z.int(),
  blockHash: z.string(),
  blockTime: z.int().meta({ description: 'Epoch milliseconds.' }),
  logIndex: z.int().meta({ description: 'In the block.' }),
  from: address,
  to: address,
  amountMicro: micro,
});

/** The public record of a payment. */
export const PaymentRecordBody = z
  .object({
    version: z.literal(1),
    network: z.string().meta({ description: 'CAIP-2 id.' }),
    resourceUrl: z.string().meta({ description: 'What was paid for, without its query.' }),
    payer: address,
    issuedAt: z.int().meta({ description: 'When it was settled, in seconds.' }),
    transaction: z.exactOptional(z.string()),
    id: z.string(),
    url: z.string(),
    status: z.enum(SETTLED_STATES),
    sells: z.enum(['page', 'licence']),
    kind: z.enum(['read', 'citation']),
    host: z.string(),
    amountMicro: micro,
    currency: z.literal('USDC'),
    asset: address,
    payTo: address,
    legs: z.array(z.object({ toAddress: address, amountMicro: micro })),
    transfers: z.array(Transfer),
    authorization: z
      .object({
        from: address,
        to: address,
        value: z.string(),
        validAfter: z.string(),
        validBefore: z.string(),
        nonce: z.string(),
        signature: z.string(),
      })
      .meta({ description: 'What the buyer signed (EIP-3009).' }),
    domain: z
      .object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: address })
      .nullable()
      .meta({ description: 'The token’s EIP-712 domain; null: ask the token.' }),
    terms: z
      .object({ sha256, document: z.string() })
      .meta({ description: 'What was sold for how much to whom: a text, and the hash of it.' }),
    body: z
      .object({ sha256, bytes: z.int() })
      .nullable()
      .meta({ description: 'What the site reports it served first; null if it reported nothing.' }),
    answer: z
      .object({
        outcome: outcome.nullable(),
        lostAt: z.int().nullable().meta({ description: 'When an answer was lost for the first time, epoch milliseconds.' }),
        servedAgain: z.int().meta({ description: 'Answers after the first one.' }),
        bodyAgain: z
          .object({ sha256, bytes: z.int() })
          .nullable()
          .meta({ description: 'The page as it was served again, where it had changed.' }),
      })
      .nullable()
      .meta({ description: 'How the answers ended, as the site saw it; null if it reported nothing.' }),
    held: z
      .object({ sha256, message: z.string(), signature: z.string(), heldAt: z.int(), isAsSent: z.boolean().nullable() })
      .nullable()
      .meta({ description: 'Which page the payer says it holds, signed by its wallet (EIP-191); null if it said nothing.' }),
  })
  .meta({ id: 'PaymentRecord' });

/** A did document (W3C DID core 1.0). */
export const DidDocument = z
  .object({
    '@context': z.array(z.string()),
    id: z.string(),
    verificationMethod: z.array(
      z.object({ id: z.string(), type: z.string(), controller: z.string(), publicKeyJwk: z.looseObject({}) }),
    ),
    assertionMethod: z.array(z.string()),
  })
  .meta({ id: 'DidDocument' });
