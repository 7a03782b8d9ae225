import { z } from 'zod';
import { NextStep } from './shared.ts';

/** Success of GET /_svc/accounts/challenge (EIP-4361); the fields are those of a SIGN-IN-WITH-X header. */
export const SignInChallenge = z
  .object({
    message: z.string(),
    domain: z.string(),
    address: z.string(),
    statement: z.string(),
    uri: z.string(),
    version: z.literal('1'),
    chainId: z.string(),
    nonce: z.string(),
    issuedAt: z.string(),
    expirationTime: z.string(),
  })
  .meta({ id: 'SignInChallenge' });

/** Body of POST /_svc/accounts/token. */
export const SignInBody = z
  .object(
    {
      message: z.string('must be text').min(1, 'must not be empty').max(4_000, 'is too long'),
      signature: z.string('must be text').regex(/^0x[0-9a-fA-F]{2,8000}$/, 'must be 0x and hex digits'),
    },
    'must be an object',
  )
  .meta({ id: 'SignInBody' });

/** A bearer token of an account (RFC 6749 §5.1). */
export const AccountToken = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.number(),
    accountId: z.exactOptional(z.string()),
  })
  .meta({ id: 'AccountToken' });

/** What an account is told of a purchase. */
const AccountNotice = z
  .object({
    kind: z.enum(['licence_granted', 'licence_taken_back', 'purchase_failed', 'purchase_expired', 'purchase_in_review']),
    jti: z.string().nullable(),
    host: z.string(),
    priceMicro: z.number(),
    payer: z.string(),
    nonce: z.string(),
    error: z.string().nullable(),
    at: z.number(),
  })
  .meta({ id: 'AccountNotice' });

/** Success of GET /_svc/accounts/notices. */
export const AccountNotices = z.object({ notices: z.array(AccountNotice) }).meta({ id: 'AccountNotices' });

/** An error of the token endpoint (RFC 6749 §5.2). */
export const OauthError = z
  .object({ error: z.string(), error_description: z.string(), next: z.exactOptional(NextStep) })
  .meta({ id: 'OauthError' });
