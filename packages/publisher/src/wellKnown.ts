/** Paths that a site has to serve for this service, one row each; whatever no row answers is the site's own. */
import type { Answer } from './answers.ts';
import type { Client } from './client.ts';
import type { DocumentOptions } from './documents.ts';
import { documentRows, isDocumentPath } from './documents.ts';

/** What a row is told of a request besides its path. */
export interface WellKnownRequest {
  /** The site's host that was asked; null while none is known. */
  readonly host: string | null;
  readonly header: (name: string) => string | null | undefined;
}

/** A path, and what is answered there; null when there is nothing to say, and the site answers. */
export interface WellKnownRow {
  readonly path: RegExp;
  readonly answer: (path: string, request: WellKnownRequest) => Promise<Answer | null>;
  /** True where the site answers first, and this only where it has nothing (404). */
  readonly isAfterSite?: true;
  /** What is being read behind an answer, for platforms that stop a program between requests. */
  readonly reading?: () => readonly Promise<unknown>[];
}

const CHALLENGE = /^\/\.well-known\/svc-challenge\/([\w-]{8,128})$/;
/** How often the service is asked for the tokens at most. */
const TOKENS_MS = 5_000;

/** True for a path that one of `wellKnownRows` may answer: one look for the many that none does. */
export function mayBeWellKnown(path: string): boolean {
  return path.startsWith('/.well-known/') || isDocumentPath(path);
}

/** The rows of this version. */
export function wellKnownRows(deps: {
  readonly client: Client;
  readonly now: () => number;
  readonly documents?: DocumentOptions | undefined;
}): readonly WellKnownRow[] {
  return [challengeRow(deps), ...documentRows(deps)];
}

/** The proof that the site is its owner's: only a token that the service gave this very site is repeated. */
function challengeRow({ client, now }: { readonly client: Client; readonly now: () => number }): WellKnownRow {
  let tokens: ReadonlySet<string> = new Set();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  async function ask(): Promise<void> {
    const answer = await client.hosts();
    if (answer.ok && Array.isArray(answer.body?.challenges))
      tokens = new Set(answer.body.challenges.flatMap((one) => (one?.method === 'well-known' ? [one.token] : [])));
  }
  return {
    path: CHALLENGE,
    answer: async (path) => {
      const token = CHALLENGE.exec(path)?.[1] ?? '';
      if (!tokens.has(token) && now() - askedAtMs >= TOKENS_MS) {
        askedAtMs = now();
        asking = ask();
      }
      await asking;
      if (!tokens.has(token)) return null;
      return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }, body: token };
    },
  };
}
