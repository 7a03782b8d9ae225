/** Quotes of a site, a hundred a second, while an agent asks the MCP endpoint in a loop, beside the same quotes when nobody asks. */
import { alternate, roundsOf } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import { makeFigure, median, percentile } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { pacedTimes } from './harness/http.ts';
import type { BenchService, BenchSite } from './harness/service.ts';
import { sharedService } from './harness/service.ts';

const AUTHORS = ['a', 'b', 'c'].map((digit, n) => ({ authorId: `author-${n}`, wallet: `0x${digit.repeat(40)}` }));
const PAGES = 50;
const CREDITS = Object.fromEntries(
  Array.from({ length: PAGES }, (_, n) => [`page-${n}`, { title: `Page ${n}`, contributors: AUTHORS }]),
);
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Figures of the MCP endpoint. */
export const mcpBench: Bench = {
  id: 'mcp',
  title: 'Quotes beside an agent over MCP',
  run: async ({ quick, log }) => {
    const service = await sharedService();
    const pricing = { priceUsdc: '0.003', articlePrefixes: ['/news/'], creditsInline: CREDITS };
    const sold = await service.site({ hosts: ['mcp.example'], pricing });
    const quiet = await service.site({ hosts: ['beside-mcp.example'], pricing });
    return await measure(service, { sold, quiet, quick, log });
  },
};

async function measure(
  { baseUrl: url, parts }: BenchService,
  asked: { readonly sold: BenchSite; readonly quiet: BenchSite; readonly quick: boolean; readonly log: (line: string) => void },
) {
  const { sold, quiet, quick, log } = asked;
  const quote: HttpRequest = {
    method: 'GET',
    path: `/_svc/quote?resource=${encodeURIComponent(`https://${quiet.host}/news/page-1`)}`,
    headers: { authorization: `Bearer ${quiet.key}` },
  };
  const messages = messagesFor(sold.host);
  const count = quick ? 50 : 1_500;
  await pacedTimes(url, quote, Math.min(count, 300));
  for (const { name, body } of messages) log(`${name}: ${(await timeOf(url, body, quick ? 3 : 30)).toFixed(1)} ms alone`);
  const answered: number[] = [];
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
  const worst = await alternate({
    rounds: quick ? 1 : 5,
    sides: { ours: () => whileAsking(url, messages, answered, () => quotes('ours')), reference: () => quotes('reference') },
  });
  const notes = `one agent without a pause and without a rate, ${Math.round(median(answered))} answers a round: the list of tools, a price, ${PAGES} prices, an offer, a search`;
  const common = { unit: 'ms', referenceName: 'when nobody asks', notes } as const;
  const p99 = { id: 'mcp.p99', what: 'p99 of a quote, 100 a second, while an agent asks over MCP', rounds: worst };
  const p50 = {
    id: 'mcp.p50',
    what: 'p50 of the same',
    rounds: roundsOf(middles.ours, middles.reference),
    isDetail: true as const,
  };
  return [makeFigure({ ...common, ...p99, target: { atMost: 1.5 } }), makeFigure({ ...common, ...p50, target: { atMost: 1.5 } })];
}

interface Message {
  readonly name: string;
  readonly body: string;
}

function messagesFor(host: string): readonly Message[] {
  const at = (n: number): string => `https://${host}/news/page-${n}`;
  const message = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const call = (name: string, given: object): Message => ({ name, body: message('tools/call', { name, arguments: given }) });
  return [
    { name: 'tools/list', body: message('tools/list', {}) },
    call('quote_page', { url: at(1) }),
    call('quote_pages', { urls: Array.from({ length: PAGES }, (_, n) => at(n)) }),
    call('buy_page', { url: at(2) }),
    call('find_pages', { query: 'page' }),
  ];
}

async function ask(url: string, body: string): Promise<void> {
  const response = await fetch(`${url}/_svc/mcp`, { method: 'POST', headers: HEADERS, body });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`a message is answered ${response.status}`);
}

async function timeOf(url: string, body: string, turns: number): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const startedAt = performance.now();
    await ask(url, body);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Does some work while an agent asks, one message after the other; adds how many were answered. */
async function whileAsking<T>(url: string, messages: readonly Message[], answered: number[], work: () => Promise<T>): Promise<T> {
  let isAsking = true;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (isAsking) {
      for (const { body } of messages) {
        if (!isAsking) break;
        await ask(url, body);
        count += 1;
      }
    }
  };
  const asking = loop();
  try {
    return await work();
  } finally {
    isAsking = false;
    await asking;
    answered.push(count);
  }
}
