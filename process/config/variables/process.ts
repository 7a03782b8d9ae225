import { z } from 'zod';
import { cidrList, publicUrl, text, wholeNumber } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** What this process is and where it listens. */
export const process = {
  environment: withDefault({
    name: 'NODE_ENV',
    about: 'production, development or test; production refuses settings that are meant for tests.',
    example: 'production',
    fallback: 'production',
    schema: z.enum(['production', 'development', 'test'], 'must be production, development or test'),
  }),
  logLevel: withDefault({
    name: 'LOG_LEVEL',
    about: 'The minimum severity of a log line.',
    example: 'info',
    fallback: 'info',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a pino level'),
  }),
  listenHost: withDefault({
    name: 'HOST',
    about: 'The address the API listens on.',
    example: '0.0.0.0',
    fallback: '127.0.0.1',
    schema: text,
  }),
  port: withDefault({
    name: 'PORT',
    about: 'The port the API listens on; 0 takes any free one.',
    example: '8402',
    fallback: '8402',
    schema: wholeNumber(0, 65_535),
  }),
  trustedProxies: optional({
    name: 'TRUSTED_PROXIES',
    about:
      'CIDR ranges, comma-separated, of the proxies in front. X-Forwarded-For is read only from them, and says whose rate a call counts against. Not set: the address of the connection, so that behind a proxy all anonymous callers are one.',
    example: '172.16.0.0/12',
    schema: cidrList,
  }),
  publicBaseUrl: optional({
    name: 'PUBLIC_BASE_URL',
    about: 'Public address of the API; issuer and audience of what we sign. Not set: the address listened on.',
    example: 'https://api.example.com',
    schema: publicUrl,
  }),
};
