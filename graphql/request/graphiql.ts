import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { compressible } from '../../platform/compressed.ts';
import { EXAMPLES } from '../schema/examples.ts';

/** Nine megabytes become two in a fifth of a second of CPU. */
const BROTLI = 5;

/** The page is one file and talks to this handler alone. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; " +
  "img-src data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The page for people: made at the first visit, compressed once, and kept by browsers, which ask by its ETag whether it is still the same. `key`
 * fills in the credential; a page with one is kept by nobody in between.
 */
export function openPage(key: string | null): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let made: ReturnType<typeof makePage> | null = null;
  return async ({ headers, method }, response) => {
    made ??= makePage(key);
    const { hash, encoded } = await made;
    const { coding, bytes } = await encoded(String(headers['accept-encoding'] ?? ''));
    const etag = `"${hash}${coding === null ? '' : `-${coding}`}"`;
    const isKept = headers['if-none-match']?.split(',').some((known) => known.trim().replace(/^W\//, '') === etag) ?? false;
    response.writeHead(isKept ? 304 : 200, {
      etag,
      vary: 'accept, accept-encoding',
      'cache-control': key === null ? 'no-cache' : 'private, no-cache',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      ...(isKept ? {} : { 'content-type': 'text/html; charset=utf-8', 'content-length': bytes.byteLength }),
      ...(isKept || coding === null ? {} : { 'content-encoding': coding }),
    });
    response.end(isKept || method === 'HEAD' ? undefined : bytes);
  };
}

async function makePage(key: string | null) {
  const html = await renderPage(key);
  const hash = createHash('sha256').update(html).digest('base64url').slice(0, 22);
  return { hash, encoded: compressible(html, BROTLI) };
}

/** One file that needs nothing from elsewhere, with the examples as tabs. */
async function renderPage(key: string | null): Promise<Buffer> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const headers = JSON.stringify({ authorization: `Bearer ${key ?? '<your key>'}` }, null, 2);
  const html = renderGraphiQL({
    title: 'GraphiQL',
    endpoint: '/_svc/graphql',
    defaultHeaders: headers,
    headers,
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: 'headers',
    schemaDescription: true,
    inputValueDeprecation: true,
    defaultTabs: EXAMPLES.map(({ question, query }) => ({ query: `# ${question}\n${query}\n`, headers })),
  });
  return Buffer.from(html);
}
