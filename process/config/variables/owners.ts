import { z } from 'zod';
import { PLANS } from '../../../modules/kernel/access/key.ts';
import { flag, issuer, text } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** How owners of sites sign in. */
export const owners = {
  oidcIssuer: optional({
    name: 'OIDC_ISSUER',
    about: 'OpenID Connect issuer of owners of sites, exactly as its tokens write it. Not set: only tokens of bin/admin work.',
    example: 'https://login.example.com/',
    schema: issuer,
  }),
  oidcAudience: optional({
    name: 'OIDC_AUDIENCE',
    about: 'The audience that tokens of owners must have; required with OIDC_ISSUER.',
    example: 'content-settlement',
    schema: text,
  }),
  selfSignUp: withDefault({
    name: 'SELF_SIGN_UP',
    about:
      'Whether owners add sites on their own, in the console and by createSite; then every user of OIDC_ISSUER may sign in and begin. A new site has no host until it is proven.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
  selfSignUpPlan: withDefault({
    name: 'SELF_SIGN_UP_PLAN',
    about: 'The plan of a site that its owner added. Below studio its keys are refused until you set another (admin site plan).',
    example: 'studio',
    fallback: 'free',
    schema: z.enum(PLANS, `must be one of ${PLANS.join(', ')}`),
  }),
};
