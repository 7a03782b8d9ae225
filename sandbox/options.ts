import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** How one run of the sandbox was asked for. */
export interface SandboxOptions {
  /** Where state, logs, secrets and `sandbox.json` are kept. */
  readonly folder: string;
  /** End after the purchase, with status 0 only if every step went well. */
  readonly exit: boolean;
  /** Begin with empty data. */
  readonly fresh: boolean;
  /** Give a site that begins anew its 28 days of history. */
  readonly history: boolean;
  /** Tried first, then the next free one; 0: any. */
  readonly ports: SandboxPorts;
  /** The whole environment, for finding Temporal. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The port of each part. */
export type SandboxPorts = Readonly<Record<keyof typeof PORTS, number>>;

/** The variable that overrides a port, and its default. */
const PORTS = {
  api: ['PORT', 8402],
  publisher: ['PUBLISHER_PORT', 8404],
  sink: ['SINK_PORT', 8405],
  site: ['SITE_PORT', 8406],
  postgres: ['POSTGRES_PORT', 5442],
  temporal: ['TEMPORAL_PORT', 7233],
  temporalUi: ['TEMPORAL_UI_PORT', 8233],
  chain: ['CHAIN_PORT', 8545],
} as const;

/** Explained by `help.mjs`. */
const OPTIONS = {
  exit: { type: 'boolean' },
  fresh: { type: 'boolean' },
  folder: { type: 'string' },
  'no-history': { type: 'boolean' },
} as const;

/** Reads arguments and environment. Throws an `Error` with one sentence for an unknown argument or a port that is none. */
export function readOptions(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  root: string,
  defaultFolder = '.sandbox',
): SandboxOptions {
  const values = readFlags(args);
  const ports = Object.entries(PORTS).map(([part, [name, fallback]]) => [part, readPort(name, environment[name], fallback)]);
  return {
    folder: values.folder === undefined ? join(root, defaultFolder) : resolve(values.folder),
    exit: values.exit ?? false,
    fresh: values.fresh ?? false,
    history: !values['no-history'],
    ports: Object.fromEntries(ports) as SandboxPorts,
    environment,
  };
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    const [said] = (error as Error).message.split('. ');
    throw new Error(`${said}; npm start -- --help lists the options`);
  }
}

function readPort(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Error(`${name} must be a port, 0 (any free one) to 65535`);
}
