/** Why the service did not answer as it should: what is, and what to do about it. */
import type { World } from './world.ts';

/** A sentence that says what is, and one that says what to do. */
export interface Reason {
  readonly says: string;
  readonly todo: string;
}

/** An answer that is none, as far as it matters here. */
export interface Unanswered {
  readonly why?: 'timeout' | 'unreachable' | 'status' | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

/** The reason for any failure, with the address that was asked. */
export function reasonOf(failure: Unanswered, kind: World['keyKind'], serviceUrl: string): Reason {
  const { why, status } = failure;
  if (status === undefined) {
    const says =
      why === 'timeout' ? `The service at ${serviceUrl} does not answer in time.` : `There is no service at ${serviceUrl}.`;
    return { says, todo: 'See that SVC_URL is right and that this machine may connect to it.' };
  }
  if (status === 401 || status === 403) return refusalOf(kind, status, failure.code);
  const says = `The service at ${serviceUrl} answers ${[status, failure.code].filter(Boolean).join(' ')}.`;
  if (status === 404) return { says, todo: 'See that SVC_URL is the address of the service.' };
  return { says, todo: 'Run this again in a minute; if it stays so, ask the operator of the service.' };
}

/** The reason why the service refuses a key. */
export function refusalOf(kind: World['keyKind'], status: number, code: string | undefined): Reason {
  if (status === 401) {
    const also = kind === 'test' ? ', or test keys are off there (TEST_KEYS_ENABLED)' : '';
    return {
      says: `The service does not know this key: it was revoked, or belongs to another service${also}.`,
      todo: 'Make a new key and set SVC_API_KEY.',
    };
  }
  if (code === 'scope_missing')
    return {
      says: 'The key lacks the scope tenant.read.',
      todo: 'Make a key with tenant.read: a gate can do nothing without it.',
    };
  if (code === 'plan_gate')
    return { says: 'The plan of this site does not include the API.', todo: 'Change the plan to studio or above.' };
  if (code === 'site_suspended') return { says: 'The site of this key is suspended.', todo: 'Ask the operator of the service.' };
  return {
    says: `The service refuses the key: ${status}${code === undefined ? '' : ` ${code}`}.`,
    todo: 'Make a new key and set SVC_API_KEY.',
  };
}
