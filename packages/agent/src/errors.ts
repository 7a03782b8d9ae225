/** What goes wrong, by a code that stays the same and a sentence for people. No sentence holds a key. */

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

/** A failure with its code. `details` are facts in the units their names say. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;
  readonly details: Readonly<Record<string, string | number | null>>;

  constructor(code: AgentErrorCode, message: string, details: AgentError['details'] = {}) {
    super(message);
    this.name = 'AgentError';
    this.code = code;
    this.details = details;
  }
}
