import type { ValueNode } from 'graphql';
import { GraphQLError, Kind } from 'graphql';
import { momentFrom } from '../../modules/reports/use/calendar.ts';
import { builder } from './builder.ts';

const MAX_TIME_MS = Date.UTC(9999, 11, 31);
const MAX_MOMENT_CHARS = 64;
const WHOLE = /^-?\d{1,18}$/;

/** `node`: where the value stands in the document; none of a variable, whose name is said. */
function refuse(sentence: string, node?: ValueNode): never {
  throw new GraphQLError(sentence, { nodes: node ?? null, extensions: { code: 'BAD_USER_INPUT' } });
}

function microOf(value: unknown, node?: ValueNode): bigint {
  if (typeof value === 'string' && WHOLE.test(value)) return BigInt(value);
  return refuse('Micro must be a whole number of micro-USDC, written as a string', node);
}

function timeOf(given: unknown, node?: ValueNode): number {
  const value = typeof given === 'string' && given.length <= MAX_MOMENT_CHARS ? momentFrom(given) : given;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TIME_MS) return value;
  return refuse(
    'EpochMs is a whole number of milliseconds since 1970, or a moment with its offset in ISO 8601, such as "2026-11-01T00:00:00+01:00"',
    node,
  );
}

builder.scalarType('Micro', {
  description: 'Money: a whole number of micro-USDC (1,000,000 are 1 USDC), written as a string so that no digit is lost.',
  serialize: (value) => String(value),
  parseValue: (value) => microOf(value),
  parseLiteral: (node) =>
    node.kind === Kind.STRING ? microOf(node.value, node) : refuse('Micro is written as a string: "50000"', node),
});

builder.scalarType('EpochMs', {
  description:
    'A moment: milliseconds since 1970-01-01T00:00:00Z, as a number. Given, it may be ISO 8601 with an offset too: ' +
    '"2026-11-01T00:00:00+01:00".',
  serialize: (value) => (value instanceof Date ? value.getTime() : value),
  parseValue: (value) => timeOf(value),
  parseLiteral: (node) =>
    timeOf(node.kind === Kind.INT ? Number(node.value) : node.kind === Kind.STRING ? node.value : null, node),
});
