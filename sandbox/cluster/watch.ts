import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { listenOnFreePort, releasePort } from '../parts/ports.ts';
import type { Progress } from '../parts/progress.mjs';
import type { Alert, AlertRule } from './alerts.ts';
import { watchAlerts } from './alerts.ts';
import { createHistory } from './series.ts';
import type { Traces } from './traces.ts';
import { createTraces } from './traces.ts';

/** What a cluster for trying has in the place of Prometheus, its alert manager, and a collector of traces. */
export interface Watch {
  /** GET /alerts, /metrics, /traces[?name=part of a span's name], /traces/<id>; processes POST /v1/traces. */
  readonly url: string;
  /** As of the last look. */
  alerts(): readonly Alert[];
  readonly traces: Traces;
  close(): Promise<void>;
}

/** A process that is looked at. */
export interface WatchTarget {
  /** As in deploy/prometheus.yml. */
  readonly job: 'api' | 'worker';
  /** Where it serves its metrics. */
  readonly url: string;
}

/** What is watched. */
export interface WatchOptions {
  readonly rules: readonly AlertRule[];
  /** The processes to look at, by their name. One that has ended stays among them, and is seen to be down. */
  readonly targets: () => ReadonlyMap<string, WatchTarget>;
  /** Told when an alert begins to fire, and when it is over. */
  readonly say: Progress;
  /** Between two looks; 5 s unless told. */
  readonly everyMs?: number;
}

const READ_LIMIT_MS = 2_000;
const MAX_BODY_BYTES = 16_777_216;

/** Starts it on a free port of 127.0.0.1. Throws SyntaxError for a rule it cannot read. */
export async function startWatch({ rules, targets, say, everyMs = 5_000 }: WatchOptions): Promise<Watch> {
  const history = createHistory();
  const judge = watchAlerts(rules);
  const traces = createTraces();
  const texts = new Map<string, string>();
  let alerts: readonly Alert[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const asked = targets();
    for (const name of texts.keys()) {
      if (asked.has(name)) continue;
      history.forget(name);
      texts.delete(name);
    }
    await Promise.all(
      [...asked].map(async ([instance, { job, url }]) => {
        const text = await readText(url);
        history.add({ job, instance }, text, Date.now());
        if (text === null) texts.delete(instance);
        else texts.set(instance, text);
      }),
    );
    const before = firingOf(alerts);
    alerts = judge.judge(history, Date.now());
    const now = firingOf(alerts);
    for (const [name, alert] of now) if (!before.has(name)) say(`alert ${name} (${alert.severity}): ${alert.summary}`);
    for (const name of before.keys()) if (!now.has(name)) say(`alert ${name} is over`);
    if (!isOver) timer = setTimeout(() => void look(), everyMs).unref();
  };
  const server = createServer((request, response) => {
    void answer(request, response, traces, { alerts: () => alerts, texts }).catch(() => response.writeHead(400).end());
  });
  const port = await listenOnFreePort(server, 0);
  timer = setTimeout(() => void look(), 0).unref();
  return {
    url: `http://127.0.0.1:${port}`,
    alerts: () => alerts,
    traces,
    close: () =>
      new Promise((resolve) => {
        isOver = true;
        clearTimeout(timer);
        server.close(() => {
          releasePort(port);
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function firingOf(alerts: readonly Alert[]): Map<string, Alert> {
  return new Map(alerts.filter(({ state }) => state === 'firing').map((alert) => [alert.alert, alert]));
}

async function readText(url: string): Promise<string | null> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(READ_LIMIT_MS) }).catch(() => null);
  return answer?.status === 200 ? answer.text().catch(() => null) : null;
}

interface Shown {
  readonly alerts: () => readonly Alert[];
  readonly texts: ReadonlyMap<string, string>;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  traces: Traces,
  { alerts, texts }: Shown,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://watch');
  const json = (value: unknown): void =>
    void response.setHeader('content-type', 'application/json').end(`${JSON.stringify(value, null, 2)}\n`);
  if (request.method === 'POST' && pathname === '/v1/traces') {
    traces.add(await bodyOf(request));
    return json({});
  }
  if (request.method !== 'GET') return void response.writeHead(405).end();
  if (pathname === '/alerts') return json(alerts());
  if (pathname === '/metrics') return void response.end([...texts].map(([name, text]) => `# ${name}\n${text}`).join('\n'));
  if (pathname === '/traces') return json(traces.list(searchParams.get('name') ?? ''));
  const drawn = pathname.startsWith('/traces/') ? traces.draw(pathname.slice('/traces/'.length)) : null;
  if (drawn === null) response.writeHead(404).end();
  else response.end(drawn);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new RangeError('too much at once');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
