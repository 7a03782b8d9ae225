import { parseArgs } from 'node:util';
import { urlOf } from './site.ts';

/** What the command line asks for. */
export type Wish =
  | { readonly command: 'help' }
  | { readonly command: 'wrong'; readonly says: string }
  | {
      readonly command: 'doctor' | 'selftest' | 'status';
      /** Null: not named. */
      readonly site: URL | null;
      readonly connectTo: URL | undefined;
      readonly pages: readonly string[];
      readonly serviceUrl: string | null;
      readonly apiKey: string | null;
      readonly isJson: boolean;
      readonly isQuiet: boolean;
    };

/** A wish that is carried out. */
export type Order = Exclude<Wish, { command: 'help' | 'wrong' }>;

const MAX_PAGES = 5;

/** What `--help` prints. */
export const HELP = `Looks after a site that sells its pages with @content-settlement/publisher.

  content-settlement doctor   [--site https://alpha.example] [--page /articles/x]…
  content-settlement selftest [--site https://alpha.example] [--page /articles/x]…
  content-settlement status

  doctor    asks the site as an agent, a person and a search engine, and says what is wrong
  selftest  buys a page with a test key (svc_test_…): no money moves
  status    says whether the service hears of a gate on each host; for CI

  --site <url>        the public address of the site; else the first host of the key's site, by https
  --page <path>       a page that is for sale, up to ${MAX_PAGES} of them; else some of the sitemap
  --connect-to <url>  ask this server instead, as the proxy in front of the site would
  --service <url>     the service, else SVC_URL
  --json              one JSON object, for machines
  --quiet             print only what is wrong

The key is read from SVC_API_KEY, never from the command line.
Exit codes: 0 all is well, 1 something is wrong, 2 it could not be told.
`;

/** Reads the command line; `environment` holds SVC_URL and SVC_API_KEY. */
export function readWish(argv: readonly string[], environment: Readonly<Record<string, string | undefined>>): Wish {
  const wrong = (says: string): Wish => ({ command: 'wrong', says });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(argv);
  } catch (error) {
    return wrong((error as Error).message);
  }
  const { values, positionals } = parsed;
  const [command, ...more] = positionals;
  if (values.help || command === undefined || command === 'help') return { command: 'help' };
  if (command !== 'doctor' && command !== 'selftest' && command !== 'status') return wrong(`There is no command ${command}.`);
  if (more.length > 0) return wrong(`What is ${more[0]}? Options begin with two dashes.`);
  const site = addressOf(values.site);
  const connectTo = addressOf(values['connect-to']);
  const service = addressOf(values.service ?? environment['SVC_URL']?.trim());
  for (const [name, url] of [
    ['--site', site],
    ['--connect-to', connectTo],
    ['--service or SVC_URL', service],
  ] as const) {
    if (url === 'unusable') return wrong(`${name} is an address such as https://alpha.example, without a path.`);
  }
  const pages = values.page.map(pathOf);
  if (pages.length > MAX_PAGES) return wrong(`At most ${MAX_PAGES} pages.`);
  if (pages.includes(null)) return wrong('--page is a path such as /articles/x, in plain or escaped ASCII.');
  return {
    command,
    site: site as URL | null,
    connectTo: (connectTo as URL | null) ?? undefined,
    pages: pages as string[],
    serviceUrl: (service as URL | null)?.origin ?? null,
    apiKey: environment['SVC_API_KEY']?.trim() || null,
    isJson: values.json,
    isQuiet: values.quiet,
  };
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      site: { type: 'string' },
      page: { type: 'string', multiple: true, default: [] },
      'connect-to': { type: 'string' },
      service: { type: 'string' },
      json: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
}

function addressOf(text: string | undefined): URL | null | 'unusable' {
  if (text === undefined || text === '') return null;
  const url = urlOf(text);
  const isUsable =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.pathname === '/' && url.search === '';
  return isUsable ? url : 'unusable';
}

/** A path as a request line may hold it, or of a whole address; null for what is none. */
function pathOf(text: string): string | null {
  const url = /^https?:\/\//i.test(text) ? urlOf(text) : null;
  const path = url ? `${url.pathname}${url.search}` : text;
  return /^\/[\x21-\x7e]{0,2000}$/.test(path) && !path.includes('#') ? path : null;
}
