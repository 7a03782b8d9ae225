/** The gate in front of a site's pages: what a server has to do with each request. */
import type { Answer } from './answers.ts';
import { offerAnswer, paidHeaders, preflightAnswer, refusalAnswer, waitAnswer } from './answers.ts';
import type { Quote } from './client.ts';
import { createClient } from './client.ts';
import { Breaker } from './core/breaker.ts';
import { crawlerErrorOf } from './core/crawlerError.ts';
import { decideUnpriced } from './core/decide.ts';
import { isMarkdownPath, prefersMarkdown } from './core/forms.ts';
import { microOf } from './core/usdc.ts';
import type { Caller } from './core/who.ts';
import type { JudgeDeps, Judgement } from './judge.ts';
import { judge, pageOf } from './judge.ts';
import { openAgents } from './knowing/agents.ts';
import { openLateClaims } from './knowing/lateClaims.ts';
import { openLicences } from './knowing/licences.ts';
import type { Page } from './knowing/pages.ts';
import { openPages } from './knowing/pages.ts';
import { openProofs } from './knowing/proofs.ts';
import { openQuotes } from './knowing/quotes.ts';
import { openReaders } from './knowing/readers.ts';
import { openConfig } from './knowing/siteConfig.ts';
import type { Look, Looks } from './looking.ts';
import { openLooks, unlessSiteHas } from './looking.ts';
import type { PublisherOptions } from './options.ts';
import { readOptions } from './options.ts';
import type { SiteRequest } from './request.ts';
import { isPreflight } from './request.ts';
import { openRoutes } from './routes.ts';
import type { Sale, Sales } from './selling/sale.ts';
import { openSales } from './selling/sale.ts';
import type { Bodies } from './telling/bodies.ts';
import { openBodies } from './telling/bodies.ts';
import { openFailures, quietly } from './telling/failures.ts';
import type { Reports } from './telling/reports.ts';
import { openReports } from './telling/reports.ts';
import type { Teller } from './telling/teller.ts';
import { openTeller } from './telling/teller.ts';
import type { WellKnownRow } from './wellKnown.ts';
import { mayBeWellKnown, wellKnownRows } from './wellKnown.ts';

/** How long an address at which the site has nothing waits for a first copy of ours. */
const PATIENCE_MS = 500;

/** What a server has to do with a request. */
export type Ruling =
  /** Let the site answer. With headers: put them on its answer, and ask the site for the whole page. */
  (
    | { readonly act: 'serve'; readonly headers: Readonly<Record<string, string>> | null }
    | { readonly act: 'answer'; readonly answer: Answer }
    /** Let the site answer, and look at it: what is no page goes out untouched. */
    | { readonly act: 'look'; readonly look: Look }
    /** Have the page made, whole, and hand it over to the sale before anything of it is sent. */
    | { readonly act: 'sell'; readonly sale: Sale }
  ) & {
    /** The path of the article that the address is the Markdown of: its page is made where the site has nothing at the address itself. */
    readonly article?: string;
  };

/** A gate. */
export interface Gate<Request> {
  /** True for whom nothing has to be found out: the site answers as if the gate were not there. Never waits, never throws. */
  letsThrough(request: SiteRequest<Request>): boolean;
  /** What to do with any other request. Never rejects. */
  rule(request: SiteRequest<Request>): Promise<Ruling>;
  /** Reads the site's settings ahead of the first request. */
  warmUp(): void;
  /** Sends the reports that wait, and the words about pages that were sold. Never rejects. */
  flush(): Promise<void>;
  /** Hands over the work that goes on after an answer, if there is any: for platforms that stop a program between requests. */
  background(keep: (work: Promise<void>) => void): void;
  /** What went wrong since the start, by kind, and reports that were given up. */
  counts(): Readonly<Record<string, number>>;
  /** Bytes of a page that are kept until it is paid. */
  readonly maxPageBytes: number;
  /** Hears that the site did not make a page that was paid for. */
  onNoPage(error: unknown): void;
  /** Hears of a page that is longer; warns once. */
  onLarge(): void;
}

/** What the gate is made of. */
interface Parts<Request> extends JudgeDeps<Request> {
  readonly reports: Reports;
  readonly bodies: Bodies | null;
  readonly sales: Sales;
  readonly looks: Looks;
  readonly teller: Teller;
  /** What the site adds, which comes first, and what every site has. */
  readonly rows: { readonly own: readonly WellKnownRow[]; readonly everywhere: readonly WellKnownRow[] };
  readonly options: ReturnType<typeof readOptions<Request>>;
}

/** Opens a gate; nothing is asked before the first request or `warmUp`. Throws TypeError for options that cannot be used. */
export function createGate<Request>(given: PublisherOptions<Request>): Gate<Request> {
  const parts = partsOf(given);
  const { config, failures, reports, readers, options } = parts;
  let isWarned = false;
  return {
    letsThrough: (request) => {
      try {
        return letsThrough(parts, request);
      } catch (error) {
        failures.note({ what: 'gate', message: `a request could not be read: ${String(error)}` });
        return false;
      }
    },
    rule: async (request) => {
      try {
        const own = await ownRuling(parts, request);
        const judgement = await judge(parts, request, own !== null);
        const looked = own === null ? lookOf(parts, request, judgement) : null;
        if (looked) return ofArticle(looked, judgement.page);
        parts.teller.decided(request.method, judgement);
        return own ?? ofArticle(carryOut(parts, request, judgement), judgement.page);
      } catch (error) {
        failures.note({ what: 'gate', message: `a request could not be decided: ${String(error)}` });
        const { who } = readers(request, config.current());
        return who === 'agent' || who === 'blocked' ? wait(undefined) : { act: 'serve', headers: null };
      }
    },
    warmUp: () => void config.current(),
    flush: () => flush(parts),
    background: (keep) => {
      const isDue = reports.isDue() || parts.bodies?.isDue() === true;
      if (config.isReading() || isDue) keep(config.settled().then(() => flush(parts)));
      const reading = parts.rows.everywhere.flatMap((row) => row.reading?.() ?? []);
      if (reading.length > 0) keep(Promise.allSettled(reading).then(() => undefined));
    },
    counts: () => ({ ...failures.counts(), reportsDropped: reports.dropped() }),
    maxPageBytes: options.maxPageBytes,
    onNoPage: (error) =>
      failures.note({
        what: 'page',
        message: `a page was not rendered: ${String(error)}; nothing is settled, its buyer comes back`,
      }),
    onLarge: () => {
      if (!isWarned)
        quietly(() =>
          options.log(
            `content-settlement: a page has more than ${options.maxPageBytes} bytes: it is paid before all of it is made`,
          ),
        );
      isWarned = true;
    },
  };
}

function partsOf<Request>(given: PublisherOptions<Request>): Parts<Request> {
  const options = readOptions(given);
  const { now } = options;
  const client = createClient({ ...options, onSiteVersion: (version) => config.heard(version) });
  const failures = openFailures(options);
  const deps = { client, now, failures, breaker: new Breaker(now), isTest: options.apiKey.startsWith('svc_test_') };
  const claims = openLateClaims({ now });
  const config = openConfig({ ...deps, claims });
  const reports = openReports(deps);
  const bodies = options.receipts?.bodies === false ? null : openBodies(deps);
  const teller = openTeller(options, reports);
  const sign = options.receipts?.offers === true ? (options.receipts.name === 'host' ? 'host' : '1') : null;
  const pages = openPages({
    quotes: openQuotes({ ...deps, sign }),
    licences: openLicences({ ...deps, breaker: new Breaker(now) }),
    proofs: openProofs(deps),
  });
  const routes = openRoutes(options.origin);
  // A breaker of its own: a service that cannot say who signed still prices.
  const agents = openAgents({ ...deps, breaker: new Breaker(now) });
  const sales = openSales({
    ...deps,
    pages,
    maxPageBytes: options.maxPageBytes,
    bodies,
    receiptName: options.receipts?.name ?? 'service',
    unservable: ({ page, caller, quote }) => teller.report(page, { verdict: 'unservable', caller, priceMicro: quote.price }),
  });
  const readers = openReaders(options, failures, claims);
  const looks = openLooks(options);
  const rows = { own: options.wellKnown ?? [], everywhere: wellKnownRows({ ...deps, documents: options.documents }) };
  return {
    config,
    pages,
    routes,
    agents,
    failures,
    readers,
    kind: options.kind,
    reports,
    bodies,
    teller,
    sales,
    looks,
    rows,
    options,
  };
}

async function flush<Request>({ reports, bodies }: Parts<Request>): Promise<void> {
  await Promise.all([reports.flush(), bodies?.flush()]);
}

function letsThrough<Request>(parts: Parts<Request>, request: SiteRequest<Request>): boolean {
  if (isPreflight(request) || rowOf(parts, request)) return false;
  const config = parts.config.current();
  const caller = parts.readers(request, config);
  if (caller.who === 'agent' || caller.who === 'blocked') return config !== null && !parts.routes(config, request).isScoped;
  if (parts.options.report === 'all' && parts.routes(config, request).isScoped) {
    parts.teller.report(pageOf(parts, config, request), { verdict: 'served-free', caller });
  }
  return true;
}

/** What the package itself answers, to any caller; null for nothing. */
async function ownRuling<Request>(parts: Parts<Request>, request: SiteRequest<Request>): Promise<Ruling | null> {
  if (isPreflight(request)) {
    return parts.routes(await parts.config.first(), request).isScoped ? { act: 'answer', answer: preflightAnswer() } : null;
  }
  const row = rowOf(parts, request);
  if (!row) return null;
  const { header } = request;
  if (row.isAfterSite) {
    const made = async (): Promise<Answer | null> => {
      const origin = parts.routes(await parts.config.first(), request).address?.origin;
      return origin === undefined ? null : row.answer(rawPath(request), { host: new URL(origin).hostname, header });
    };
    return { act: 'look', look: unlessSiteHas(() => inPatience(made())) };
  }
  const answer = await row.answer(rawPath(request), { host: null, header });
  return answer && { act: 'answer', answer };
}

/** An answer that came soon enough, else null: where the service is away, nobody waits for it longer than this. */
async function inPatience(made: Promise<Answer | null>): Promise<Answer | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS, null)));
  return Promise.race([made.catch(() => null), late]).finally(() => clearTimeout(timer));
}

function rowOf<Request>({ rows }: Parts<Request>, request: SiteRequest<Request>): WellKnownRow | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const path = rawPath(request);
  const own = rows.own.length === 0 ? undefined : rows.own.find((row) => row.path.test(path));
  return own ?? (mayBeWellKnown(path) ? rows.everywhere.find((row) => row.path.test(path)) : undefined);
}

function rawPath({ target }: Pick<SiteRequest, 'target'>): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

/** A look at the site's own answer before a page is offered for money; null where there is nothing to look at, or nothing to learn. */
function lookOf<Request>(parts: Parts<Request>, request: SiteRequest<Request>, judgement: Judgement): Ruling | null {
  const { decision, page } = judgement;
  const { method } = request;
  const isAside = decision.act === 'look';
  if (!isAside && decision.act !== 'offer') return null;
  const told = (one: Judgement): void => parts.teller.decided(method, one);
  const asReader: Judgement = { ...judgement, decision: { act: 'serve', as: 'open' } };
  if (page === null) {
    if (!isAside) return null;
    // Which page it is, only the site's router knows: refused as for GET, or every other method would be a way round the price.
    const refused: Judgement = { ...judgement, decision: { act: 'refuse', status: 400 } };
    told(refused);
    return carryOut(parts, request, refused);
  }
  const offer = async (): Promise<Answer | null> => {
    const offered = isAside ? await offerFor(parts, judgement, page, method) : judgement;
    if (offered === null) return null;
    told(offered);
    const ruling = carryOut(parts, request, offered);
    return ruling.act === 'answer' ? ruling.answer : null;
  };
  const instead = () => offer().catch((): Answer => waitAnswer(undefined));
  const look = parts.looks.open({ page, method, isAside, instead, onOwn: () => told(asReader) });
  return look && { act: 'look', look };
}

/**
 * What becomes of a page that was asked for in another way than with GET, or under the name of none: its offer, or the refusal that it has under any
 * other name; null for one without a price.
 */
async function offerFor<Request>(
  { pages }: Parts<Request>,
  judgement: Judgement,
  asked: Page,
  method: string,
): Promise<Judgement | null> {
  const page = await pages.located(asked);
  const price = await pages.priceOf(page);
  const error =
    method === 'GET' || method === 'HEAD' ? {} : ({ error: 'invalid_parameter: pay with GET', next: 'fix_request' } as const);
  const decision = price.state === 'priced' ? ({ act: 'offer', ...error } as const) : decideUnpriced(price.state);
  return decision.act === 'serve' ? null : { ...judgement, page, price, decision };
}

function carryOut<Request>(parts: Parts<Request>, request: SiteRequest<Request>, judgement: Judgement): Ruling {
  const { decision, page, price, payment, proof, licenseError } = judgement;
  const quote = price?.state === 'priced' ? price.quote : null;
  const reason = reasonOf(decision, quote, request);
  const caller: Caller = reason === null ? judgement.caller : { ...judgement.caller, reason };
  if ('verdict' in decision && decision.verdict !== undefined) {
    parts.teller.report(page, { verdict: decision.verdict, caller, ...(quote ? { priceMicro: quote.price } : {}) });
  }
  const renewed = proof.state === 'good' ? { licence: proof.licence } : {};
  if (decision.act === 'serve' && decision.as === 'licensed') return licensed(parts, request, page, paidHeaders(renewed));
  if (decision.act === 'serve') return { act: 'serve', headers: null };
  if (decision.act === 'refuse' && decision.status !== 503) return { act: 'answer', answer: refusalAnswer(decision.status) };
  if (decision.act === 'refuse' && proof.state === 'busy') return wait(proof.retryAfter);
  if (!quote || !page) return wait(price?.state === 'busy' ? price.retryAfter : undefined);
  const accept = request.header('accept') ?? '';
  const tokens = parts.sales.tokensOf(page);
  if (decision.act === 'offer') {
    const error = decision.error ?? (proof.state === 'bad' ? proof.error : undefined);
    const named = { max: request.header('crawler-max-price'), exact: request.header('crawler-exact-price') };
    const crawlerError = crawlerErrorOf(quote.price, named);
    const next = decision.next === undefined ? {} : { next: { action: decision.next } };
    const told = { error, ...next, licenseError, crawlerError, accept, tokens, isHead: request.method === 'HEAD' };
    return { act: 'answer', answer: offerAnswer(quote, told) };
  }
  const isMarkdown = wantsMarkdown(request, page);
  const sale = payment === null ? null : parts.sales.open({ page, quote, caller, payment, accept, isMarkdown });
  return sale ? { act: 'sell', sale } : wait(1);
}

/** The page for who has paid for it, as Markdown for who wants that. */
function licensed<Request>(
  { sales }: Parts<Request>,
  request: SiteRequest<Request>,
  page: Page | null,
  headers: Readonly<Record<string, string>>,
): Ruling {
  if (page === null || request.method !== 'GET' || !wantsMarkdown(request, page)) return { act: 'serve', headers };
  const sale = sales.deliver(page, headers);
  return sale ? { act: 'sell', sale } : wait(1);
}

function wantsMarkdown({ header }: SiteRequest, { form }: Page): boolean {
  return isMarkdownPath(form ?? '') || prefersMarkdown(header('accept') ?? '');
}

/** A ruling about the Markdown of an article, with where the article is. */
function ofArticle(ruling: Ruling, page: Page | null): Ruling {
  if (page === null || !isMarkdownPath(page.form ?? '')) return ruling;
  return { ...ruling, article: new URL(page.resource).pathname };
}

/** What the audit is told in place of why the reader counts as what it does; null: that. */
function reasonOf(
  decision: Judgement['decision'],
  quote: Quote | null,
  { header }: SiteRequest,
): 'service_away' | 'over_budget' | null {
  if (decision.act === 'serve' && decision.as === 'away') return 'service_away';
  if (decision.act !== 'offer' || !quote) return null;
  // What an agent would pay moves no money: it is offered the price, and the owner learns that it was too much.
  const limits = ['crawler-max-price', 'crawler-exact-price'].map((name) => microOf(header(name) ?? ''));
  return limits.some((limit) => limit !== null && limit < quote.price) ? 'over_budget' : null;
}

function wait(retryAfter: number | undefined): Ruling {
  return { act: 'answer', answer: waitAnswer(retryAfter) };
}
