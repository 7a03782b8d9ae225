/** What a site answers beside its articles, and requests for it: one table for the gates of every language. `TEXT` is what an article has. */
import { UA } from './publisher-site.ts';

/** The page of every article. */
export const TEXT = `<!doctype html><title>a page</title><p>${'The whole text. '.repeat(200)}</p>`;
/** An AI agent. */
export const GPT = UA.agent;
/** A program without a name of its own. */
export const CURL = 'curl/8.5.0';

/** Files beside an article, with the types that servers give them. */
export const ASSETS = {
  'app.js': 'text/javascript',
  'app.js.map': 'application/json',
  'font.woff2': 'application/octet-stream',
  'talk.mp3': 'audio/mpeg',
};

/** A request by its method, path and User-Agent, and the status that it has without a gate: it passes. */
export const PASSES: readonly (readonly [method: string, path: string, userAgent: string, status: number])[] = [
  ['GET', '/healthz', 'kube-probe/1.31', 200],
  ['GET', '/healthz', 'ELB-HealthChecker/2.0', 200],
  ['GET', '/healthz', 'Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)', 200],
  ['GET', '/healthz', '', 200],
  ['GET', '/health', CURL, 200],
  ['GET', '/shop/ping', CURL, 200],
  ['POST', '/api/hook', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)', 200],
  ['POST', '/api/hook', 'GitHub-Hookshot/044aadd', 200],
  ['POST', '/api/hook.json', 'python-requests/2.32.3', 200],
  ['GET', '/feed.xml', 'Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)', 200],
  ['GET', '/feed.xml', 'NetNewsWire (RSS Reader; https://netnewswire.com/)', 200],
  ['GET', '/feed.xml', 'python-requests/2.32.3', 200],
  ['GET', '/news', 'python-requests/2.32.3', 200],
  ['GET', '/ads.txt', 'Mediapartners-Google', 200],
  ['GET', '/ads.txt', CURL, 200],
  ['GET', '/favicon.ico', 'Twitterbot/1.0', 200],
  ['GET', '/favicon.ico', GPT, 200],
  ['GET', '/site.css', 'Twitterbot/1.0', 200],
  ['GET', '/site.css', CURL, 200],
  ['GET', '/sitemap_index.xml', GPT, 200],
  ['GET', '/manifest.webmanifest', CURL, 200],
  ['GET', '/articles/style.css', GPT, 200],
  ['GET', '/articles/trio/photo.png', GPT, 200],
  ['GET', '/articles/app.js', GPT, 200],
  ['GET', '/articles/app.js.map', GPT, 200],
  ['GET', '/articles/font.woff2', GPT, 200],
  ['GET', '/articles/talk.mp3', GPT, 200],
  ['POST', '/articles/trio/comments', 'python-requests/2.32.3', 201],
  ['OPTIONS', '/api/items', CURL, 200],
  ['GET', '/articles/old', GPT, 301],
  ['HEAD', '/articles/old', GPT, 301],
  ['GET', '/articles/missing', GPT, 404],
  ['GET', '/api/items', 'python-requests/2.32.3', 200],
  ['GET', '/articles/empty', GPT, 200],
];

/** Requests of an agent that get no page free, by method and path. */
export const NO_WAYS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/articles/p1'],
  ['HEAD', '/articles/p2'],
  ['POST', '/articles/p3'],
  ['PUT', '/articles/p4'],
  ['DELETE', '/articles/p5'],
  ['OPTIONS', '/articles/p6'],
  ['GET', '/articles/p7.png'],
  ['GET', '/articles/p8/style.css'],
  ['GET', '/articles/p9/feed.xml'],
  ['HEAD', '/articles/p10.ico'],
  ['POST', '/articles/p11/healthz'],
  ['GET', '/articles/healthz'],
  ['GET', '/ping'],
  ['GET', '/articles/p12.json'],
  ['PROPFIND', '/articles/p13'],
];

/** Requests of an agent for an article in another form, by path and headers. */
export const FORMS: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[] = [
  ['/articles/forms/f1', { range: 'bytes=0-0,1-99999' }],
  ['/articles/forms/f2', { accept: 'application/json' }],
  ['/articles/forms/f3?format=json', {}],
  ['/articles/forms/f4', { accept: 'application/octet-stream' }],
  ['/articles/forms/f5', { accept: 'text/csv' }],
  ['/articles/forms/f6', { accept: 'application/xml' }],
  ['/articles/forms/f7', { accept: 'text/x-component' }],
  ['/articles/forms/f8', { accept: 'application/msword' }],
  ['/articles/forms/health-report.pdf', {}],
  ['/articles/forms/healthcare-2026', { range: 'bytes=0-9' }],
  ['/articles/forms/what-is-node.js', {}],
  ['/articles/forms/what-is-vue.js', { accept: 'application/json' }],
  ['/articles/forms/what-is-d3.js?format=json', {}],
  ['/articles/forms/why-backbone.js', { accept: 'application/octet-stream' }],
  ['/articles/forms/on-reset.css', { range: 'bytes=0-0,1-99999' }],
  ['/articles/forms/the-story-of.svg', { accept: 'application/json' }],
  ['/articles/forms/ping', { accept: 'application/json' }],
  ['/articles/forms/heartbeat?format=json', {}],
  ['/articles/forms/metrics', { accept: 'text/csv' }],
];

/** The same site for a server that is told its routes: by method and path, `*` for any method; `default` is every other article. */
export const ROUTES: Readonly<Record<string, { readonly status?: number; readonly type?: string; readonly body?: string }>> = {
  default: { body: TEXT },
  '* /ping': { type: 'text/html', body: TEXT },
  'GET /healthz': { type: 'text/html', body: 'ok' },
  'GET /health': {
    type: 'application/json',
    body: JSON.stringify({ status: 'UP', components: { database: 'x'.repeat(600) } }),
  },
  'GET /shop/ping': { type: 'application/json', body: '{"status":"ok"}' },
  'POST /api/hook': { type: 'text/html', body: 'received' },
  'POST /api/hook.json': { type: 'application/json', body: '{"received":true}' },
  'GET /feed.xml': { type: 'application/rss+xml', body: '<rss>all</rss>' },
  'GET /news': { type: 'application/atom+xml', body: '<feed>all</feed>' },
  'GET /ads.txt': { type: 'text/plain', body: 'google.com, pub-1, DIRECT' },
  'GET /favicon.ico': { type: 'image/x-icon', body: 'x'.repeat(900) },
  'GET /site.css': { type: 'text/css', body: 'p{}'.repeat(500) },
  'GET /articles/style.css': { type: 'text/css', body: 'p{}'.repeat(500) },
  'GET /sitemap_index.xml': { type: 'application/xml', body: '<sitemapindex/>' },
  'GET /manifest.webmanifest': { type: 'application/manifest+json', body: '{}' },
  'GET /articles/trio/photo.png': { type: 'image/png', body: 'x'.repeat(3_000) },
  ...Object.fromEntries(Object.entries(ASSETS).map(([name, type]) => [`GET /articles/${name}`, { type, body: 'x'.repeat(900) }])),
  'POST /articles/trio/comments': { status: 201, type: 'application/json', body: '{"id":1}' },
  'GET /articles/old': { status: 301, type: 'text/plain', body: 'moved' },
  'HEAD /articles/old': { status: 301, type: 'text/plain', body: 'moved' },
  'GET /api/items': { type: 'application/json', body: '{"items":[]}' },
  'OPTIONS /api/items': { type: 'text/html', body: 'GET, HEAD' },
  'GET /articles/empty': { type: 'text/html', body: '' },
};
