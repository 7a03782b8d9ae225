/** Outcomes of a mutation that a client has to expect: typed results, not errors. Everything else is an error of the whole field. */
import type { ErrorCode } from '../../modules/kernel/errors.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { builder } from '../schema/builder.ts';
import { ErrorCodeName } from '../schema/words.ts';

/** Why a mutation changed nothing. */
abstract class Refusal extends Error {
  readonly code: ErrorCode;
  readonly parameter: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(error: ServiceError) {
    super(error.message);
    this.code = error.code;
    this.parameter = error.details.parameter ?? null;
    this.retryAfterSeconds = error.details.retryAfterSeconds ?? null;
  }
}

class InvalidInput extends Refusal {}
class NotFound extends Refusal {}
class Conflict extends Refusal {}
class Throttled extends Refusal {}
class Unavailable extends Refusal {}

/** Every refusal that can be a result; each mutation's union ends with these. */
export const REFUSALS = [InvalidInput, NotFound, Conflict, Throttled, Unavailable];

/**
 * Runs a mutation's work; what a client must expect becomes a refusal. Who may not do it at all (forbidden, not signed in), and
 * defects of ours, stay errors.
 */
export async function expecting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ServiceError ? refusalOf(error) : error;
  }
}

function refusalOf(error: ServiceError): Error {
  switch (error.kind) {
    case 'invalid':
      return new InvalidInput(error);
    case 'missing':
      return new NotFound(error);
    case 'conflict':
      return new Conflict(error);
    case 'throttled':
      return new Throttled(error);
    case 'unavailable':
      return new Unavailable(error);
    default:
      return error;
  }
}

const refusal = builder.interfaceRef<Refusal>('Refusal').implement({
  description: 'Why a mutation changed nothing.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeName, description: 'What went wrong, for programs.', resolve: ({ code }) => code }),
    message: t.string({ description: 'A sentence for a person.', resolve: ({ message }) => message }),
  }),
});

builder.objectType(InvalidInput, {
  name: 'InvalidInput',
  description: 'The input cannot be used as it is.',
  interfaces: [refusal],
  fields: (t) => ({
    parameter: t.string({
      nullable: true,
      description: 'The place in the input, when it is one place.',
      resolve: ({ parameter }) => parameter,
    }),
  }),
});
builder.objectType(NotFound, {
  name: 'NotFound',
  description: 'The site has nothing of this id. What belongs to somebody else looks the same.',
  interfaces: [refusal],
});
builder.objectType(Conflict, {
  name: 'Conflict',
  description: 'The state of things does not allow it now: a limit is reached, a name is taken, an endpoint is disabled.',
  interfaces: [refusal],
});
builder.objectType(Throttled, {
  name: 'Throttled',
  description: 'Too often: wait, nothing set up is lost.',
  interfaces: [refusal],
  fields: (t) => ({
    retryAfterSeconds: t.int({
      nullable: true,
      description: 'How long to wait.',
      resolve: ({ retryAfterSeconds }) => retryAfterSeconds,
    }),
  }),
});
builder.objectType(Unavailable, {
  name: 'Unavailable',
  description: 'A part of ours cannot be reached now; the same call can be sent again.',
  interfaces: [refusal],
  fields: (t) => ({
    retryAfterSeconds: t.int({
      nullable: true,
      description: 'How long to wait.',
      resolve: ({ retryAfterSeconds }) => retryAfterSeconds,
    }),
  }),
});
