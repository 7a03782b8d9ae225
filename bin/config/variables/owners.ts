import { issuer, text } from '../parsers.ts';
import { optional } from '../variable.ts';

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
    about: 'The audience tokens of owners must have; needed with OIDC_ISSUER.',
    example: 'content-settlement',
    schema: text,
  }),
};
