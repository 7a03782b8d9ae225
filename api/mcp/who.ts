import type { Caller } from '../../modules/identity/use/keys/authenticate.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Somebody } from '../route.ts';

/** The account that calls a tool registered for accounts alone. Throws missing_credential for anybody else. */
export function accountOf(who: Somebody): string {
  if (who.kind === 'account') return who.account.accountId;
  throw new ServiceError('missing_credential', 'a buyer account is needed: Authorization: Bearer <token>');
}

/** The site whose key calls a tool registered for publishers alone. Throws missing_credential for anybody else. */
export function publisherOf(who: Somebody): Caller {
  if (who.kind === 'publisher') return who.caller;
  throw new ServiceError('missing_credential', 'an API key is needed: Authorization: Bearer <key>');
}
