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
import { CLAIM_ROWS, GOOGLE, NOW, OF_OTHERS, PAYS, READS } from '../support/claims-rows.ts';
import { scaled } from '../support/patience.ts';
import { ROWS } from '../support/publisher-rows.ts';
import type { Python } from '../support/pythons.ts';
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
  '/articles/%FF',
  '/articles/a%00b',
  '/articles/trio%0A',
  '/articles/trio%C2%85',
  '/articles/trio%E2%80%A8',
  '/articles/trio/..',
  '/articles/trio/%2e%2E/x',
  '/articles/trio%5C%2e',
  '/articles/trio/%252e%252e',
  '/articles/%2574rio',
  '/articles/trio;v=1',
  '/articles/trio.',
  '/articles/trio%20',
  '/articles/trio%C0%AF',
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
  'Python %s: who calls himself Googlebot is believed by where he comes from, as in the package for Node',
  (_version, python) => {
    const program = `
import json, sys
from content_settlement import Gate, Options
from content_settlement.claims import Reverse
from content_settlement.gate import Request
from content_settlement.whence import Ranges, ip_of
given = json.load(sys.stdin)
clock = {"now": given["now"] / 1000}
asked = []
class Names:
    hosts_of = {"5.255.253.1": ["spider.yandex.com"], "198.41.0.4": ["evil.yandex.com"], "203.0.114.9": ["x.yandex.com.evil.example"],
        "192.0.3.7": ["crawl-192-0-3-7.googlebot.com"]}
    back = {"spider.yandex.com": ["5.255.253.1"], "evil.yandex.com": ["5.255.253.99"], "crawl-192-0-3-7.googlebot.com": ["192.0.3.7"]}
    def hosts(self, address):
        asked.append(address)
        if address.startswith("203.0.115."):
            raise OSError("no answer")
        return self.hosts_of.get(address, [])
    def addresses(self, host):
        return self.back.get(host, [])
def gate_of(proxies):
    gate = Gate(Options(service_url="http://127.0.0.1:1", api_key="k", now=lambda: clock["now"], log=lambda line: None, trusted_proxies=proxies))
    gate._claims.reverse = Reverse(lambda: clock["now"], Names())
    return gate
def becomes(gate, ua, peer, headers={}):
    found = gate._reader(Request("GET", "/", "/", {**headers, "user-agent": ua}.get, None, peer=peer), None)
    return f"{found.who} {found.reason}"
rows = [becomes(gate_of(proxies), given["google"], peer, headers) for proxies, peer, headers in given["rows"]]
gate = gate_of([])
reverse = gate._claims.reverse
def settled(ua, peer):
    first = becomes(gate, ua, peer)
    reverse.settled()
    return [first, becomes(gate, ua, peer)]
by_name = [settled(given["yandex"], peer) for peer in ("5.255.253.1", "198.41.0.4", "203.0.114.9", "203.0.115.1")]
clock["now"] += 2
corrected = [settled(given["google"], peer) for peer in ("192.0.3.7", "198.41.0.4")]
clock["now"] += 2
gate._claims.learn({"version": 2, "checkedAt": {"google-googlebot": clock["now"] * 1000, "google-special": clock["now"] * 1000}, "ranges": {"google-googlebot": ["198.41.0.4"]}})
learnt = [becomes(gate, given["google"], peer) for peer in ("198.41.0.4", "66.249.66.1")]
errors = 0
for text in ("", "1.2.3", "1.2.3.4/33", "::/129", "1.2.3.4/x", "a.example"):
    try:
        Ranges([text])
    except ValueError:
        errors += 1
ranges = Ranges(["10.0.0.0/9", "10.1.0.0/24", "10.200.0.7", "2001:db8::/33"])
held = [ip_of(one) in ranges for one in ("10.0.0.0", "10.1.1.0", "10.127.255.255", "10.200.0.7", "2001:db8:7fff::1", "9.255.255.255", "10.128.0.0", "10.200.0.8", "2001:db8:8000::")]
print(json.dumps([rows, by_name, corrected, learnt, errors, held]))
`;
    const rows = CLAIM_ROWS.map(([, proxies = null, peer = null, headers]) => [proxies, peer, headers]);
    const yandex = 'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)';
    const [told, byName, corrected, learnt, errors, held] = askPython(python, program, {
      rows,
      google: GOOGLE,
      yandex,
      now: NOW,
    }) as [string[], string[][], string[][], string[], number, boolean[]];
    expect(told.map((one, at) => [CLAIM_ROWS[at]?.[0], one])).toEqual(CLAIM_ROWS.map(([who, , , , becomes]) => [who, becomes]));
    expect(byName).toEqual([
      [READS, READS],
      [READS, PAYS],
      [READS, PAYS],
      [READS, READS],
    ]);
    expect(corrected).toEqual([
      [PAYS, READS],
      [PAYS, PAYS],
    ]);
    expect([OF_OTHERS, learnt]).toEqual(['198.41.0.4', [READS, PAYS]]);
    expect([errors, held.map(Number).join('')]).toEqual([6, '111110000']);
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

/** A gate of each server that knows its settings, with a service of which no page has a price but those in `PRICED`; `ask` has a GET of it answered. */
const GATES = `
import asyncio, base64, json, sys, time
from urllib.parse import unquote_to_bytes
from content_settlement import asgi, wsgi
from content_settlement.client import Answer
from content_settlement.knowing import SiteConfig
AGENT, PERSON = "GPTBot/1", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
PRICED = {}
def settings(prefixes):
    return {"enforcement": {
        "articlePrefixes": prefixes, "seoAllowlist": [], "crawlerPolicy": {"allow": [], "charge": [], "block": []},
        "gateScope": {"mode": "prefixes"}, "licenseIdentity": "https://issuer.example"}, "manifest": {"resources": ["https://a.example/"]}}
def quoted(**question):
    because = PRICED.get(question["resource"], "no_price")
    if because != "priced":
        return Answer("ok", 204, {"x-svc-free-because": because})
    offer = {"x402Version": 2, "resource": {"url": question["resource"]}, "accepts": []}
    header = base64.b64encode(json.dumps(offer).encode()).decode()
    return Answer("ok", 200, {}, {"price": 1000, "expiresAt": (time.time() + 600) * 1000, "quoteToken": "t", "slug": "s", "legs": [],
        "payees": [], "x402": {"header": header, "body": offer}})
def gated(middleware, app, prefixes=["/articles/"], **options):
    made = middleware.ContentSettlement(app, service_url="http://127.0.0.1:1", api_key="svc_live_k", log=lambda line: None, report="none", **options)
    made.gate._config._config, made.gate._config._due_at = SiteConfig(settings(prefixes)), float("inf")
    made.gate._client.quote = quoted
    return made
def wsgi_ask(site, method, target, agent, environ={}):
    statuses, path = [], unquote_to_bytes(target).decode("latin-1")
    given = {"REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": path, "HTTP_HOST": "a.example", "HTTP_USER_AGENT": agent, **environ}
    body = site(given, lambda status, headers, exc_info=None: statuses.append(int(status[:3])))
    return [statuses[-1], b"".join(body).decode()]
async def asgi_asked(site, method, path, agent, root="", headers=[]):
    sent = []
    async def send(message):
        sent.append(message)
    named = [(b"user-agent", agent.encode()), (b"host", b"a.example"), *headers]
    await site({"type": "http", "method": method, "path": path, "root_path": root, "query_string": b"", "headers": named}, None, send)
    return [sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:]).decode()]
def asgi_ask(site, method, target, agent, root=""):
    return asyncio.run(asgi_asked(site, method, unquote_to_bytes(target).decode("utf-8", "replace"), agent, root))
`;

const routesThatEndBeforeALine = (python: Python) =>
  askPython(
    python,
    `${GATES}
import re
ROUTE = re.compile("^/(articles|статьи)/([0-9]+)[\\\\x00-\\\\x1f\\\\x7f\\\\x85\\\\u2028]?$")
def page(path):
    return (200, b"The whole text") if ROUTE.match(path) else (404, b"nothing here")
def wsgi_app(environ, start_response):
    status, body = page(environ["PATH_INFO"].encode("latin-1").decode())
    start_response(f"{status} x", [("content-type", "text/html")])
    return [body]
async def asgi_app(scope, receive, send):
    status, body = page(scope["path"])
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": body})
sites = [(wsgi_ask, gated(wsgi, wsgi_app, ["/articles/", "/статьи/"])), (asgi_ask, gated(asgi, asgi_app, ["/articles/", "/статьи/"]))]
given = json.load(sys.stdin)
print(json.dumps([[ask(site, method, path, agent)[0] for ask, site in sites] for method, path in given for agent in (AGENT, PERSON)]))
`,
    CONTROLS,
  ) as number[][];

const RUSSIAN = '/%D1%81%D1%82%D0%B0%D1%82%D1%8C%D0%B8/42';
const CONTROLS = [
  ...['%0A', '%0D', '%00', '%01', '%7F', '%C2%85', '%E2%80%A8', '%0A/'].map((end) => ['GET', `/articles/42${end}`]),
  ['HEAD', '/articles/42%0A'],
  ['POST', '/articles/42%0A'],
  ['POST', `/articles/${'x'.repeat(2_100)}/`],
  ['GET', `${RUSSIAN}%0A`],
  ['POST', `${RUSSIAN}%00`],
];

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: a path that names no page for certain is none of an agent’s, whatever its method and the site’s routes; people get what the site has',
  (_version, python) => {
    const told = routesThatEndBeforeALine(python);
    const [ofAgents, ofPeople] = [0, 1].map((who) => told.filter((_row, at) => at % 2 === who));
    expect(ofAgents).toEqual(CONTROLS.map(() => [400, 400]));
    expect(ofPeople).toEqual(CONTROLS.map(([, path]) => (path?.endsWith('/') ? [404, 404] : [200, 200])));
  },
);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: a mount that a client names takes no page out of scope, and one of the server’s is none by half a name',
  (_version, python) => {
    const program = `${GATES}
PRICED.update({"https://a.example/articles/solo": "priced", "https://a.example/articles/open/articles/solo": "free_rule",
    "https://a.example/blogs/x/blog": "priced", "https://a.example/blog/blogs/x": "priced"})
def wsgi_app(environ, start_response):
    start_response("200 OK", [("content-type", "text/html")])
    return [b"The whole text"]
async def asgi_app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"The whole text"})
site = gated(wsgi, wsgi_app)
def mounted(mount, path, header):
    return wsgi_ask(site, "GET", path, AGENT, {"SCRIPT_NAME": mount, **({header: mount} if header else {})})[0]
headers = ("HTTP_SCRIPT_NAME", "HTTP_X_SCRIPT_NAME", "HTTP_X_FORWARDED_PREFIX")
print(json.dumps({
    "chosen": [mounted(mount, "/articles/solo", header) for header in headers for mount in ("/x", "/api", "/articles/open")],
    "hidden": mounted("/x", "/articles/solo%0A", "HTTP_SCRIPT_NAME"),
    "mounted": [mounted("/articles", "/solo", header) for header in (None, "HTTP_SCRIPT_NAME")],
    "of the server": mounted("/x", "/articles/solo", None),
    "root": [asgi_ask(gated(asgi, asgi_app, ["/blog/"]), "GET", path, AGENT, "/blog")[0] for path in ("/blogs/x", "/blog/blogs/x")],
}))
`;
    expect(askPython(python, program, null)).toEqual({
      chosen: Array(9).fill(402),
      hidden: 400,
      mounted: [402, 402],
      'of the server': 200,
      root: [402, 402],
    });
  },
);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: an endless answer in whose place another goes out is ended, and holds up nobody meanwhile',
  (_version, python) => {
    const program = `${GATES}
import faulthandler
faulthandler.dump_traceback_later(json.load(sys.stdin), exit=True)  # a loop that is blocked ends nothing by itself
PRICED["https://a.example/articles/endless"] = "priced"
ended = []
def app(is_stubborn):
    async def endless(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        try:
            while True:
                try:
                    await send({"type": "http.response.body", "body": b"x" * 64, "more_body": True})
                except asyncio.CancelledError:
                    if not is_stubborn:
                        raise
        finally:
            ended.append(type(sys.exc_info()[1]).__name__)
    return endless
async def main():
    gaps = [0.0]
    async def ticks():
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.001)
            gaps.append(time.monotonic() - began)
    ticking = asyncio.ensure_future(ticks())
    statuses = []
    for is_stubborn in (False, True):
        asked = asgi_asked(gated(asgi, app(is_stubborn)), "GET", "/articles/endless", AGENT)
        statuses.append((await asyncio.wait_for(asked, 20))[0])
    ticking.cancel()
    return [statuses, ended, max(gaps)]
print(json.dumps(asyncio.run(main())))
`;
    const [statuses, ended, gap] = askPython(python, program, scaled(30_000) / 1_000) as [number[], string[], number];
    expect([statuses, ended]).toEqual([
      [402, 402],
      [expect.stringMatching(/^(CancelledError|OSError)$/), 'OSError'],
    ]);
    expect(gap * 1_000).toBeLessThan(scaled(500));
  },
);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: a buyer hears to come back from a page that is late and will not be stopped; one who leaves frees no place that a thread still uses',
  (_version, python) => {
    const program = `${GATES}
import threading
from content_settlement import selling
PRICED["https://a.example/articles/late"] = "priced"
selling._Sale.seconds = 0.1
paying = [(b"payment-signature", b"e30=")]
settled, answered = threading.Event(), []
async def stubborn(scope, receive, send):
    while not answered:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            pass
async def made(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"page"})
async def main():
    status, _ = await asyncio.wait_for(asgi_asked(gated(asgi, stubborn), "GET", "/articles/late", AGENT, "", paying), 20)
    answered.append(status)
    selling._Sale.seconds = 30.0
    site = gated(asgi, made)
    asking = threading.Event()
    site.gate._client.verify = lambda body: (asking.set(), settled.wait(), Answer("timeout"))[2]
    buyer = asyncio.ensure_future(asgi_asked(site, "GET", "/articles/late", AGENT, "", paying))
    while not asking.is_set():
        await asyncio.sleep(0.01)
    buyer.cancel()
    await asyncio.wait({buyer})
    while_settling = site.gate._sales._waiting
    settled.set()
    while site.gate._sales._waiting:
        await asyncio.sleep(0.01)
    return [status, buyer.cancelled(), while_settling]
print(json.dumps(asyncio.run(main())))
`;
    expect(askPython(python, program, null)).toEqual([503, true, 1]);
  },
);

test.each(PYTHONS.map((python) => [python.version, python] as const))(
  'Python %s: made-up licences displace none that is good, one sold here is good at once, and a bound one keeps its place among the questions',
  (_version, python) => {
    const program = `${GATES}
from content_settlement.knowing import Licences, Page
from content_settlement.memory import Rate
from content_settlement.page import Address
from content_settlement.telling import Failures
def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
def licence(name, **more):
    claims = {"jti": name, "exp": 1e12, "nbf": 0, "iat": 0, "iss": "https://issuer.example", "aud": "https://a.example",
        "svc": {"v": 1, "grant": "read", "kind": "read", "slug": "solo"}, **more}
    return ".".join([part({"alg": "EdDSA"}), part(claims), "c2ln"])
class Service:
    is_away, asked = False, []
    def check(self, question):
        self.asked.append(question["license"])
        if self.is_away:
            return Answer("timeout")
        claims = json.loads(base64.urlsafe_b64decode(question["license"].split(".")[1] + "=="))
        return Answer("ok", 200, {}, {"entitled": claims["jti"].startswith("good")})
now = [1e9]
service, config = Service(), SiteConfig(settings(["/articles/"]))
licences = Licences(service, lambda: now[0], Failures(None, lambda line: None), False)
page = Page(Address("/articles/solo", "https://a.example", "https://a.example/articles/solo", ("/articles/solo",)), "read", AGENT)
proof = {"x-licence-proof": "1." + "n" * 8 + ".0x00"}
def worth(one, headers={}):
    return licences.worth_of(config, page, one, headers.get)
good, sold, bound = licence("good"), licence("sold"), licence("good-bound", cnf={})
told = {"first": [worth(good), worth(bound, proof)]}
licences.sold(page, sold)
asked = len(service.asked)
told["sold"] = [worth(sold), len(service.asked) - asked]
for at in range(2500):
    now[0] += 0.05
    worth(licence(f"bad{at}"))
service.is_away = True
told["away"] = [worth(good), worth(sold), worth(bound, proof)]
service.is_away = False
now[0] += 20
licences._unknown = Rate(lambda: now[0], 0, 0)
told["crowded"] = [worth(good), worth(bound, proof), worth(licence("good-new")), worth(licence("good-other", cnf={}), proof)]
print(json.dumps(told))
`;
    expect(askPython(python, program, null)).toEqual({
      first: ['good', 'good'],
      sold: ['good', 0],
      away: ['good', 'good', 'unproven'],
      crowded: ['good', 'good', 'busy', 'busy'],
    });
  },
);
