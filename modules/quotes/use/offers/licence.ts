import { EXTENSION_SCHEMA } from './build.ts';
import type { OfferExtension } from './extensions.ts';

/** That many pages can be had at once: where a licence is quoted and bought, and the keys that sign what its buyer gets. */
export const licence: OfferExtension = ({ baseUrl }) => ({
  info: {
    service: baseUrl,
    quote: `${baseUrl}/_svc/licenses/quote`,
    buy: `${baseUrl}/_svc/licenses`,
    accounts: `${baseUrl}/_svc/accounts/challenge`,
    jwks: `${baseUrl}/.well-known/jwks.json`,
  },
  schema: EXTENSION_SCHEMA,
});
