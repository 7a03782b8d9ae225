import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { exportCsv, MAX_EXPORT_ROWS } from '../../services/reports/exportCsv.ts';
import { createExportSlots } from '../../services/reports/exportSlots.ts';
import { alternate } from '../harness/alternate.ts';
import type { Figure } from '../harness/figure.ts';
import { makeFigure, percentile } from '../harness/figure.ts';
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
  const deps = { database: store.reading, clock: () => store.nowMs, exports: createExportSlots() };
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
        ...{ id: 'reports.csv', what: `CSV of ${lines.toLocaleString('en-US')} rows`, unit: 'ms', isDetail: true },
        ...{ rounds, target: { atMost: 1.5 } },
      }),
      makeFigure({
        ...common,
        ...{ id: 'reports.csv-memory', what: 'its resident memory on top', unit: 'MB' },
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

/** The p99 of a loop of quotes while one statement after the other is made, beside the p99 of the same loop without them. */
export async function measurePdf(
  baseUrl: string,
  asked: { id: string; statement: string; quote: string; pdf: string; key: string },
  quick: boolean,
): Promise<Figure> {
  const headers = { authorization: `Bearer ${asked.key}` };
  const get = async (path: string): Promise<void> => {
    const answer = await fetch(`${baseUrl}${path}`, { headers });
    await answer.arrayBuffer();
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}`);
  };
  const loop = async (until: () => boolean): Promise<number> => {
    const taken: number[] = [];
    while (!until() || taken.length < 20) {
      const startedAt = performance.now();
      await get(asked.quote);
      taken.push(performance.now() - startedAt);
      await wait(1);
    }
    return percentile(taken, 0.99);
  };
  const roundMs = quick ? 200 : 4_000;
  await get(asked.pdf);
  const idle = async (): Promise<number> => {
    const endsAt = performance.now() + roundMs;
    return await loop(() => performance.now() > endsAt);
  };
  // One PDF after the other for as long: the one in a hundred of a few dozen quotes would be the slowest of them.
  const beside = async (): Promise<number> => {
    const endsAt = performance.now() + roundMs;
    let isOver = false;
    const makeAll = async (): Promise<void> => {
      do await get(asked.pdf);
      while (performance.now() < endsAt);
    };
    const made = makeAll().finally(() => {
      isOver = true;
    });
    const found = await loop(() => isOver);
    await made;
    return found;
  };
  return makeFigure({
    id: asked.id,
    what: `p99 of quotes while the PDF of ${asked.statement} is made`,
    unit: 'ms',
    referenceName: 'p99 of quotes without it',
    rounds: await alternate({ rounds: quick ? 1 : 5, sides: { ours: beside, reference: idle } }),
    target: { atMost: 1.5 },
  });
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
