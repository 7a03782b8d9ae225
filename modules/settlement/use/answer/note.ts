import { noteLogFields } from '../../../../platform/telemetry/logFields.ts';
import type { ErrorCode } from '../../../kernel/errors.ts';

/** Says, for the figures and the log of the call that runs now, what it was refused with; outside of a call it does nothing. */
export function noteRefusal(requestId: string, code: ErrorCode): void {
  noteLogFields({ requestId, code });
}
