/** The Pythons of this machine, and programs that run on them with the package of packages/python. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PublisherOptions } from '../../packages/publisher/src/options.ts';
import type { PublisherSite } from './publisher-site.ts';
import { callsTo } from './publisher-site.ts';

const SOURCE = fileURLToPath(new URL('../../packages/python/src', import.meta.url));
const SHOP = fileURLToPath(new URL('./python/shop.py', import.meta.url));
/** The first and the last that the package is for, and those between. */
const VERSIONS = ['3.9', '3.10', '3.11', '3.12', '3.13'] as const;

/** A Python by its version. */
export interface Python {
  readonly version: string;
  readonly command: string;
}

/** Where pyenv manages several, it gives a version only to those who name it. */
const environmentOf = ({ version }: Python): NodeJS.ProcessEnv => ({
  ...process.env,
  ...(version === '3' ? {} : { PYENV_VERSION: version }),
  PYTHONPATH: SOURCE,
  PYTHONDONTWRITEBYTECODE: '1',
});

const isHere = (python: Python): boolean =>
  spawnSync(python.command, ['-c', ''], { env: environmentOf(python), stdio: 'ignore' }).status === 0;

/** Those that are here; `python3` where none of them says its version. */
export const PYTHONS: readonly Python[] = [
  ...VERSIONS.map((version) => ({ version, command: `python${version}` })),
  { version: '3', command: 'python3' },
]
  .filter(isHere)
  .filter(({ version }, _at, all) => version !== '3' || all.length === 1);

/** What a program prints that is given a value as JSON: its own JSON. */
export function askPython(python: Python, program: string, given: unknown): unknown {
  const ran = spawnSync(python.command, ['-c', program], {
    env: environmentOf(python),
    input: JSON.stringify(given),
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  });
  if (ran.status !== 0) throw new Error(`${python.command} ended with ${ran.status}:\n${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

/** What is told to a site. */
type Options = Pick<PublisherOptions<never>, 'serviceUrl' | 'apiKey' | 'origin' | 'now'> & { readonly sellsCitations?: boolean };
/** An answer of the site to a method and a path: `GET /feed.xml`, or `* /ping` for any method; `default` under /articles/ where there is no other. */
export type Routes = Readonly<Record<string, { readonly status?: number; readonly type?: string; readonly body?: string }>>;

/** Starts a site that sells through the package, as those of `publisher-site.ts`; its process ends with `close`. */
export async function openPythonSite(
  python: Python,
  server: 'wsgi' | 'asgi',
  { serviceUrl, apiKey, origin, now, sellsCitations, routes = {} }: Options & { readonly routes?: Routes },
): Promise<PublisherSite> {
  const options = { service_url: serviceUrl, api_key: apiKey, ...(origin === undefined ? {} : { origin }) };
  const whole = Object.entries(routes).map(([name, route]) => [name, { status: 200, ...route }]);
  const given = JSON.stringify({ options, citations: sellsCitations === true, routes: Object.fromEntries(whole) });
  const child = spawn(python.command, [SHOP, server], {
    env: { ...environmentOf(python), SITE: given },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [port, ear] = await portsOf(child);
  const calls = callsTo(`http://127.0.0.1:${port}`);
  const site = { decisions: [], failures: [], made: [] } as Pick<PublisherSite, 'decisions' | 'failures' | 'made'>;
  const hear = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const came = await answer;
    const told = (await (await fetch(`http://127.0.0.1:${ear}/told`)).json()) as typeof site;
    for (const name of ['decisions', 'failures', 'made'] as const) site[name].push(...(told[name] as never[]));
    return came;
  };
  const tell = (path: string, body: string) => fetch(`http://127.0.0.1:${ear}${path}`, { method: 'POST', body });
  const setClock = async (): Promise<void> => {
    if (now) await tell('/clock', String((now() - Date.now()) / 1_000));
  };
  return {
    ...site,
    url: calls.url,
    get: async (...asked) => {
      await setClock();
      return hear(calls.get(...asked));
    },
    raw: async (...asked) => {
      await setClock();
      return hear(calls.raw(...asked));
    },
    flush: async () => void (await tell('/flush', '')),
    close: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function portsOf(child: ChildProcess): Promise<readonly string[]> {
  let [said, problem] = ['', ''];
  child.stderr?.on('data', (chunk: Buffer) => (problem += chunk));
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk));
  while (!said.includes('\n')) {
    if (child.exitCode !== null) throw new Error(`a site of Python ended with ${child.exitCode}:\n${problem}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return said.trim().split(' ');
}
