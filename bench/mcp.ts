/**
 * Quotes of a site, a hundred a second, while an agent calls the MCP endpoint in a loop without a pause, beside the same quotes when nobody does. With
 * the rates of the product, which answer most of such a loop with 429; and without rates, where every message is answered with what it asks for.
 */
import { alternate, roundsOf } from './harness/alternate.ts';
import type { Attack } from './harness/attacker.ts';
import type { Bench } from './harness/bench.ts';
import { besideCallers } from './harness/beside.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, median, percentile } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { pacedTimes, requestMedian } from './harness/http.ts';
import type { BenchService } from './harness/service.ts';
import { PRODUCT_RATES, sharedService, startBenchService } from './harness/service.ts';

const AUTHORS = ['a', 'b', 'c'].map((digit, n) => ({ authorId: `author-${n}`, wallet: `0x${digit.repeat(40)}` }));
const PAGES = 50;
const CREDITS = Object.fromEntries(
  Array.from({ length: PAGES }, (_, n) => [`page-${n}`, { title: `Page ${n}`, contributors: AUTHORS }]),
);
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface How {
  readonly quick: boolean;
  readonly log: (line: string) => void;
}

/** Figures of the MCP endpoint. */
export const mcpBench: Bench = {
  id: 'mcp',
  title: 'Quotes beside an agent over MCP',
  run: async (how) => {
    const free = await measure(await sharedService(), how, 'without rates');
    const rated = await startBenchService({ environment: PRODUCT_RATES });
    try {
      return [...(await measure(rated, how, 'the rates of the product')), ...free];
    } finally {
      await rated.stop();
    }
  },
};

type Rates = 'the rates of the product' | 'without rates';

async function measure(service: BenchService, { quick, log }: How, rates: Rates): Promise<readonly Figure[]> {
  const { baseUrl: url, parts } = service;
  const pricing = { priceUsdc: '0.003', articlePrefixes: ['/news/'], creditsInline: CREDITS };
  const sold = await service.site({ hosts: ['mcp.example'], pricing });
  const quiet = await service.site({ hosts: ['beside-mcp.example'], pricing });
  const quote: HttpRequest = {
    method: 'GET',
    path: `/_svc/quote?resource=${encodeURIComponent(`https://${quiet.host}/news/page-1`)}`,
    headers: { authorization: `Bearer ${quiet.key}` },
  };
  const messages = messagesFor(sold.host);
  const isFree = rates === 'without rates';
  if (isFree) for (const [name, message] of Object.entries(messages)) await tellAlone(url, { name, message }, { quick, log });
  const attack: Attack = { url, callers: [{ connections: 1, requests: Object.values(messages) }] };
  const count = quick ? 200 : 2_000;
  await pacedTimes(url, quote, quick ? 100 : 500);
  const middles = { ours: [] as Turn[], reference: [] as Turn[] };
  const quotes = async (side: keyof typeof middles): Promise<Turn> => {
    let p50 = 0;
    const worst = await withCpu(parts(), async () => {
      const times = await pacedTimes(url, quote, count);
      p50 = percentile(times, 0.5);
      return { value: percentile(times, 0.99), operations: count };
    });
    middles[side].push({ ...worst, value: p50 });
    return worst;
  };
  const answered: number[] = [];
  const beside = (): Promise<Turn> =>
    besideCallers(
      attack,
      () => quotes('ours'),
      (answers) => {
        log(`${rates}: the agent was answered ${answers}`);
        answered.push((JSON.parse(answers) as Readonly<Record<string, number>>)['200'] ?? 0);
      },
    );
  const worst = await alternate({ rounds: quick ? 1 : 3, sides: { ours: beside, reference: () => quotes('reference') } });
  const middle = roundsOf(middles.ours, middles.reference);
  const notes = `${count} quotes a side and round; one agent without a pause, ${rates}, ${Math.round(median(answered))} of its messages answered 200 a round (with rates, tools that say so among them): the list of tools, a price, ${PAGES} prices, an offer, a search; its process has the lowest priority`;
  const common = { unit: 'ms', referenceName: 'when nobody asks', notes } as const;
  const id = isFree ? 'mcp.free' : 'mcp';
  const what = `of a quote, 100 a second, while an agent asks over MCP, ${rates}`;
  return [
    makeFigure({ ...common, id: `${id}.p99`, what: `p99 ${what}`, rounds: worst, target: { atMost: 1.5 } }),
    makeFigure({ ...common, id: `${id}.p50`, what: `p50 ${what}`, rounds: middle, target: { atMost: 1.5 }, isDetail: true }),
  ];
}

/** One message to the endpoint. */
export function mcpMessage(method: string, params: object, headers: Readonly<Record<string, string>> = {}): HttpRequest {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return { method: 'POST', path: '/_svc/mcp', headers: { ...HEADERS, ...headers }, body };
}

/** What an agent asks, by name; nothing of it moves money. */
function messagesFor(host: string): Readonly<Record<string, HttpRequest>> {
  const at = (n: number): string => `https://${host}/news/page-${n}`;
  const call = (name: string, given: object): HttpRequest => mcpMessage('tools/call', { name, arguments: given });
  return {
    'tools/list': mcpMessage('tools/list', {}),
    quote_page: call('quote_page', { url: at(1) }),
    quote_pages: call('quote_pages', { urls: Array.from({ length: PAGES }, (_, n) => at(n)) }),
    buy_page: call('buy_page', { url: at(2) }),
    find_pages: call('find_pages', { query: 'page' }),
  };
}

/** Also warms the service up. */
async function tellAlone(
  url: string,
  { name, message }: { readonly name: string; readonly message: HttpRequest },
  { quick, log }: How,
): Promise<void> {
  const [warming, turns] = quick ? [20, 20] : [200, 100];
  await requestMedian(url, message, warming);
  log(`${name}: ${(await requestMedian(url, message, turns)).toFixed(1)} ms alone`);
}
