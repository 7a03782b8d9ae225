/** Named bugs the simulator must find: each is one line somebody could plausibly have written. */
export const MUTANTS = [
  'noClaimCas', // claims rows that another batch already carries
  'itemFailedMeansFailed', // ItemFailed decides without looking for the authorization's log
  'evidenceWithoutLogIndex', // any matching Transfer of the transaction proves the payment
  'finaliseTwice', // decides on facts read before the database transaction
  'newNonceOnRetry', // a lost reply is answered with new bytes under a new nonce
  'guardWithoutLock', // looks for an open purchase in another database transaction than the insert
  'timeoutMeansFailed', // no receipt in time: failed
  'sendBeforeCommit', // sends the bytes before they are stored
  'forgetWatch', // what failed, was superseded or expired is never looked at again
  'reorgIgnored', // evidence once seen is never read again
  'releaseWithoutDecision', // the sweeper releases what is held for long
  'foreignEvidenceBeforeRow', // a transfer from before our row proves it
  'spentForgets', // an authorization spent otherwise is dropped before that block is safe
  'unsentBeforeMined', // payments go out again when the void transaction is sent, not mined
  'laneSkipsLower', // only the newest batch is sent again
  'sendsHeld', // the claim takes held rows too
] as const;
/** The name of a seeded bug. */
export type Mutant = (typeof MUTANTS)[number];
