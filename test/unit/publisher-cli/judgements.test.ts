/** What each check of the doctor says of given facts: the fault it is for, and the site that is well. */
import { describe, expect, test } from 'vitest';
import { addressCheck } from '../../../packages/publisher/src/cli/checks/address.ts';
import type { Seen } from '../../../packages/publisher/src/cli/checks/caches.ts';
import { cachesCheck } from '../../../packages/publisher/src/cli/checks/caches.ts';
import { enforcingCheck } from '../../../packages/publisher/src/cli/checks/enforcing.ts';
import { formsCheck, namedIn } from '../../../packages/publisher/src/cli/checks/forms.ts';
import { freePagesCheck } from '../../../packages/publisher/src/cli/checks/freePages.ts';
import { headCheck } from '../../../packages/publisher/src/cli/checks/head.ts';
import { keyCheck } from '../../../packages/publisher/src/cli/checks/key.ts';
import { missingPageCheck } from '../../../packages/publisher/src/cli/checks/missingPage.ts';
import { offerCheck } from '../../../packages/publisher/src/cli/checks/offer.ts';
import { priceCheck } from '../../../packages/publisher/src/cli/checks/price.ts';
import { proofCheck } from '../../../packages/publisher/src/cli/checks/proof.ts';
import { readersCheck } from '../../../packages/publisher/src/cli/checks/readers.ts';
import { robotsCheck } from '../../../packages/publisher/src/cli/checks/robots.ts';
import { serviceCheck, skewOf } from '../../../packages/publisher/src/cli/checks/service.ts';
import { spellingsCheck } from '../../../packages/publisher/src/cli/checks/spellings.ts';
import { visitorsCheck } from '../../../packages/publisher/src/cli/checks/visitors.ts';
import { wellKnownCheck } from '../../../packages/publisher/src/cli/checks/wellKnown.ts';
import type { Check, Finding, Level } from '../../../packages/publisher/src/cli/finding.ts';
import { worstOf } from '../../../packages/publisher/src/cli/finding.ts';
import { KNOWN_VISITORS } from '../../../packages/publisher/src/cli/knownVisitors.ts';
import type { Reply } from '../../../packages/publisher/src/cli/visitor.ts';

const HOST = 'alpha.example';
const PAGE = '/articles/trio';
const ENTRY = { scheme: 'exact', network: 'eip155:84532', amount: '3000', asset: '0xa', payTo: '0xb' };

const reply = (status: number, headers: Record<string, string> = {}, body = ''): Reply => ({
  came: true,
  status,
  headers,
  body,
  isWhole: true,
});
const silent = (why: 'timeout' | 'unreachable' | 'tls'): Reply => ({ came: false, why });
const html = (status: number, title = 'trio'): Reply =>
  reply(status, { 'content-type': 'text/html' }, `<!doctype html><title>${title}</title>`);
const answer = (body: unknown = {}) => ({ ok: true, status: 200, body, headers: new Headers() }) as const;
const refused = (status: number, code?: string) => ({ ok: false, why: 'status', status, ...(code ? { code } : {}) }) as const;

/** An offer as a site sends it. */
function offer(changes: { headers?: Record<string, string>; entry?: object; resource?: string } = {}): Reply {
  const accepts = [{ ...ENTRY, ...changes.entry }];
  const v2 = {
    x402Version: 2,
    error: 'Payment required',
    resource: { url: changes.resource ?? `https://${HOST}${PAGE}` },
    accepts,
  };
  return reply(402, {
    'payment-required': Buffer.from(JSON.stringify(v2)).toString('base64'),
    'cache-control': 'private, no-store',
    vary: 'PAYMENT-SIGNATURE, X-PAYMENT, Authorization, User-Agent',
    ...changes.headers,
  });
}

/** A row: what the facts are called, the facts, and the level they are judged as. */
type Row<Facts> = readonly [name: string, facts: Facts, level: Level, says?: RegExp];

function judges<Facts>(check: Check<Facts>, rows: readonly Row<Facts>[]): void {
  describe(check.id, () => {
    for (const [name, facts, level, says = /./] of rows) {
      test(name, () => {
        const findings: readonly Finding[] = check.judge(facts);
        expect([worstOf(findings), findings.map((finding) => finding.says).join(' ')]).toEqual([
          level,
          expect.stringMatching(says),
        ]);
        for (const finding of findings) expect(finding.todo !== undefined).toBe(finding.level !== 'ok');
      });
    }
  });
}

judges(serviceCheck, [
  ['an answer, clocks agree', { answer: answer(), skewSeconds: 2 }, 'ok'],
  ['a clock that is a minute fast', { answer: answer(), skewSeconds: 60 }, 'warning', /60 s fast/],
  ['a clock that is ten minutes slow', { answer: answer(), skewSeconds: -600 }, 'problem', /600 s slow/],
  ['nobody there', { answer: { ok: false, why: 'unreachable' }, skewSeconds: null }, 'problem', /cannot be reached/],
  ['too late', { answer: { ok: false, why: 'timeout' }, skewSeconds: null }, 'problem', /in time/],
  ['500', { answer: refused(500), skewSeconds: null }, 'problem', /500/],
  ['a key that is refused is an answer', { answer: refused(401, 'unknown_credential'), skewSeconds: 0 }, 'ok'],
  ['not asked', { answer: null, skewSeconds: null }, 'unknown'],
]);

test('a clock is as wrong as a Date header of whole seconds, made during the call, can prove', () => {
  const date = 'Sun, 22 Nov 2026 12:00:00 GMT';
  const atMs = Date.parse(date);
  expect([
    skewOf(date, atMs - 400, atMs + 200),
    skewOf(date, atMs + 900, atMs + 2_000),
    skewOf(date, atMs + 61_000, atMs + 61_000),
  ]).toEqual([0, 0, 60]);
  expect([skewOf(date, atMs - 9_000, atMs - 8_000), skewOf(null, 0, 0), skewOf('soon', 0, 0)]).toEqual([-8, null, null]);
});

judges(keyCheck, [
  ['a live key', { kind: 'live', answer: { ok: true }, site: { status: 'active' } }, 'unknown', /could not be tried/],
  ['a live key that works', { kind: 'live', answer: { ok: true, status: 200 }, site: { status: 'active' } }, 'ok'],
  [
    'a test key that works',
    { kind: 'test', answer: { ok: true, status: 200 }, site: { status: 'active' } },
    'warning',
    /no money/,
  ],
  ['a revoked key', { kind: 'live', answer: refused(401, 'unknown_credential'), site: null }, 'problem', /revoked/],
  ['a test key where they are off', { kind: 'test', answer: refused(401), site: null }, 'problem', /test keys are off/],
  ['no scope', { kind: 'live', answer: refused(403, 'scope_missing'), site: null }, 'problem', /tenant\.read/],
  ['no plan', { kind: 'live', answer: refused(403, 'plan_gate'), site: null }, 'problem', /plan/],
  ['a suspended site', { kind: 'live', answer: refused(403, 'site_suspended'), site: null }, 'problem', /suspended/],
  [
    'a site without a host',
    { kind: 'live', answer: { ok: true, status: 200 }, site: { status: 'pending' } },
    'problem',
    /pending/,
  ],
  ['another text', { kind: 'unknown', answer: refused(401), site: null }, 'problem', /not a publisher key/],
  ['none', { kind: 'none', answer: null, site: null }, 'unknown'],
]);

const challenge = { host: HOST, token: 't', method: 'well-known', isVerified: false };
judges(proofCheck, [
  ['a host of the site', { host: HOST, siteHosts: [HOST], challenge: null }, 'ok'],
  ['a challenge is open', { host: HOST, siteHosts: [], challenge }, 'problem', /challenge by well-known/],
  ["another site's host", { host: HOST, siteHosts: ['beta.example'], challenge: null }, 'problem', /beta\.example/],
  ['not asked', { host: HOST, siteHosts: null, challenge: null }, 'unknown'],
]);

const row = {
  host: HOST,
  mode: 'in_app',
  confidence: 'high',
  basedOn: ['inapp_quote'],
  nextAction: 'none',
  attention: false,
  keyRejectedAt: null,
  recordToFix: null,
  failedOpenAt: null,
};
const idle = { ...row, mode: 'idle', nextAction: 'install_code', attention: true };
judges(enforcingCheck, [
  ['a gate is heard of', { host: HOST, rows: [row], sawOffer: true }, 'ok'],
  ['nobody was ever heard of', { host: HOST, rows: [idle], sawOffer: false }, 'problem', /install_code/],
  ['nobody was heard of before this run', { host: HOST, rows: [idle], sawOffer: true }, 'ok', /until now/],
  ['another host is silent', { host: 'beta.example', rows: [idle], sawOffer: true }, 'problem'],
  [
    'two gates',
    { host: HOST, rows: [{ ...row, nextAction: 'remove_cname', attention: true, recordToFix: HOST }], sawOffer: true },
    'problem',
    /record alpha/,
  ],
  [
    'agents were served free',
    { host: HOST, rows: [{ ...row, failedOpenAt: '2026-11-22T12:00:00.000Z' }], sawOffer: true },
    'warning',
    /12:00/,
  ],
  ['not asked', { host: HOST, rows: null, sawOffer: false }, 'unknown'],
]);

const address = {
  site: HOST,
  isHttps: true,
  isElsewhere: false,
  front: offer(),
  plain: reply(301),
  offered: `https://${HOST}${PAGE}`,
};
judges(addressCheck, [
  ['https, and the offer says so', address, 'ok'],
  [
    'the offer names the server behind the proxy',
    { ...address, offered: `http://127.0.0.1:3000${PAGE}` },
    'problem',
    /127\.0\.0\.1:3000/,
  ],
  ['the offer names http', { ...address, offered: `http://${HOST}${PAGE}` }, 'problem', /http:\/\/alpha/],
  ['plain http gives the page away', { ...address, plain: html(200) }, 'problem', /plain http/],
  ['a certificate of another name', { ...address, front: silent('tls') }, 'problem', /certificate/],
  ['nobody there', { ...address, front: silent('unreachable') }, 'problem'],
  ['asked by http', { ...address, isHttps: false, plain: null }, 'warning'],
  ['asked past the proxy', { ...address, isElsewhere: true, plain: null }, 'unknown', /--connect-to/],
  ['no offer', { ...address, offered: null }, 'unknown'],
]);

const text = (body: string): Reply => reply(200, { 'content-type': 'text/plain' }, body);
judges(robotsCheck, [
  ['only other paths are forbidden', { reply: text('User-agent: *\nDisallow: /admin/'), paths: [PAGE] }, 'ok'],
  ['there is none', { reply: reply(404), paths: [PAGE] }, 'ok'],
  ['all are forbidden', { reply: text('User-agent: *\nDisallow: /'), paths: [PAGE] }, 'problem', /forbids agents/],
  [
    'some buyers are forbidden',
    { reply: text('User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /'), paths: [PAGE] },
    'warning',
    /GPTBot, CCBot to/,
  ],
  [
    'Googlebot is forbidden',
    { reply: text('User-agent: Googlebot\nDisallow: /articles/'), paths: [PAGE] },
    'warning',
    /Googlebot/,
  ],
  ["the app's page", { reply: html(200), paths: [PAGE] }, 'problem', /catch-all/],
  ['it costs money', { reply: reply(402), paths: [PAGE] }, 'problem', /402/],
  ['an error', { reply: reply(500), paths: [PAGE] }, 'warning', /500/],
  ['no page is known', { reply: text(''), paths: [] }, 'unknown'],
  ['silence', { reply: silent('timeout'), paths: [PAGE] }, 'unknown'],
]);

const [shown, hidden] = [true, false].map((isShown) => ({ token: 'abc', isVerified: false, isShown }));
judges(wellKnownCheck, [
  ['404 for an invented token', { invented: reply(404), challenge: null }, 'ok', /free for proofs/],
  ['the token of the host', { invented: html(200), challenge: shown! }, 'ok', /shows the token/],
  ['not the token of the host', { invented: reply(404), challenge: hidden! }, 'problem', /not proven\.$/],
  ['not the token of a proven host', { invented: reply(404), challenge: { ...hidden!, isVerified: true } }, 'problem', /lapses/],
  ["the app's page instead of the token", { invented: html(200), challenge: hidden! }, 'problem', /catch-all/],
  ["the app's page, and no challenge", { invented: html(200), challenge: null }, 'warning', /catch-all/],
  ['a redirect', { invented: reply(302), challenge: null }, 'warning', /redirect/],
  ['a password', { invented: reply(401), challenge: null }, 'warning', /401/],
  ['it costs money', { invented: reply(402), challenge: null }, 'warning', /402/],
  ['silence', { invented: silent('timeout'), challenge: null }, 'unknown'],
]);

test('whose host is not shown to be theirs is told which text belongs at which address, with the package or without', () => {
  const [finding] = wellKnownCheck.judge({ invented: reply(404), challenge: hidden! });
  expect(finding?.todo).toMatch(/Put the package .* the text abc at \/\.well-known\/svc-challenge\/abc,/);
});

const sold = { page: PAGE, agentName: 'GPTBot', reply: offer(), verdict: 'priced' } as const;
judges(offerCheck, [
  ['an offer that no cache keeps', sold, 'ok'],
  ['no Cache-Control', { ...sold, reply: offer({ headers: { 'cache-control': '' } }) }, 'problem', /no-store/],
  ['a proxy took Vary', { ...sold, reply: offer({ headers: { vary: 'Accept-Encoding' } }) }, 'warning', /user-agent/],
  ['Vary: *', { ...sold, reply: offer({ headers: { vary: '*' } }) }, 'ok'],
  ['a 402 of somebody else', { ...sold, reply: reply(402) }, 'problem', /no PAYMENT-REQUIRED/],
  ['an offer without an amount', { ...sold, reply: offer({ entry: { amount: 'much' } }) }, 'problem', /names no amount/],
  ['the page, free, though priced', { ...sold, reply: html(200) }, 'problem', /free, although/],
  ['a free page', { ...sold, reply: html(200), verdict: 'no_credits' }, 'warning', /no_credits/],
  ['a page of which nothing is known', { ...sold, reply: html(200), verdict: 'failed' }, 'unknown'],
  ['a firewall', { ...sold, reply: reply(403) }, 'problem', /403/],
  ['an error', { ...sold, reply: reply(500) }, 'problem', /500/],
  ['a proxy that cannot take the offer', { ...sold, reply: reply(502) }, 'problem', /do not fit its buffer/],
  [
    'headers that fit no buffer of 4 KB',
    { ...sold, reply: offer({ headers: { 'x-own': 'x'.repeat(4_000) } }) },
    'problem',
    /4\d{3} bytes/,
  ],
  ['a page that does not exist', { ...sold, reply: reply(404) }, 'problem', /404/],
  ['a redirect', { ...sold, reply: reply(301, { location: '/x' }) }, 'unknown', /redirected to \/x/],
  ['no page', { ...sold, page: null, reply: null }, 'unknown'],
]);

const quiet = { isFromCache: false, mayBeKept: false, hasCache: false, variesByAgent: false };
const page: Seen = { ...quiet, status: 200, fingerprint: 'page' };
const toll: Seen = { ...quiet, status: 402, fingerprint: 'offer' };
const well = { page: PAGE, agentFirst: [toll, toll, page, toll], personFirst: [page, page, toll] };
const hit = { isFromCache: true, hasCache: true };
judges(cachesCheck, [
  ['to each what is theirs', well, 'ok'],
  [
    'people get the 402 that was kept',
    { ...well, agentFirst: [toll, toll, { ...toll, ...hit }, toll] },
    'problem',
    /402 of agents to people/,
  ],
  ['agents get a 402 that was kept', { ...well, agentFirst: [toll, { ...toll, ...hit }, page, toll] }, 'problem', /keeps 402/],
  [
    'an agent gets the page that was kept',
    { ...well, personFirst: [page, { ...page, ...hit }, { ...page, ...hit }] },
    'problem',
    /to agents, free/,
  ],
  [
    'an agent gets the page of people after them, silently',
    { ...well, personFirst: [page, page, page] },
    'problem',
    /to agents, free/,
  ],
  [
    'a gate that is not there is not a cache',
    { page: PAGE, agentFirst: [page, page, page, page], personFirst: [page, page, page] },
    'ok',
  ],
  ['a cache keeps the page of people for people', { ...well, agentFirst: [toll, toll, { ...page, ...hit }, toll] }, 'ok'],
  [
    'a cache may keep the page for anybody',
    { ...well, agentFirst: [toll, toll, { ...page, ...hit, mayBeKept: true }, toll] },
    'warning',
    /may be kept/,
  ],
  [
    'a cache tells agents apart',
    { ...well, agentFirst: [toll, toll, { ...page, ...hit, mayBeKept: true, variesByAgent: true }, toll] },
    'ok',
  ],
  ['silence', { ...well, personFirst: [page, page, null] }, 'unknown'],
  ['no page', { page: null, agentFirst: [], personFirst: [] }, 'unknown'],
]);

const read = { page: PAGE, person: html(200), googlebot: html(200), isGoogleFree: true };
judges(readersCheck, [
  ['both read', read, 'ok'],
  ['a person pays', { ...read, person: offer() }, 'problem', /browser gets a 402/],
  ['Googlebot pays', { ...read, googlebot: offer() }, 'problem', /index/],
  ['its name alone pays', { ...read, googlebot: offer(), unchecked: html(200) }, 'ok', /by name alone pays/],
  ['all search engines pay', { ...read, googlebot: offer(), unchecked: offer() }, 'problem', /index/],
  ['Googlebot pays because the owner said so', { ...read, googlebot: offer(), isGoogleFree: false }, 'ok', /owner decided/],
  ['a firewall knows the real Googlebot', { ...read, googlebot: reply(403) }, 'warning'],
  ['an error for people', { ...read, person: reply(503) }, 'problem', /503/],
  ['a redirect', { ...read, person: reply(302) }, 'unknown'],
  ['silence', { ...read, person: silent('timeout') }, 'unknown'],
  ['no page', { ...read, page: null, person: null, googlebot: null }, 'unknown'],
]);

const policy = { allow: [], charge: [], block: [] };
const lists = { seoAllowlist: ['googlebot'], crawlerPolicy: policy, visitorClasses: {} };
const free = html(200);
const replies = {
  ...{ search: free, preview: free, ads: free, feed: free, monitor: free, app: free },
  ...{ ai: offer(), automation: offer(), pretender: offer(), masquerade: offer() },
};
const allGet = (one: Reply) => Object.fromEntries(Object.keys(replies).map((name) => [name, one]));
judges(visitorsCheck, [
  ['nothing was decided: previews read', { lists, replies }, 'ok', /Link previews read free: facebookexternalhit, Twitterbot, /],
  ['nothing was decided: agents pay', { lists, replies }, 'ok', /AI agents pay: GPTBot, /],
  [
    'a class',
    { lists: { ...lists, visitorClasses: { feed: 'block' } }, replies: { ...replies, feed: reply(403) } },
    'ok',
    /Feed readers are blocked: Feedly, /,
  ],
  [
    'pretenders',
    { lists: { ...lists, visitorClasses: { pretender: 'read' } }, replies: { ...replies, pretender: free } },
    'ok',
    /Tools that pretend read free/,
  ],
  [
    'a name',
    { lists: { ...lists, crawlerPolicy: { ...policy, charge: ['twitterbot'] } }, replies },
    'ok',
    /Link previews pay: Twitterbot/m,
  ],
  [
    'people pay',
    { lists: { ...lists, crawlerPolicy: { ...policy, charge: ['cubot'] } }, replies },
    'problem',
    /People pay: a phone by Cubot\./m,
  ],
  [
    'a gate that charges who reads free',
    { lists, replies: { ...replies, preview: offer() } },
    'problem',
    /^Link previews pay at the site; by the owner’s settings they read free \(asked as: facebookexternalhit\)/,
  ],
  ['a gate that frees who pays', { lists, replies: { ...replies, automation: free } }, 'problem', /^Automation .* read free at/],
  [
    'a gate that does not see addresses',
    { lists, replies: { ...replies, masquerade: free } },
    'unknown',
    /does not see which address/,
  ],
  [
    'an owner who believes names',
    { lists: { ...lists, visitorClasses: { masquerade: 'read' } }, replies: { ...replies, masquerade: free } },
    'ok',
    /Robots by name alone read free/,
  ],
  ['a CDN in front hides who asks', { lists, replies: allGet(free) }, 'problem', /^The site treats all visitors alike/],
  ['so that all pay', { lists, replies: allGet(offer()) }, 'problem', /all visitors alike, .*: they pay\./],
  ['a firewall', { lists, replies: { ...replies, monitor: reply(429) } }, 'unknown', /Pingdom gets 429/],
  ['silence', { lists, replies: { ...replies, app: silent('timeout') } }, 'unknown', /an app with CFNetwork got no answer/],
  ['no page', { lists, replies: null }, 'unknown', /No page that is for sale is known/],
  ['not asked', { lists: null, replies: null }, 'unknown'],
]);

test('the doctor says of every known visitor what becomes of it, once', async () => {
  const told = visitorsCheck
    .judge({ lists, replies })
    .map(({ says }) => says.replace(/\.$/, '').split(': ')[1]?.split(', ') ?? []);
  expect(
    told
      .flat()
      .filter((name) => name !== 'browsers that ask for Markdown' && !name.startsWith('from an address'))
      .sort(),
  ).toEqual(KNOWN_VISITORS.map(({ name }) => name).sort());
});

const price = {
  page: PAGE,
  quotedMicro: 3_000n,
  offeredMicro: [3_000n, 3_000n],
  crawlerPrice: 'USD 0.003',
  html: '<p>0.003 USD</p>',
  ownersMicro: 3_000n,
};
judges(priceCheck, [
  ['the same everywhere', price, 'ok', /USD 0\.003/],
  ['nothing but the offer', { ...price, crawlerPrice: null, html: null, ownersMicro: null }, 'ok'],
  ['an old offer', { ...price, offeredMicro: [2_000n] }, 'problem', /offer says USD 0\.002/],
  ['an old header', { ...price, crawlerPrice: 'USD 0.002' }, 'problem', /crawler-price says "USD 0\.002"/],
  ['a header that is no price', { ...price, crawlerPrice: 'free' }, 'problem', /"free"/],
  ['a page without the price', { ...price, html: '<p>Pay!</p>' }, 'warning'],
  ["below the service's lowest price", { ...price, ownersMicro: 500n }, 'problem', /USD 0\.0005, buyers are charged USD 0\.003/],
  ['not asked', { ...price, quotedMicro: null }, 'unknown'],
  ['no page', { ...price, page: null }, 'unknown'],
]);

judges(headCheck, [
  ['an offer', { page: PAGE, reply: offer() }, 'ok'],
  ['the head of the page', { page: PAGE, reply: reply(200) }, 'ok'],
  ['an error', { page: PAGE, reply: reply(500) }, 'problem'],
  ['it was charged', { page: PAGE, reply: reply(200, { 'payment-response': 'e30=' }) }, 'problem', /charged/],
  ['refused', { page: PAGE, reply: reply(405) }, 'warning'],
  ['silence', { page: PAGE, reply: silent('timeout') }, 'unknown'],
  ['no page', { page: null, reply: null }, 'unknown'],
]);

const missing = { path: '/articles/none', agent: reply(404), person: reply(404) };
judges(missingPageCheck, [
  ['404', missing, 'ok'],
  ['an offer, and 404 for people', { ...missing, agent: offer() }, 'ok', /costs nothing/],
  ['an offer for a page that is none', { ...missing, agent: offer(), person: html(200) }, 'warning', /can buy it/],
  ['an error', { ...missing, agent: reply(500) }, 'problem', /500/],
  ['people pay', { ...missing, person: offer() }, 'problem'],
  ['silence', { ...missing, agent: silent('timeout') }, 'unknown'],
]);

const spelled = (given: Reply) => ({
  page: PAGE,
  agent: offer(),
  person: html(200),
  spelled: [{ path: '/articles//trio', reply: given }],
});
judges(spellingsCheck, [
  ['it costs the same', spelled(offer()), 'ok'],
  ['it is another page', spelled(html(200, 'not found')), 'ok'],
  ['a redirect', spelled(reply(301)), 'ok'],
  ['it is the page', spelled(html(200)), 'problem', /\/articles\/\/trio/],
  ['the page has a counter in it', spelled(reply(200, {}, '<!doctype html><title>trio</title>7')), 'problem'],
  ['the page itself is free', { ...spelled(html(200)), agent: html(200) }, 'unknown'],
  ['no page', { page: null, agent: null, person: null, spelled: [] }, 'unknown'],
]);

const TEXT = 'The whole text of the trio, which costs something.';
const article = reply(200, { 'content-type': 'text/html' }, `<!doctype html><title>trio</title><nav>Home</nav><p>${TEXT}</p>`);
const formed = (given: Reply, known: readonly string[] | null = ['.md', '/amp']) => ({
  page: PAGE,
  agent: offer(),
  person: article,
  forms: [{ path: '/articles/trio.md', reply: given }],
  known,
});
judges(formsCheck, [
  ['it costs the same', formed(offer()), 'ok'],
  ['the site has none', formed(reply(404)), 'ok'],
  ['it has another text', formed(reply(200, {}, 'User-agent: *')), 'ok'],
  ['it is the text', formed(reply(200, { 'content-type': 'text/markdown' }, `# trio\n\n${TEXT}\n`)), 'problem', /trio\.md/],
  ['it is the text as JSON', formed(reply(200, {}, JSON.stringify({ body: `<p>${TEXT}</p>` }))), 'problem'],
  ['the site has no forms', formed(reply(404), []), 'warning', /no forms/],
  ['the service knows no forms', formed(reply(404), null), 'ok'],
  ['the page itself is free', { ...formed(offer()), agent: article }, 'unknown'],
  ['no page', { ...formed(offer()), page: null }, 'unknown'],
]);

test('a page names its own addresses by canonical, alternate and amphtml, on its own host, and none in another language', () => {
  const body = `<link rel="canonical" href="/articles/trio?a=1&amp;b=2"><link href='https://alpha.example/trio.md' rel='alternate' type="text/markdown">
    <LINK REL=amphtml HREF=/trio/amp><link rel="alternate" hreflang="de" href="/de/trio"><link rel="alternate" href="https://other.example/trio">
    <link rel="stylesheet" href="/x.css"><link rel="alternate" href="http://[">`;
  expect(namedIn({ body }, new URL(`https://${HOST}/`))).toEqual(['/articles/trio?a=1&b=2', '/trio.md', '/trio/amp']);
});

const look = (verdict: 'priced' | 'no_credits' | 'free_slug' | 'out_of_scope' | 'no_price' | 'free' | 'failed', path = PAGE) => ({
  path,
  verdict,
});
judges(freePagesCheck, [
  ['all have a price', { looks: [look('priced'), look('free_slug')], missing: null }, 'ok', /1 of 2/],
  [
    'one has nobody to pay',
    { looks: [look('priced'), look('no_credits', '/a')], missing: null },
    'warning',
    /1 of the pages looked at is free.*\/a/,
  ],
  [
    'none has anybody to pay',
    { looks: [look('no_credits'), look('no_credits')], missing: null },
    'problem',
    /2 of the pages looked at are free/,
  ],
  ['the price is 0', { looks: [look('no_price')], missing: null }, 'warning', /price is 0/],
  ['an older service', { looks: [look('free')], missing: null }, 'unknown', /does not say why/],
  ['not asked', { looks: [look('failed')], missing: null }, 'unknown'],
  ['no sitemap', { looks: [], missing: 'no_sitemap' }, 'unknown', /no sitemap/],
  ['a sitemap of other pages', { looks: [], missing: 'no_pages_in_scope' }, 'unknown', /in scope/],
]);
