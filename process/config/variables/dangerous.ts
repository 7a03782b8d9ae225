import { flag, text, url } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** Switches that stay off in production; `readConfig` refuses them there. */
export const dangerous = {
  outboundAllowLoopback: withDefault({
    name: 'OUTBOUND_ALLOW_LOOPBACK',
    about: 'Lets outgoing requests reach loopback addresses over http; refused in production.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
  outboundSandboxWeb: optional({
    name: 'OUTBOUND_SANDBOX_WEB',
    about: 'Where the web and DNS of sandbox.example, alpha.example and beta.example are played; refused in production.',
    example: 'http://127.0.0.1:8406',
    schema: url('http'),
  }),
  crashAt: optional({
    name: 'CRASH_AT',
    about: 'Name of the fail point at which the process ends itself, for fault tests; refused in production.',
    example: 'after_sign',
    schema: text.regex(/^[a-z0-9_]+$/, 'must be the name of a fail point'),
  }),
};
