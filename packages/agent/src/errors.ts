/** What goes wrong, by a code that stays the same and a sentence for people. No sentence holds a key. */

import type { NextStep } from './nextStep.ts';

/** Codes of failures; docs/agent-tool.md says which exit code each has. */
export type AgentErrorCode =
  | 'no_key'
  | 'key_unreadable'
  | 'envelope_unreadable'
  | 'ledger_unreadable'
  | 'ledger_locked'
  | 'over_limit'
  | 'stopped'
  | 'approval_required'
  | 'payment_unclear'
  | 'payment_pending'
  | 'bought_before'
  | 'offer_refused'
  | 'address_refused'
  | 'redirected'
  | 'not_text'
  | 'too_large'
  | 'site_failed'
  | 'payment_refused'
  | 'receipt_invalid'
  | 'wrong_usage'
  | 'dry_run'
  | 'service_failed';

/** Facts of a failure, in the units their names say; `next` is what a refusal says to do. */
export interface AgentErrorDetails {
  readonly next?: NextStep;
  readonly [fact: string]: string | number | boolean | null | undefined | NextStep;
}

/** A failure with its code. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;
  readonly details: AgentErrorDetails;

  constructor(code: AgentErrorCode, message: string, details: AgentErrorDetails = {}) {
    super(message);
    this.name = 'AgentError';
    this.code = code;
    this.details = details;
  }
}
