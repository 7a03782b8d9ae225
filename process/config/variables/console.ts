import { flag, text } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** The console for owners. */
export const console = {
  console: withDefault({
    name: 'CONSOLE',
    about: 'Whether the API serves the console, a page for owners, at /_svc/console.',
    example: 'true',
    fallback: 'true',
    schema: flag,
  }),
  oidcClientId: optional({
    name: 'OIDC_CLIENT_ID',
    about:
      'Client id of the console at OIDC_ISSUER; its redirect URI is PUBLIC_BASE_URL/_svc/console/oidc/callback. Not set: people sign in with tokens alone.',
    example: 'content-settlement-console',
    schema: text,
  }),
  oidcClientSecret: optional({
    name: 'OIDC_CLIENT_SECRET',
    about: 'Secret of OIDC_CLIENT_ID. Not set: a public client, protected by PKCE alone.',
    example: 'a-secret-of-the-provider',
    fromFile: true,
    schema: text,
  }),
  consoleDemoToken: optional({
    name: 'CONSOLE_DEMO_TOKEN',
    about: 'Token of the owner whom /_svc/console/demo signs in, for sample data alone; refused in production.',
    example: 'svc_owner_…',
    fromFile: true,
    schema: text,
  }),
};
