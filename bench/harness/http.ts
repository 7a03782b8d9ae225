/** HTTP load and the bare server it is compared with. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { alternate } from './alternate.ts';
import type { Parts, Turn, Work } from './cpu.ts';
import { CLIENT, withCpu } from './cpu.ts';
import type { Rounds } from './figure.ts';
import { median } from './figure.ts';

const BARE = fileURLToPath(new URL('bareServer.ts', import.meta.url));

/** One request, sent again and again. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A running bare server. */
export interface BareServer {
  readonly url: string;
  readonly parts: Parts;
  stop(): Promise<void>;
}

/** Starts the bare `node:http` server, which answers `bytes` bytes to everything. The caller stops it. */
export async function startBareServer(bytes: number): Promise<BareServer> {
  const child = spawn(process.execPath, [BARE, String(bytes)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [url] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => Promise.reject(new Error('the bare server did not start'))),
  ])) as [string];
  return {
    url,
    parts: { reference: [child.pid as number], ...CLIENT },
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

/**
 * Answers per second under 50 connections without pipelining: the middle of the samples taken every second. Throws when any
 * answer is not of `status`, and when a connection fails.
 */
export async function requestRate(url: string, request: HttpRequest, options: LoadOptions): Promise<number> {
  return (await requestLoad(url, request, options)).value;
}

/** How `requestLoad` asks. */
interface LoadOptions {
  readonly seconds: number;
  readonly connections?: number;
  readonly status?: number;
}

/** The same with the number of all answers, for `withCpu`. */
export async function requestLoad(url: string, request: HttpRequest, options: LoadOptions): Promise<Work> {
  const { seconds, connections = 50, status = 200 } = options;
  const { path, ...rest } = request;
  const result = await autocannon({ url: `${url}${path}`, connections, duration: seconds, ...rest });
  const answered = result.statusCodeStats as Readonly<Record<string, { count: number }>>;
  const others = Object.keys(answered).filter((code) => code !== String(status));
  if (others.length > 0 || result.errors > 0) {
    throw new Error(`${request.method} ${path}: ${result.errors} connections failed, statuses ${JSON.stringify(answered)}`);
  }
  return { value: result.requests.p50 || result.requests.average, operations: result.requests.total };
}

/** Milliseconds of each of `count` requests, one after the other on one kept connection. Throws when one is not of `status`. */
export async function requestTimes(url: string, request: HttpRequest, count: number, status = 200): Promise<number[]> {
  const times: number[] = [];
  const { path, ...rest } = request;
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now();
    const response = await fetch(`${url}${path}`, rest);
    await response.arrayBuffer();
    times.push(performance.now() - startedAt);
    if (response.status !== status) throw new Error(`${request.method} ${path} answers ${response.status}`);
  }
  return times;
}

/** Time between two requests of `pacedTimes`, milliseconds; whether the one before was answered does not matter. */
const GAP_MS = 10;

/** Milliseconds of each of `count` requests, a hundred a second; each is measured from when it was sent. */
export async function pacedTimes(url: string, request: HttpRequest, count: number): Promise<number[]> {
  const startedAt = performance.now();
  const times: Promise<number[]>[] = [];
  for (let index = 0; index < count; index++) {
    await sleep(Math.max(0, startedAt + index * GAP_MS - performance.now()));
    const time = requestTimes(url, request, 1);
    time.catch(() => undefined); // thrown below
    times.push(time);
  }
  return (await Promise.all(times)).flat();
}

/** The middle of `requestTimes`. */
export async function requestMedian(...given: Parameters<typeof requestTimes>): Promise<number> {
  return median(await requestTimes(...given));
}

/** The same with the CPU that one request took of the parts it meets. */
export function requestMedianOn(parts: Parts, ...given: Parameters<typeof requestTimes>): Promise<Turn> {
  return withCpu(parts, async () => ({ value: await requestMedian(...given), operations: given[2] }));
}

/** The length of the body of one answer. Throws when it is not of `status`. */
export async function answerBytes(url: string, { path, ...rest }: HttpRequest, status = 200): Promise<number> {
  const response = await fetch(`${url}${path}`, rest);
  if (response.status !== status) throw new Error(`${rest.method} ${path} answers ${response.status}: ${await response.text()}`);
  return (await response.arrayBuffer()).byteLength;
}

/**
 * Rates of a request to a service beside the bare server that answers as many bytes, in turns, with the CPU that one request takes; a
 * full run is warmed up first.
 */
export async function rateBesideBare(
  service: { readonly baseUrl: string; readonly parts: () => Parts },
  request: HttpRequest,
  quick: boolean,
): Promise<{ rounds: Rounds; bytes: number }> {
  const { baseUrl: url } = service;
  const bytes = await answerBytes(url, request);
  const bare = await startBareServer(bytes);
  try {
    const seconds = quick ? 1 : 5;
    if (!quick) for (const at of [url, bare.url]) await requestRate(at, request, { seconds: 2 * seconds });
    const rounds = await alternate({
      rounds: quick ? 1 : 5,
      sides: {
        ours: () => withCpu(service.parts(), () => requestLoad(url, request, { seconds })),
        reference: () => withCpu(bare.parts, () => requestLoad(bare.url, request, { seconds })),
      },
    });
    return { rounds, bytes };
  } finally {
    await bare.stop();
  }
}
