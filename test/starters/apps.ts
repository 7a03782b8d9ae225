import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { choosePort } from '../../sandbox/parts/ports.ts';
import type { PartProcess } from '../../sandbox/parts/processes.ts';
import { startProcess } from '../../sandbox/parts/processes.ts';

/** Where `run.ts` made the apps. */
export const FOLDER = process.env['STARTERS_FOLDER'] ?? '';

/** The package of npm that is an older Node. */
export const OLD_NODE = `node-${process.platform}-${process.arch}`;
/** Programs that `run.ts` may have installed, and where. */
const PROGRAMS = {
  deno: 'node_modules/.bin/deno',
  bun: 'node_modules/.bin/bun',
  'old node': `node_modules/${OLD_NODE}/bin/node`,
  python: 'python/bin/python',
} as const;

/** An app: its folder, and what runs it there: Node, or a program that `run.ts` may have installed. */
interface Starter {
  readonly folder: string;
  readonly program?: keyof typeof PROGRAMS;
  readonly args: (port: number) => readonly string[];
}

/** Every app by its name. */
export const STARTERS = {
  'Express 5': { folder: 'express', args: () => ['server.js'] },
  'Express 5 on Node 20': { folder: 'express', program: 'old node', args: () => ['server.js'] },
  'Hono 4 on Node': { folder: 'hono', args: () => ['server.js'] },
  'Hono 4 on workerd': { folder: 'hono', args: () => ['workerd.js', 'site.js'] },
  'Hono 4 on Deno': {
    folder: 'hono',
    program: 'deno',
    args: (port) => ['serve', '--quiet', '-A', '--host', '127.0.0.1', '--port', String(port), 'site.js'],
  },
  'Hono 4 on Bun': { folder: 'hono', program: 'bun', args: () => ['bun.js', 'site.js'] },
  'Fastify 5': { folder: 'fastify', args: () => ['server.js'] },
  'Astro 7': { folder: 'astro', args: () => ['dist/server/entry.mjs'] },
  'SvelteKit 3': { folder: 'sveltekit', args: () => ['build/index.js'] },
  'FastAPI on uvicorn': { folder: 'fastapi', program: 'python', args: (port) => uvicorn('main:app', port) },
  'Django 5 under ASGI': { folder: 'django', program: 'python', args: (port) => uvicorn('asgi:application', port) },
  'Django 5 under WSGI': { folder: 'django', program: 'python', args: () => ['serve.py'] },
  'Next 16': { folder: 'next', args: (port) => ['../node_modules/next/dist/bin/next', 'start', '-p', String(port)] },
} as const satisfies Record<string, Starter>;

/** The name of an app. */
export type StarterName = keyof typeof STARTERS;

function uvicorn(app: string, port: number): readonly string[] {
  return ['-m', 'uvicorn', app, '--host', '127.0.0.1', '--port', String(port), '--log-level', 'warning'];
}

/** The apps that can be run here. */
export const NAMES = (Object.keys(STARTERS) as StarterName[]).filter((name) => existsSync(commandOf(STARTERS[name])));

/** On these the same app runs as on Node. */
const PORTED: ReadonlySet<StarterName> = new Set([
  'Hono 4 on workerd',
  'Hono 4 on Deno',
  'Hono 4 on Bun',
  'Express 5 on Node 20',
]);
/** Those that stand without a gate, too. */
export const PLAIN_NAMES = NAMES.filter((name) => existsSync(join(FOLDER, 'plain', STARTERS[name].folder)) && !PORTED.has(name));

function commandOf({ program }: Starter): string {
  return program === undefined ? process.execPath : join(FOLDER, PROGRAMS[program]);
}

/** A running app. */
export interface App {
  readonly url: string;
  readonly process: PartProcess;
}

/** Starts an app with a key, in front of a service; without one, the app without its gate. Resolves once it listens. */
export async function startApp(name: StarterName, service: { readonly url: string; readonly key: string } | null): Promise<App> {
  const { folder, args }: Starter = STARTERS[name];
  const port = await choosePort(0);
  const cwd = service === null ? join(FOLDER, 'plain', folder) : join(FOLDER, folder);
  const started = await startProcess({
    name,
    command: commandOf(STARTERS[name]),
    args: args(port),
    cwd,
    logFile: join(FOLDER, `${name}-${port}.log`),
    env: {
      ...process.env,
      PORT: String(port),
      HOST: '127.0.0.1',
      ...(service === null ? {} : { SVC_URL: service.url, SVC_API_KEY: service.key }),
      NODE_ENV: 'production',
      NODE_OPTIONS: '', // ours would make them look for the package's source, which is not in it
    },
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await isUp(url))) {
    if (!started.isRunning()) throw new Error(`${name} ended:\n${started.tail(30)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, process: started };
}

async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/robots.txt`).then(
    () => true,
    () => false,
  );
}
