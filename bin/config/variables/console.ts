import { flag, text } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** The console for owners. */
export const console = {
  console: withDefault({
    name: 'CONSOLE',
    about: 'Whether the API serves the console, a page for owners, at /_svc/console.',
    example: 'true',
    fallback: 'true',
    schema: flag,
  }),
  consoleDemoToken: optional({
    name: 'CONSOLE_DEMO_TOKEN',
    about: 'Token of the owner whom /_svc/console/demo signs in, for sample data alone; refused in production.',
    example: 'svc_owner_…',
    fromFile: true,
    schema: text,
  }),
};
