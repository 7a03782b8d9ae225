/** The rules of the Python package and those of the JavaScript package say the same of the same table. */
import { expect, test } from 'vitest';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { KNOWN_VISITORS } from '../../packages/publisher/src/cli/knownVisitors.ts';
import { isAside, mayBePage, nameOf } from '../../packages/publisher/src/core/aside.ts';
import { categoryOf } from '../../packages/publisher/src/core/category.ts';
import { crawlerErrorOf } from '../../packages/publisher/src/core/crawlerError.ts';
import { decide } from '../../packages/publisher/src/core/decide.ts';
import { clipText, fitOffer } from '../../packages/publisher/src/core/fitOffer.ts';
import { isInScope, pathnameOf, plainPath, resourceOf, slugOf, spellingsOf } from '../../packages/publisher/src/core/page.ts';
import { mayCover } from '../../packages/publisher/src/core/scope.ts';
import { dollars, microOf } from '../../packages/publisher/src/core/usdc.ts';
import type { AgentLists } from '../../packages/publisher/src/core/who.ts';
import { createClassifier } from '../../packages/publisher/src/core/who.ts';
import { ROWS } from '../support/publisher-rows.ts';
import { askPython, PYTHONS } from '../support/pythons.ts';

const OWNERS: readonly AgentLists[] = [
  DEFAULT_ENFORCEMENT,
  {
    seoAllowlist: ['goodsearch'],
    crawlerPolicy: { allow: ['curl/', 'gptbot'], charge: ['twitterbot'], block: ['gptbot', 'uptimerobot'] },
    visitorClasses: { ...DEFAULT_ENFORCEMENT.visitorClasses, feed: 'block', search: 'charge', ai: 'read' },
  },
];
const AGENTS = [
  ...KNOWN_VISITORS.map(({ userAgent }) => userAgent),
  'GoodSearch/1.0',
  `${'x'.repeat(512)}GPTBot`,
  'Amazon CloudFront',
  'CLAUDE-CODE/2.0 (cli)',
  'ChatGPT Agent/1.0',
  'xgptbot',
  'GPTBOTK', // the sign of Kelvin is no k
  '-',
];
const PATHS = [
  '/articles/trio',
  '/articles//trio/',
  '/ARTICLES/Trio',
  '/articles/%74rio',
  '/articles/%D1%81%D0%BB%D0%BE%D0%B2%D0%BE',
  '/articles/x%2f..%2fsolo',
  '/articles/a%00b',
  '/articles/%FF',
  "/articles/it's(a)*b!~c",
  '/articles/',
  '/articles',
  '/',
  '/robots.txt',
  '/.well-known/x',
  '/blog/feed.xml',
  '/api/items',
  '/apiary',
  '/healthz',
  '/articles/healthz',
  '/articles/what-is-node.js',
  '/articles/trio/photo.PNG',
  '/articles/ping',
  '/Straße/ẞ',
];
const SCOPES = [
  { articlePrefixes: ['/articles/'], gateScope: { mode: 'prefixes' } },
  { articlePrefixes: ['/'], gateScope: { mode: 'site', excludePrefixes: ['/api', '/blog/'], includeExtensions: ['.pdf'] } },
] as const;
const HEADS: readonly (readonly [number, string])[] = [
  [200, 'text/html; charset=utf-8'],
  [200, ''],
  [201, 'application/json'],
  [204, ''],
  [301, 'text/html'],
  [200, 'image/png'],
  [200, 'text/css'],
  [200, 'application/rss+xml'],
  [200, 'application/xml'],
  [200, 'text/event-stream'],
  [200, 'application/pdf'],
  [200, 'application/octet-stream'],
];
const OFFER = {
  x402Version: 2,
  resource: { url: 'https://alpha.example/articles/слово', description: 'Ein “Titel” 😀'.repeat(20) },
  accepts: [
    { network: 'eip155:1', amount: '1' },
    { network: 'eip155:2', amount: '1' },
  ],
  extensions: { bazaar: { info: 'x'.repeat(900) }, small: { a: 1 }, 'sign-in-with-x': { info: { nonce: 'a'.repeat(40) } } },
};
const TEXTS = ['short', 'é'.repeat(80), '"quoted" \\ and 😀 '.repeat(20)];
const LIMITS = [10_000, 1_500, 700, 400, 200];
const PRICES = ['USD 0.003', 'usd  1', '0.0000001', '12345678901', '', 'EUR 1', '1.5'];

const PROGRAM = `
import json, sys
from urllib.parse import unquote_to_bytes
from content_settlement import answers, aside, decide, page, visitors
given = json.load(sys.stdin)
def address(path):
    return page.path_of(unquote_to_bytes(path))
def seen(path):
    plain = address(path)
    if plain is None:
        return None
    return [
        plain,
        [[page.is_in_scope(scope, plain), page.slug_of(scope["articlePrefixes"], plain), list(page.spellings_of(scope["articlePrefixes"], plain))] for scope in given["scopes"]],
        page.resource_of("https://a.example", plain),
        aside.is_aside(plain),
        aside.name_of(plain),
        [aside.may_be_page(status, type_, asked, plain) for status, type_ in given["heads"] for asked in ("page", "file", "name", "method")],
    ]
def decided(facts):
    names = {"isOurs": "is_ours", "isInScope": "is_in_scope", "isAside": "is_aside"}
    one = decide.decide(decide.Facts(**{names.get(name, name): value for name, value in facts.items()}))
    return {("as" if name == "as_" else name): value for name, value in one._asdict().items() if value is not None}
print(json.dumps({
    "callers": [[list(visitors.Classifier(owner)(ua)) for ua in given["agents"]] for owner in [None, *given["owners"]]],
    "categories": [visitors.category_of(ua) for ua in given["agents"]],
    "paths": [seen(path) for path in given["paths"]],
    "decisions": [decided(facts) for facts in given["facts"]],
    "clipped": [answers.clip_text(text) for text in given["texts"]],
    "fitted": [answers.fit_offer(given["offer"], limit) for limit in given["limits"]],
    "micros": [answers.micro_of(text) for text in given["prices"]],
    "dollars": [answers.dollars(micro) for micro in (1, 1000, 10000, 1000000, 1234567)],
    "errors": [answers.crawler_error_of(3000, most, exact) for most in (None, "USD 0.002", "1") for exact in (None, "0.003", "2")],
    "covers": [page.may_cover({"patterns": [pattern]}, "https://a.example/articles/2026/trio") for pattern in given["patterns"]],
}))
`;
const PATTERNS = ['/articles/', '/articles/*/trio$', '/*trio', '/articles$', '/articles/2026/trio$', '/ARTICLES', '*', '/a*2*o$'];

const nodeSays = () => ({
  callers: [null, ...OWNERS].map((owner) => AGENTS.map((ua) => Object.values(createClassifier(owner)(ua)))),
  categories: AGENTS.map(categoryOf),
  paths: PATHS.map((path) => {
    const pathname = pathnameOf(path);
    if (pathname === null) return null;
    const plain = plainPath(pathname);
    return [
      plain,
      SCOPES.map((scope) => [
        isInScope(scope, plain),
        slugOf(scope.articlePrefixes, plain),
        spellingsOf(scope.articlePrefixes, plain),
      ]),
      resourceOf('https://a.example', plain),
      isAside(plain),
      nameOf(plain),
      HEADS.flatMap(([status, type]) =>
        (['page', 'file', 'name', 'method'] as const).map((asked) => mayBePage({ status, type }, asked, plain)),
      ),
    ];
  }),
  decisions: ROWS.map(({ facts }) => decide(facts)),
  clipped: TEXTS.map(clipText),
  fitted: LIMITS.map((limit) => fitOffer(OFFER, limit)),
  micros: PRICES.map(microOf),
  dollars: [1, 1_000, 10_000, 1_000_000, 1_234_567].map(dollars),
  errors: [null, 'USD 0.002', '1'].flatMap((max) => [null, '0.003', '2'].map((exact) => crawlerErrorOf(3_000, { max, exact }))),
  covers: PATTERNS.map((pattern) => mayCover({ patterns: [pattern] }, 'https://a.example/articles/2026/trio')),
});

test.skipIf(PYTHONS.length > 0)('NOT RUN: there is no Python here', () => undefined);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: who reads, which page it is, what is no page, and what is decided of it',
  (_version, python) => {
    const given = {
      owners: OWNERS,
      agents: AGENTS,
      paths: PATHS,
      scopes: SCOPES,
      heads: HEADS,
      facts: ROWS.map(({ facts }) => facts),
      texts: TEXTS,
      offer: OFFER,
      limits: LIMITS,
      prices: PRICES,
      patterns: PATTERNS,
    };
    const told = askPython(python, PROGRAM, given) as ReturnType<typeof nodeSays>;
    const wanted = JSON.parse(JSON.stringify(nodeSays())) as typeof told;
    for (const name of Object.keys(wanted) as (keyof typeof wanted)[])
      for (const [at, one] of wanted[name].entries()) expect([name, at, told[name][at]]).toEqual([name, at, one]);
  },
);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: what strangers send is read without an error, however it is nested or cut',
  (_version, python) => {
    const program = `
import base64, json, sys
from content_settlement import Gate, Options
from content_settlement.gate import Request
from content_settlement.page import path_of
gate = Gate(Options(service_url="http://127.0.0.1:1", api_key="k", log=lambda line: None))
deep = base64.b64encode(b"[" * 8000).decode()
rows = json.load(sys.stdin)
acts = []
for headers in rows:
    fields = {name: value.replace("DEEP", deep) for name, value in headers.items()}
    request = Request("GET", path_of(b"/articles/solo"), "/articles/solo", fields.get, None)
    acts.append([gate.lets_through(request), gate.rule(request).act])
print(json.dumps([acts, gate.counts().get("gate", 0)]))
`;
    const strange = [
      { 'user-agent': 'GPTBot', 'payment-signature': 'DEEP', 'x-payment': 'DEEP0' },
      { 'user-agent': 'GPTBot', authorization: 'License DEEP.DEEP.DEEP' },
      { 'user-agent': 'GPTBot', 'sign-in-with-x': 'DEEP' },
      { 'user-agent': 'GPTBot', host: 'a.example:99999999' },
      { 'user-agent': 'GPTBot', host: '[::1' },
      { 'user-agent': '\u00ff'.repeat(9_000), 'signature-agent': '"', 'signature-input': '"web-bot-auth"("' },
    ];
    const [acts, failed] = askPython(python, program, strange) as [[boolean, string][], number];
    expect([acts.map(([, act]) => act), failed]).toEqual([strange.map(() => 'serve'), 0]);
  },
);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: of agents that nobody can decide about so many wait and no more, and people go past them',
  (_version, python) => {
    const program = `
import asyncio, json, threading, time
from content_settlement.asgi import ContentSettlement
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"page"})
gated = ContentSettlement(app, service_url="http://127.0.0.1:1", api_key="k", log=lambda line: None)
held = threading.Event()
rule = gated.gate.rule
gated.gate.rule = lambda request: (held.wait(), rule(request))[1]
async def ask(agent):
    statuses = []
    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
    headers = [(b"user-agent", agent), (b"host", b"a.example")]
    scope = {"type": "http", "method": "GET", "path": "/articles/solo", "query_string": b"", "headers": headers}
    await gated(scope, None, send)
    return statuses[0]
async def main():
    waiting = [asyncio.ensure_future(ask(b"GPTBot/1")) for _ in range(1200)]
    await asyncio.sleep(0.5)
    refused = [one.result() for one in waiting if one.done()]
    person = await asyncio.wait_for(ask(b"Mozilla/5.0 Firefox/145.0"), 1)
    held.set()
    return [refused, person, sorted(set(await asyncio.gather(*waiting)))]
print(json.dumps(asyncio.run(main())))
`;
    expect(askPython(python, program, null)).toEqual([Array(200).fill(503), 200, [200, 503]]);
  },
);
