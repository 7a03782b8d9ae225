/** Codes of a service that is away, busy or ill; any other is an answer, and the next one is the same. */
const PASSING = /^(network|bad_answer|throttled|overloaded|internal|\w+_unavailable|status_(429|5\d\d))$/;

/** What went wrong, in words for people. */
export class Problem extends Error {
  readonly code: string;
  /** What support needs to find the call; null where no answer came. */
  readonly requestId: string | null;
  /** Whether the same call may well succeed a moment later: nobody answered, or one that was busy or ill. */
  readonly passes: boolean;
  /** Which input was wrong, where the API says so. */
  readonly parameter: string | null;

  constructor(
    code: string,
    message: string,
    { requestId = null, parameter = null }: { readonly requestId?: string | null; readonly parameter?: string | null } = {},
  ) {
    super(message);
    this.name = 'Problem';
    this.code = code;
    this.passes = PASSING.test(code);
    this.requestId = requestId;
    this.parameter = parameter;
  }
}

/** Any thrown value as a problem. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem('internal', error instanceof Error ? error.message : 'something went wrong in this page');
}
