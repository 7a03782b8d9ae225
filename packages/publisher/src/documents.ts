/**
 * Documents about the site that the service makes, at the addresses where agents look for them. The site's own answer wins; ours stands where it
 * has none, and those that speak in the publisher's name stand only where the site says so. What bounds the cost: one call in a minute for each
 * document and host of the site, however often they are requested. Once there is a copy nobody waits for the service: the next one is read behind it.
 */
import type { Answer } from './answers.ts';
import type { Client } from './client.ts';
import type { WellKnownRequest, WellKnownRow } from './wellKnown.ts';

/** Where each stands at the site: the service's name for it, and the media type it is sent with. One line each. */
const DOCUMENTS = {
  '/.well-known/x402.json': ['x402.json', 'application/json; charset=utf-8'],
  '/.well-known/x402': ['x402', 'application/json; charset=utf-8'],
  '/.well-known/api-catalog': ['api-catalog', 'application/linkset+json'],
  '/.well-known/did.json': ['did.json', 'application/did+json'],
  '/license.xml': ['license.xml', 'application/rsl+xml; charset=utf-8'],
  '/llms.txt': ['llms.txt', 'text/plain; charset=utf-8'],
  '/robots.txt': ['robots.txt', 'text/plain; charset=utf-8'],
} as const satisfies Readonly<Record<string, readonly [string, string]>>;

/** What the publisher says in these he says to everybody, in words of ours: he has to ask for them. */
const ASKED_FOR: ReadonlySet<string> = new Set(['/llms.txt', '/robots.txt'] satisfies DocumentPath[]);

type DocumentPath = keyof typeof DOCUMENTS;
/** Which documents are served, and which are not; `false`: none is. */
export type DocumentOptions = false | Partial<Readonly<Record<DocumentPath, boolean>>>;

const FRESH_MS = 60_000;
/** How long the last good copy stands while the service is away. */
const STALE_MS = 86_400_000;

interface Kept {
  /** Null: the service has no such document. */
  readonly text: string | null;
  readonly etag: string | undefined;
  readonly changed: string | undefined;
  readonly readAtMs: number;
  readonly dueAtMs: number;
}

interface Deps {
  readonly client: Pick<Client, 'document'>;
  readonly now: () => number;
  readonly documents?: DocumentOptions | undefined;
}

/** True for a path at which a document may stand. */
export function isDocumentPath(path: string): boolean {
  return Object.hasOwn(DOCUMENTS, path);
}

/** A row for each document that is served. */
export function documentRows(deps: Deps): readonly WellKnownRow[] {
  const { documents = {} } = deps;
  if (documents === false) return [];
  const isServed = (path: DocumentPath): boolean => documents[path] ?? !ASKED_FOR.has(path);
  return (Object.keys(DOCUMENTS) as DocumentPath[]).filter(isServed).map((path) => rowOf(deps, path));
}

function rowOf({ client, now }: Deps, path: DocumentPath): WellKnownRow {
  const [name, contentType] = DOCUMENTS[path];
  const kept = new Map<string, Kept>(); // by hosts of the site, which are few
  const flights = new Map<string, Promise<Kept>>();
  async function ask(host: string): Promise<Kept> {
    const known = kept.get(host);
    const answer = await client.document(host, name, known?.etag);
    const dueAtMs = now() + FRESH_MS;
    const keep = (one: Kept): Kept => {
      kept.set(host, one);
      return one;
    };
    if (answer.ok && answer.status === 304 && known) return keep({ ...known, readAtMs: now(), dueAtMs });
    if (answer.ok && answer.status === 200 && answer.body !== null) {
      const [etag, changed] = [answer.headers.get('etag') ?? undefined, answer.headers.get('last-modified') ?? undefined];
      return keep({ text: answer.body, etag, changed, readAtMs: now(), dueAtMs });
    }
    if (!answer.ok && answer.status === 404) {
      return keep({ text: null, etag: undefined, changed: undefined, readAtMs: now(), dueAtMs });
    }
    const isOld = !known || now() - known.readAtMs > STALE_MS;
    return keep(isOld ? { text: null, etag: undefined, changed: undefined, readAtMs: now(), dueAtMs } : { ...known, dueAtMs });
  }
  return {
    path: new RegExp(`^${path.replaceAll('.', '\\.')}$`),
    isAfterSite: true,
    reading: () => [...flights.values()],
    answer: async (_path, request) => {
      const { host } = request;
      if (host === null) return null;
      const known = kept.get(host);
      const copy = known && now() - known.readAtMs <= STALE_MS ? known : undefined;
      if (copy && now() < copy.dueAtMs) return answerOf(copy, contentType, request);
      const flight = flights.get(host) ?? ask(host).finally(() => flights.delete(host));
      flights.set(host, flight);
      return answerOf(copy ?? (await flight), contentType, request);
    },
  };
}

function answerOf({ text, etag, changed }: Kept, contentType: string, { header }: WellKnownRequest): Answer | null {
  if (text === null) return null;
  const headers = {
    'content-type': shownAs(contentType, header('accept') ?? ''),
    vary: 'Accept',
    'cache-control': 'public, max-age=60',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(etag === undefined ? {} : { etag }),
    ...(changed === undefined ? {} : { 'last-modified': changed }),
  };
  const known = (header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (etag !== undefined && known.includes(etag)) return { status: 304, headers, body: '' };
  return { status: 200, headers, body: text };
}

/** Browsers save a type that they do not know, and show XML. */
function shownAs(contentType: string, accept: string): string {
  const isForReader = /\btext\/html\b/i.test(accept) && !/\brsl\+xml\b/i.test(accept);
  return isForReader ? contentType.replace('application/rsl+xml', 'application/xml') : contentType;
}
