import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { PartKind, Turn, Work } from './harness/cpu.ts';
import { CLIENT, withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';
import { sharedService } from './harness/service.ts';

const SITE = fileURLToPath(new URL('selling/site.ts', import.meta.url));
const HOST = 'site.example';
const AUTHOR = `0x${'a'.repeat(40)}`;
const PER_SECOND = 3_000;
const WARM_UP = 50_000;
const chrome = (major: number): string =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
const PEOPLE = [133, 134, 135, 136, 137, 138, 139, 140, 141, 142].map(chrome);
/** Who reads: people get the page, the agent an offer. */
const MIXES = {
  readers: { userAgents: PEOPLE, what: 'people alone' },
  agents: { userAgents: ['GPTBot/1.3', ...PEOPLE.slice(1)], what: 'one agent to nine people, quotes and reports included' },
} as const;

type Mix = (typeof MIXES)[keyof typeof MIXES];

/** What the publisher's package costs a site of Express: CPU of its process a request, with and without. */
export const publisherBench: Bench = {
  id: 'publisher',
  title: "The publisher's package",
  run: async ({ quick }) => {
    const service = await sharedService();
    const credits = { contributors: [{ authorId: 'ann', wallet: AUTHOR }] };
    const pricing = { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: { solo: credits } };
    const { key } = await service.site({ hosts: [HOST], pricing });
    const environment = { SVC_URL: service.baseUrl, SVC_API_KEY: key };
    const [selling, plain] = [await startSite('selling', environment), await startSite('plain', environment)];
    try {
      const figures: Figure[] = [];
      for (const [name, mix] of Object.entries(MIXES)) figures.push(await measure({ name, mix, selling, plain, quick }));
      return figures;
    } finally {
      await Promise.all([selling.stop(), plain.stop()]);
    }
  },
};

async function measure(given: { name: string; mix: Mix; selling: Site; plain: Site; quick: boolean }): Promise<Figure> {
  const { name, mix, selling, plain, quick } = given;
  await expectSale(selling.url, mix);
  const seconds = quick ? 1 : 8;
  // At the rate of the turns a process would be interpreting for minutes: both begin compiled.
  if (!quick) for (const site of [selling, plain]) await warmUp(site.url, mix);
  // By the site's own word: the ticks that withCpu counts by are a fortieth of a turn.
  const turn = async (site: Site, kind: PartKind): Promise<Turn> => {
    const before = await site.cpuMs();
    let requests = 0;
    const { value, cpu } = await withCpu(CLIENT, async () => {
      const work = await visit(site.url, mix, seconds);
      requests = work.operations;
      return work;
    });
    return { value, cpu: { ...cpu, [kind]: ((await site.cpuMs()) - before) / requests } };
  };
  const rounds = await alternate({
    rounds: quick ? 1 : 5,
    sides: { ours: () => turn(selling, 'library'), reference: () => turn(plain, 'reference') },
  });
  return makeFigure({
    id: `publisher.${name}`,
    what: `a site of Express with the publisher's package: ${mix.what}`,
    unit: 'req/s',
    referenceName: 'the same site without it',
    rounds,
    target: { atLeast: 0.95, of: 'cpuRatio' },
    notes: `${PER_SECOND} requests a second on 50 connections, pages of 8 KB; judged by the site's own CPU a request`,
  });
}

interface Site {
  readonly url: string;
  /** Milliseconds of CPU it took until now. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

async function startSite(how: 'selling' | 'plain', environment: Readonly<Record<string, string>>): Promise<Site> {
  const env = { ...process.env, ...environment, NODE_ENV: 'production' };
  const child = spawn(process.execPath, [SITE, how], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const gone = exited.then(() => Promise.reject(new Error('the site has ended')));
  gone.catch(() => undefined);
  const line = async (): Promise<string> => ((await Promise.race([once(lines, 'line'), gone])) as [string])[0];
  const url = await line();
  const cpuMs = async (): Promise<number> => {
    const told = line();
    child.stdin.write('\n');
    return Number(await told) / 1_000;
  };
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  return { url, cpuMs, stop };
}

/** What is measured does what it is for: an offer for the agent, the page for people. */
async function expectSale(url: string, { userAgents }: Mix): Promise<void> {
  const wanted = userAgents.map((ua) => (ua.startsWith('GPTBot') ? 402 : 200));
  const get = async (ua: string) => (await fetch(`${url}/articles/solo`, { headers: { 'user-agent': ua } })).status;
  const statuses = await Promise.all(userAgents.map(get));
  if (statuses.join() !== wanted.join()) throw new Error(`the site answers ${statuses.join(' ')}`);
}

const requestsOf = ({ userAgents }: Mix) =>
  userAgents.map((ua) => ({ method: 'GET' as const, path: '/articles/solo', headers: { 'user-agent': ua } }));

async function warmUp(url: string, mix: Mix): Promise<void> {
  await autocannon({ url, requests: requestsOf(mix), connections: 50, amount: WARM_UP });
}

/** `PER_SECOND` requests a second for some seconds. Throws when a connection fails. */
async function visit(url: string, mix: Mix, seconds: number): Promise<Work> {
  const requests = requestsOf(mix);
  const result = await autocannon({ url, requests, connections: 50, duration: seconds, overallRate: PER_SECOND });
  if (result.errors > 0) throw new Error(`${result.errors} connections failed`);
  return { value: result.requests.average, operations: result.requests.total };
}
