import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { openHeavyWork } from '../../services/pacing/heavy.ts';
import { exportCsv, MAX_EXPORT_ROWS } from '../../services/reports/exportCsv.ts';
import { alternate } from '../harness/alternate.ts';
import type { BenchOptions } from '../harness/bench.ts';
import { besideCallers } from '../harness/beside.ts';
import type { Figure } from '../harness/figure.ts';
import { makeFigure, percentile } from '../harness/figure.ts';
import type { HttpRequest } from '../harness/http.ts';
import { requestTimes } from '../harness/http.ts';
import { BUSY } from './load.ts';
import { BUSY_SITE } from './ours.ts';
import type { RecordStore } from './store.ts';

/** The rows of the CSV, as Postgres itself writes them. */
const COPY = `copy (
    select c.at, extract(epoch from c.at) * 1000, c.host, c.slug, c.kind, l.amount_micro, l.amount_micro / 1000000.0, l.author_id,
      l.to_address, l.share, l.role, p.tx_hash, 'txHash', c.payer, c.agent, p.licence_jti
    from crossing c join leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id
      join payment_state p on p.tenant_id = c.tenant_id and p.payment_id = c.payment_id
    where c.tenant_id = '${BUSY}' order by c.at desc, c.crossing_id desc, l.ordinal limit ${MAX_EXPORT_ROWS}
  ) to stdout (format csv)`;

/** A CSV export beside COPY TO STDOUT of the same rows: time and memory. */
export async function measureCsv(store: RecordStore, quick: boolean): Promise<Figure[]> {
  const deps = {
    database: store.reading,
    clock: () => store.nowMs,
    heavy: openHeavyWork({ connections: { reports: 6, questions: 2 } }),
  };
  const growth = { ours: [] as number[], reference: [] as number[] };
  let lines = 0;
  const ours = () =>
    watched(growth.ours, async (look) => {
      const file = await exportCsv(deps, BUSY_SITE, { fromMs: null, toMs: null });
      lines = file.rowCount;
      for await (const chunk of file.chunks) look(chunk.length);
      await file.close();
    });
  const client = new pg.Client({ connectionString: store.urls.appUrl });
  await client.connect();
  const reference = () =>
    watched(growth.reference, async (look) => {
      const stream = (client as unknown as { connection: NodeJS.EventEmitter }).connection;
      const onData = (message: { chunk: Uint8Array }): void => look(message.chunk.length);
      stream.on('copyData', onData);
      await client.query(COPY);
      stream.off('copyData', onData);
    });
  try {
    if (!quick) for (const side of [ours, reference]) await side();
    growth.ours.length = 0;
    growth.reference.length = 0;
    const rounds = await alternate({ rounds: quick ? 1 : 5, sides: { ours, reference } });
    const [most, mostOfCopy] = [Math.max(...growth.ours), Math.max(...growth.reference)];
    const common = { referenceName: 'COPY TO STDOUT of the same query' };
    return [
      makeFigure({
        ...common,
        id: 'reports.csv',
        what: `CSV of ${lines.toLocaleString('en-US')} rows`,
        unit: 'ms',
        isDetail: true,
        rounds,
        target: { atMost: 1.5 },
      }),
      makeFigure({
        ...common,
        id: 'reports.csv-memory',
        what: 'its resident memory on top',
        unit: 'MB',
        isDetail: true,
        rounds: { ours: most, reference: mostOfCopy, ratios: [most / Math.max(1, mostOfCopy)] },
        target: { atMost: 30, of: 'ours' },
      }),
    ];
  } finally {
    await client.end();
  }
}

/** Milliseconds of `work`; how far the resident memory went up meanwhile, in MB, is added to `growth`. */
async function watched(growth: number[], work: (look: (bytes: number) => void) => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  let unseen = 0;
  const startedAt = performance.now();
  await work((bytes) => {
    unseen += bytes;
    if (unseen < 200_000) return;
    unseen = 0;
    most = Math.max(most, process.memoryUsage.rss());
  });
  const taken = performance.now() - startedAt;
  growth.push((most - before) / 1024 ** 2);
  return taken;
}

/**
 * The p99 of a loop of quotes while another process asks for one statement after the other, beside the p99 of the same loop without. That
 * process has the lowest priority: in production it is another machine.
 */
export async function measurePdf(
  baseUrl: string,
  asked: { id: string; statement: string; quote: string; pdf: string; key: string },
  { quick, log }: Pick<BenchOptions, 'quick' | 'log'>,
): Promise<Figure> {
  const headers = { authorization: `Bearer ${asked.key}` };
  const request = (path: string): HttpRequest => ({ method: 'GET', path, headers });
  const roundMs = quick ? 200 : 4_000;
  const quotes = async (): Promise<number> => {
    const taken: number[] = [];
    const endsAt = performance.now() + roundMs;
    while (performance.now() < endsAt || taken.length < 20) {
      taken.push(...(await requestTimes(baseUrl, request(asked.quote), 1)));
      await wait(1);
    }
    return percentile(taken, 0.99);
  };
  const attack = { url: baseUrl, callers: [{ connections: 1, requests: [request(asked.pdf)] }] };
  const beside = async (): Promise<number> => {
    const found = await besideCallers(attack, quotes, (answers) => log(`statements of ${asked.statement}: ${answers}`));
    await untilFree(`${baseUrl}${asked.pdf}`, headers);
    return found;
  };
  await untilFree(`${baseUrl}${asked.pdf}`, headers);
  return makeFigure({
    id: asked.id,
    what: `p99 of quotes while the PDF of ${asked.statement} is made`,
    unit: 'ms',
    referenceName: 'p99 of quotes without it',
    rounds: await alternate({ rounds: quick ? 1 : 5, sides: { ours: beside, reference: quotes } }),
    target: { atMost: 1.5 },
  });
}

/** Asks until the statement before, whose caller is gone, was drawn to its end. */
async function untilFree(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  for (;;) {
    const answer = await fetch(url, { headers });
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    if (answer.status !== 429) throw new Error(`${url} answered ${answer.status}`);
    await wait(100);
  }
}

/** The newest page over HTTP, one call after the other. */
export async function measurePage(
  baseUrl: string,
  path: string,
  key: string,
  reference: () => Promise<number>,
  quick: boolean,
): Promise<Figure> {
  const ours = async (): Promise<number> => {
    const taken: number[] = [];
    for (let count = 0; count < (quick ? 5 : 100); count++) {
      const startedAt = performance.now();
      const answer = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      taken.push(performance.now() - startedAt);
    }
    return percentile(taken, 0.5);
  };
  // A process that runs for months has its code compiled.
  if (!quick) for (let round = 0; round < 3; round++) await ours();
  return makeFigure({
    id: 'reports.page',
    what: `newest page over HTTP, p50 (${path.split('?')[0]})`,
    unit: 'ms',
    referenceName: 'the 50 newest rows as SQL',
    rounds: await alternate({ rounds: quick ? 1 : 3, sides: { ours, reference } }),
    target: { atMost: 3, of: 'ours' },
  });
}
