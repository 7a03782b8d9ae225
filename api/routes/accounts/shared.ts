import { AuthenticateError, ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** How an account shows who it is. */
export const ACCOUNT_SECURITY = [{ buyerAccount: [] }, { signInWithX: [] }];

/** What an account reads of itself is kept by nobody on the way. */
export const PRIVATE = { 'cache-control': 'private, no-store' };

/** Errors of what any credential of an account may read. */
export const accountErrors = {
  '401': jsonResponse('Authenticate first', AuthenticateError),
  '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
};

/** Errors of what its owner alone may do. */
export const OWNER_ERRORS = {
  ...accountErrors,
  '400': jsonResponse('Malformed request', ErrorBody),
  '403': jsonResponse('An agent’s key; sign in with the wallet', ErrorBody),
  '404': jsonResponse('Not found in this account', ErrorBody),
  '409': jsonResponse('It was changed in the meantime, or a limit is reached', ErrorBody),
};
