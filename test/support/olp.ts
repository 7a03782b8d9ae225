/**
 * A crawler that knows a site's address and nothing else: it reads robots.txt, the document named there, and asks for a token, with the requests
 * that the clients in use send: the license cut out of the document as text, the url of its content as it stands, credentials as they are.
 */

/** What a crawler asks with. */
export interface CrawlerOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The fetch that asks for the token: one that pays, or one that does not. */
  readonly send: typeof fetch;
  /** Where the addresses of the site and of the service are to be had in a test. */
  readonly at: (url: string) => string;
}

/** A content of a document, as it is written there. */
export interface CutContent {
  readonly url: string;
  readonly server: string | null;
  readonly license: string;
}

/** The contents of a document, read as text; of each the first license. */
export function cutContents(document: string): readonly CutContent[] {
  return [...document.matchAll(/<content\s([^>]*)>([\s\S]*?)<\/content>/g)].map(([, attributes = '', inside = '']) => ({
    url: /url\s*=\s*"([^"]*)"/.exec(attributes)?.[1] ?? '',
    server: /server\s*=\s*"([^"]*)"/.exec(attributes)?.[1] ?? null,
    license: /<license[^>]*>[\s\S]*?<\/license>/.exec(inside)?.[0] ?? '',
  }));
}

/** The content for a page: of those with a server the one of the longest pattern that is a beginning of it. */
export async function findContent(page: string, at: CrawlerOptions['at']): Promise<CutContent> {
  const robots = await (await fetch(at(`${new URL(page).origin}/robots.txt`))).text();
  const named = /^license\s*:\s*(\S+)/im.exec(robots)?.[1] ?? '';
  const document = await (await fetch(at(named))).text();
  const found = cutContents(document)
    .filter(({ url, server }) => server !== null && page.startsWith(url.replace(/[*$].*$/, '')))
    .toSorted((a, b) => b.url.length - a.url.length);
  if (!found[0]) throw new Error(`no content of ${named} is for ${page}`);
  return found[0];
}

/** The form that a token is asked for with. */
export function tokenForm({ url, license }: Pick<CutContent, 'url' | 'license'>): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', license, resource: url });
}

/** Asks for a token for a page. */
export async function askForToken(page: string, { clientId, clientSecret, send, at }: CrawlerOptions): Promise<Response> {
  const content = await findContent(page, at);
  return send(at(`${content.server}/token`), {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
    },
    body: tokenForm(content).toString(),
  });
}
