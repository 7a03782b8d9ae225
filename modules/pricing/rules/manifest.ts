/** The manifest of a host (`/.well-known/x402.json`): what its pages cost, as the resolver says. It is advice: the 402 of a page decides. */
import { compilePattern } from '../../kernel/pages/scope.ts';
import type { PriceClass } from './classes.ts';
import type { Outcome } from './compiled.ts';
import { MAX_TIMEOUT_SECONDS } from './quote.ts';

/** Where a price may be paid, with the recipient as far as there is one for all pages meant. */
export interface ManifestDestination {
  readonly network: string;
  /** Checksummed, as are recipients. */
  readonly asset: string;
  readonly extra: { readonly name: string; readonly version: string };
  /** Null: every page has its own, which its 402 names. */
  readonly payTo: string | null;
}

/** One page that is told by itself. */
export interface ManifestPage {
  readonly url: string;
  readonly title: string;
  readonly priceMicro: bigint;
  readonly destinations: readonly ManifestDestination[];
}

/** What a manifest is made of. */
export interface ManifestFacts {
  /** Our own address, where pages are sold over MCP as well. */
  readonly baseUrl: string;
  readonly host: string;
  readonly classes: readonly PriceClass[];
  /** Where pages of classes are paid; null: nobody is paid for pages that are not told by themselves, and they are free. */
  readonly destinations: readonly ManifestDestination[] | null;
  /** The first pages that name their authors. */
  readonly pages: readonly ManifestPage[];
  readonly lastUpdatedMs: number;
}

/** An entry of the manifest, and of the list of resources. */
export interface ManifestItem {
  readonly resource: {
    readonly url: string;
    readonly description: string;
    readonly mimeType: string;
    readonly serviceName?: string;
  };
  readonly type: 'http';
  readonly accepts: readonly object[];
  readonly input: object;
  readonly output: object;
}

/** The entry of a class, with its pattern and what others are asked there. */
export type ClassItem = ManifestItem & { readonly pattern: string; readonly [more: string]: unknown };

const MAX_SERVICE_NAME_CHARS = 32;
const HTML = 'text/html';

/** The whole manifest. Patterns stand in the order in which they are to be compared; what costs nothing, or is not given, is told apart. */
export function manifestOf(facts: ManifestFacts): object {
  const { host, classes, destinations, pages, lastUpdatedMs } = facts;
  const free = classes.flatMap(({ pattern, read }) => (read === 'free' || read === 'refused' ? [{ pattern, read }] : []));
  return {
    x402Version: 2,
    lastUpdated: Math.floor(lastUpdatedMs / 1_000),
    items: [
      ...(destinations === null ? [] : classes.flatMap((one) => classItem(host, one, destinations) ?? [])),
      ...pages.map((page) => pageItem(host, page)),
    ],
    ...(free.length === 0 ? {} : { exceptions: free }),
    mcp: mcpItem(facts.baseUrl),
  };
}

/** Where an agent buys the same pages by a tool: beside the items, since it is no page and its price is that of the page it is asked for. */
function mcpItem(baseUrl: string): object {
  const url = { type: 'string', format: 'uri' };
  const kind = { type: 'string', enum: ['read', 'citation'] };
  return {
    resource: {
      url: `${baseUrl}/_svc/mcp`,
      description: 'Buy pages over the Model Context Protocol',
      mimeType: 'application/json',
    },
    type: 'mcp',
    input: {
      type: 'mcp',
      toolName: 'buy_page',
      transport: 'streamable-http',
      inputSchema: { type: 'object', properties: { url, kind }, required: ['url'] },
    },
  };
}

/** The entry of a class; null for one that nobody pays for. */
export function classItem(host: string, one: PriceClass, destinations: readonly ManifestDestination[]): ClassItem | null {
  const { pattern, routeTemplate, read, citation, byAgent, validUntilMs } = one;
  const micro = microOf(read);
  if (micro === null) return null;
  const ofOthers = byAgent.flatMap(({ kind, outcome }) => (kind === 'read' ? (microOf(outcome) ?? []) : []));
  const amounts = [micro, ...ofOthers].sort((a, b) => Number(a - b));
  const others = byAgent.map(({ kind, outcome, operators, categories, terms, pattern: within }) => ({
    kind,
    ...told(outcome),
    ...(within === null ? {} : { pattern: within }),
    ...(operators.length === 0 ? {} : { operators }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(terms.length === 0 ? {} : { terms }),
  }));
  return {
    resource: {
      url: `https://${host}${routeTemplate ?? compilePattern(pattern).first}`,
      ...about(host, `Pages under ${pattern}`),
    },
    type: 'http',
    accepts: destinations.map((destination) => acceptOf(destination, micro)),
    input: { method: 'GET', ...(routeTemplate === null ? {} : { routeTemplate }) },
    output: { mimeType: HTML },
    pattern,
    ...(amounts.length === 1 ? {} : { minAmount: String(amounts[0]), maxAmount: String(amounts.at(-1)) }),
    citation: told(citation),
    ...(others.length === 0 ? {} : { others }),
    ...(validUntilMs === null ? {} : { validUntil: Math.floor(validUntilMs / 1_000) }),
  };
}

/** The entry of one page. */
export function pageItem(host: string, { url, title, priceMicro, destinations }: ManifestPage): ManifestItem {
  return {
    resource: { url, ...about(host, title) },
    type: 'http',
    accepts: destinations.map((destination) => acceptOf(destination, priceMicro)),
    input: { method: 'GET' },
    output: { mimeType: HTML },
  };
}

/** The name of a site in catalogues; left out where it is longer than they take. */
export function serviceNameOf(host: string): { readonly serviceName?: string } {
  return host.length > MAX_SERVICE_NAME_CHARS ? {} : { serviceName: host };
}

/** What is said of a resource besides its address. */
function about(host: string, description: string) {
  return { description, mimeType: HTML, ...serviceNameOf(host) };
}

function acceptOf({ payTo, ...destination }: ManifestDestination, micro: bigint): object {
  return {
    scheme: 'exact',
    amount: String(micro),
    ...destination,
    ...(payTo === null ? {} : { payTo }),
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  };
}

function microOf(outcome: Outcome): bigint | null {
  return typeof outcome === 'string' ? null : outcome.priceMicro;
}

function told(outcome: Outcome): object {
  return typeof outcome === 'string' ? { access: outcome } : { amount: String(outcome.priceMicro) };
}
