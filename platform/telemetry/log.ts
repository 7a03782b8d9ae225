import type { DestinationStream, Logger } from 'pino';
import { destination, pino } from 'pino';
import { currentLogFields } from './logFields.ts';

/** The log every part writes to; one JSON object a line on stdout. */
export type Log = Logger;

/** Names whose values never reach a line, wherever they stand up to three levels deep; headers in the case Node gives them. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'x-payment',
  'payment-signature',
  'payment-response',
  'sign-in-with-x',
  'svc-signature',
  'signature',
  'payment',
  'proof',
  'secret',
  'secrets',
  'token',
  'accessToken',
  'quoteToken',
  'inviteToken',
  'license',
  'licenseJws',
  'password',
  'pepper',
  'apiKeyPepper',
  'apiKeyPepperPrevious',
  'privateKey',
  'privateKeys',
  'relayerPrivateKeys',
  'licenceKeys',
  'secretsKey',
  'secretsKeyPrevious',
  'apiKey',
  'databaseUrl',
  'rawTransaction',
];
const REDACTED = SECRET_NAMES.flatMap((name) => ['', '*.', '*.*.'].map((prefix) => `${prefix}["${name}"]`.replace('.[', '[')));

/** What a log is made with. */
export interface LogOptions {
  readonly level: string;
  /** The part that writes: `api`, `worker`, `sandbox`. */
  readonly name: string;
  /** The release that writes. */
  readonly version?: string;
  /** Where lines go instead of stdout. */
  readonly stream?: DestinationStream;
}

/**
 * Makes the process's log. Lines are written synchronously, so that the last one before a crash is not lost; times are ISO 8601
 * UTC; errors are written with type, message and stack; bigints as strings. Each carries the fields of the work it belongs to: request,
 * tenant, workflow, trace.
 */
export function createLog({ level, name, version, stream = destination({ fd: 1, sync: true }) }: LogOptions): Log {
  return pino(
    {
      level,
      base: { name, ...(version === undefined ? {} : { version }) },
      redact: { paths: REDACTED, censor: '[secret]' },
      mixin: currentLogFields,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: withPlainBigints },
      serializers: { error: withStack }, // pino's own is for the name `err`
    },
    stream,
  );
}

function withPlainBigints(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, typeof value === 'bigint' ? value.toString() : value]),
  );
}

function withStack(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause === undefined ? {} : { cause: String(error.cause) };
  return { type: error.name, message: error.message, stack: error.stack, ...cause };
}
