import type { GraphQLError, GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { defaultFieldResolver, isIntrospectionType, isObjectType } from 'graphql';
import { ANSWER_LIMIT_BYTES, QUERY_LIMIT_MS, VALUE_LIMIT } from './limits.ts';
import { limitRefusal } from './refusal.ts';

/** How much one execution may take. */
interface Most {
  readonly values: number;
  readonly bytes: number;
  readonly ms: number;
}

/** What one execution may still take. Whatever a measure did not foresee ends here. */
export class Budget {
  readonly #limits: Most;
  readonly #endsAtMs: number;
  #values = 0;
  #bytes = 0;
  /** What the query was measured at before it ran; 0 where nothing of it ran. */
  cost = 0;
  /** Why the execution had to end; null while it may go on. */
  refusal: GraphQLError | null = null;

  constructor(limits: Partial<Most> = {}) {
    this.#limits = { values: VALUE_LIMIT, bytes: ANSWER_LIMIT_BYTES, ms: QUERY_LIMIT_MS, ...limits };
    this.#endsAtMs = performance.now() + this.#limits.ms;
  }

  /** That of a change: it is never given up half way. */
  static ofChange(): Budget {
    return new Budget({ ms: Number.POSITIVE_INFINITY });
  }

  /** Milliseconds that are left. */
  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - performance.now());
  }

  /** Counts a value that a field came to: itself, the items of a list, the bytes of a text. Throws once there is too much. */
  count(value: unknown): void {
    this.#values += Array.isArray(value) ? value.length + 1 : 1;
    if (typeof value === 'string') this.#bytes += Buffer.byteLength(value);
    if (Array.isArray(value)) for (const item of value) if (typeof item === 'string') this.#bytes += Buffer.byteLength(item);
    const { values, bytes } = this.#limits;
    if (this.#values > values) this.refusal ??= limitRefusal('values', tooLong(`${values} values`), { most: values });
    this.requireBytes(this.#bytes, bytes);
    if (performance.now() > this.#endsAtMs) this.refuseTime();
    if (this.refusal) throw this.refusal;
  }

  /** Throws when an answer of so many bytes is too long. */
  requireBytes(bytes: number, most: number = this.#limits.bytes): void {
    if (bytes > most) this.refusal ??= limitRefusal('bytes', tooLong(`${most} bytes`), { most });
    if (this.refusal) throw this.refusal;
  }

  /** Says that time is up. */
  refuseTime(): void {
    const { ms } = this.#limits;
    const sentence = `this query takes longer than ${ms / 1_000} seconds: ask for a shorter window or fewer rows`;
    this.refusal ??= limitRefusal('time', sentence, { most: ms });
  }
}

function tooLong(most: string): string {
  return `the answer would have more than ${most}: ask for shorter pages or fewer fields`;
}

/** Has every field of a schema counted by the budget of its execution. Returns the schema, changed; call it once. */
export function metered(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) field.resolve = counted(field.resolve ?? defaultFieldResolver);
  }
  return schema;
}

type Resolver = GraphQLFieldResolver<unknown, { readonly budget: Budget }>;

function counted(resolve: Resolver): Resolver {
  return (parent, args, context, info) => {
    if (context.budget.refusal) throw context.budget.refusal;
    const value = resolve(parent, args, context, info);
    if (!(value instanceof Promise)) return seen(context.budget, value);
    return value.then((found: unknown) => seen(context.budget, found));
  };
}

function seen<T>(budget: Budget, value: T): T {
  budget.count(value);
  return value;
}
