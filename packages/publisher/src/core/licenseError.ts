/** What is wrong where a page wants a license, in the words of RSL's authorization scheme (RSL 1.0, section 6.3). */

/** Nothing was shown; what was shown is none, has ended or was revoked; or it is one, and not for this page. */
export type LicenseError = 'invalid_request' | 'invalid_token' | 'insufficient_scope';

const SENTENCES: Readonly<Record<LicenseError, string>> = {
  invalid_request: 'no license was sent',
  invalid_token: 'the license is not for this site, has expired, or was revoked',
  insufficient_scope: 'the license is not for this page, or not for this use of it',
};

/**
 * The value of WWW-Authenticate. It stands on a 402 whatever is wrong, never on a 401 or 403: the page can be bought on the spot, and clients
 * that pay read no other answer as an offer.
 */
export function licenseChallenge(error: LicenseError): string {
  return `License error="${error}", error_description="${SENTENCES[error]}"`;
}
