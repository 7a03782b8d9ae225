/**
 * Each screen of the console at 10 million rows: the question it asks over HTTP, and the screen itself in a browser, beside plain SQL over
 * the same rows for each report and list of it; and whether any statement it comes to reads a whole table.
 */
import { parse } from 'graphql';
import type { Sql } from '../db/database.ts';
import { openReadingDatabase } from '../db/lists/reading.ts';
import type { ReaderDeps } from '../graphql/request/context.ts';
import { openEngine } from '../graphql/request/engine.ts';
import { GRAPHQL_PATH } from '../graphql/request/path.ts';
import { pepperOf } from '../services/credentials/pepper.ts';
import { createOwnerToken } from '../services/tenants/tenants.ts';
import { consoleDocuments } from '../test/support/console-documents.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench, BenchOptions } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { requestMedianOn } from './harness/http.ts';
import { sharedService } from './harness/service.ts';
import { startRecordsApi } from './records/api.ts';
import { addConsoleRows } from './records/console.ts';
import { BUSY } from './records/load.ts';
import { measurePaint } from './records/paint.ts';
import type { BenchWindow } from './records/plain.ts';
import { plainAudit, plainEarnings, plainEarningsBy } from './records/plain.ts';
import type { RecordStore } from './records/store.ts';
import { sharedRecordStore } from './records/store.ts';

const DAY_MS = 86_400_000;
/** A table of fewer rows may be read whole. */
const SMALL_TABLE = 1_000;

/** Figures of the console's screens. */
export const consoleBench: Bench = {
  id: 'console',
  title: 'The console',
  run: async (options) => {
    const rows = options.rows ?? (options.quick ? 20_000 : 10_000_000);
    const store = await sharedRecordStore(rows, options);
    await addConsoleRows(store, rows);
    const plainOfText = (text: string): Promise<number> => plainOf(store, fieldsOf(text));
    return [
      ...(await measureScreens(store, options)),
      ...(await measurePaint(store, options, plainOfText)),
      await measureScans(store, options),
    ];
  },
};

/** A question of a screen, ready to be asked of the busy site. */
interface Screen {
  readonly name: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly fields: readonly AskedField[];
}

/** A report or list that a question asks for, and whether it is grouped. */
interface AskedField {
  readonly name: string;
  readonly isGrouped: boolean;
}

/** The reports and lists of a question of a site; of another one, or of a change, none. */
function fieldsOf(text: string): AskedField[] {
  const [operation] = parse(text).definitions;
  if (operation?.kind !== 'OperationDefinition' || operation.operation !== 'query') return [];
  const [site] = operation.selectionSet.selections.flatMap((node) =>
    node.kind === 'Field' && node.name.value === 'tenant' ? [node] : [],
  );
  return (site?.selectionSet?.selections ?? []).flatMap((node) =>
    node.kind === 'Field'
      ? [{ name: node.name.value, isGrouped: (node.arguments ?? []).some((given) => given.name.value === 'groupBy') }]
      : [],
  );
}

/** Every question of the console; changes are none. Throws for one that needs a variable nobody here knows. */
async function screensOf({ database, nowMs }: RecordStore): Promise<Screen[]> {
  const newestOf = async (table: string, id: string, by: string): Promise<unknown> => {
    const [row] = await database.query(`select ${id} as id from ${table} where tenant_id = $1 order by ${by} desc limit 1`, [
      BUSY,
    ]);
    return row?.['id'];
  };
  const known: Readonly<Record<string, unknown>> = {
    tenantId: BUSY,
    window: { from: nowMs - 30 * DAY_MS },
    every: 'DAY',
    timeZone: 'Europe/Berlin',
    groupBy: 'SLUG',
    change: { priceUsdc: '0.02' },
    priceUsdc: '0.02',
    price: '0.02',
    asksPrice: true,
    rules: [{ id: 'all', path: '/*', effect: 'PRICE', priceUsdc: '0.02' }],
    paymentId: await newestOf('payment_intake', 'payment_id', 'accepted_at'),
    jti: await newestOf('licence', 'jti', 'bought_at'),
    endpointId: await newestOf('webhook_endpoint', 'endpoint_id', 'created_at'),
    eventId: await newestOf('webhook_event', 'event_id', 'created_at'),
  };
  return (await consoleDocuments()).flatMap(({ name, text }) => {
    const [operation] = parse(text).definitions;
    if (operation?.kind !== 'OperationDefinition' || operation.operation !== 'query') return [];
    const variables = Object.fromEntries(
      (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
        const named = variable.name.value;
        if (named in known) return [[named, known[named]]];
        if (type.kind === 'NonNullType' && !defaultValue) throw new Error(`${name} needs $${named}: say what the bench gives it`);
        return [];
      }),
    );
    return [{ name: name.replace(/_DOCUMENT$/, '').toLowerCase(), query: text, variables, fields: fieldsOf(text) }];
  });
}

const newest = (table: string, column: string) => (sql: Sql) =>
  sql.query(`select * from ${table} where tenant_id = $1 order by ${column} desc limit 20`, [BUSY]);

/** What plain SQL asks for a field of a site; what is small is not asked again. */
const PLAIN: Readonly<Record<string, (sql: Sql, window: BenchWindow) => Promise<unknown>>> = {
  earnings: plainEarnings,
  audit: plainAudit,
  agents: plainAudit,
  operators: plainAudit,
  whatIf: plainAudit,
  payments: newest('payment', 'accepted_at'),
  crossings: newest('crossing', 'at'),
  observations: newest('observation', 'at'),
  deliveries: newest('delivery', 'delivery_id'),
  webhookEvents: newest('webhook_event', 'created_at'),
  licencesSold: newest('licence', 'bought_at'),
  auditLog: newest('audit_log', 'at'),
  pages: newest('imported_page', 'path'),
};

/** What plain SQL takes for the same reports and lists, ms. */
async function plainOf({ database, nowMs }: RecordStore, fields: readonly AskedField[]): Promise<number> {
  const window = { fromMs: nowMs - 30 * DAY_MS, toMs: nowMs + DAY_MS };
  const startedAt = performance.now();
  for (const { name, isGrouped } of fields) {
    await PLAIN[name]?.(database, window);
    if (name === 'earnings' && isGrouped) await plainEarningsBy(database, window, 'slug');
  }
  await database.query('select 1');
  return performance.now() - startedAt;
}

/** Each question over HTTP as an owner asks it, and the dearest of them. */
async function measureScreens(store: RecordStore, { quick, log }: BenchOptions): Promise<Figure[]> {
  const { api, parts } = await startRecordsApi(store);
  try {
    const { secrets } = await sharedService();
    const { token } = await createOwnerToken(
      { database: store.database, pepper: pepperOf(secrets) },
      { tenantId: BUSY, userId: 'owner' },
    );
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const figures: Figure[] = [];
    for (const screen of await screensOf(store)) {
      const { name, query, variables } = screen;
      const request: HttpRequest = { method: 'POST', path: GRAPHQL_PATH, headers, body: JSON.stringify({ query, variables }) };
      await requireAnswer(api.url, request, name);
      const rounds = await alternate({
        rounds: quick ? 1 : 3,
        sides: {
          ours: () => requestMedianOn(parts, api.url, request, quick ? 3 : 11),
          reference: () => plainOf(store, screen.fields),
        },
      });
      const said = { id: `console.${name}`, what: `the question of the screen "${name}", p50`, unit: 'ms' };
      const target = { atMost: 1_000, of: 'ours' } as const;
      figures.push(makeFigure({ ...said, referenceName: 'plain SQL for its reports and lists', rounds, target, isDetail: true }));
      log(`${name}: ${rounds.ours.toFixed(1)} ms beside ${rounds.reference.toFixed(1)} ms`);
    }
    const [slowest] = figures.toSorted((a, b) => b.ours - a.ours);
    if (!slowest) throw new Error('the console asks nothing');
    const { isDetail: _detail, ...dearest } = slowest;
    return [{ ...dearest, id: 'console.slowest', what: `${slowest.what}: the slowest of ${figures.length}` }, ...figures];
  } finally {
    await api.stop();
  }
}

/** An answer with errors would be quick. */
async function requireAnswer(url: string, { path, ...request }: HttpRequest, name: string): Promise<void> {
  const { errors } = (await (await fetch(`${url}${path}`, request)).json()) as { readonly errors?: unknown };
  if (errors) throw new Error(`${name}: ${JSON.stringify(errors)}`);
}

/** Statements of all questions that would read a whole table of any size, as Postgres plans them. Days of observations are read by day. */
async function measureScans(store: RecordStore, { log }: BenchOptions): Promise<Figure> {
  const statements = await statementsOf(store);
  const large = await store.database.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and not relispartition and reltuples > $1 and relnamespace = 'public'::regnamespace",
    [SMALL_TABLE],
  );
  const tables = new Set(large.map(({ name }) => name));
  const scans: string[] = [];
  for (const { screen, statement, values } of statements) {
    const [row] = await store.reading.query<{ 'QUERY PLAN': unknown }>(`explain (format json) ${statement}`, values);
    for (const table of scannedIn(row?.['QUERY PLAN']))
      if (tables.has(table)) scans.push(`${screen}: ${table}, ${statement.replaceAll(/\s+/g, ' ').slice(0, 400)}`);
  }
  for (const scan of new Set(scans)) log(`a whole table is read by ${scan}`);
  return makeFigure({
    id: 'console.scans',
    what: `statements of its questions that read a table of more than ${SMALL_TABLE} rows whole`,
    unit: 'statements',
    referenceName: 'all their statements',
    rounds: { ours: scans.length, reference: statements.length, ratios: [scans.length / statements.length] },
    notes: 'one site has nearly all rows of these tables; what the screens take tells whether that is too slow',
    target: null,
    isDetail: true,
  });
}

interface Asked {
  readonly screen: string;
  readonly statement: string;
  readonly values: readonly unknown[];
}

/** Every statement that the questions of the screens come to. */
async function statementsOf(store: RecordStore): Promise<Asked[]> {
  const asked: Asked[] = [];
  const pool = await openReadingDatabase({ url: store.urls.appUrl, poolSize: 2, statementTimeoutMs: 600_000 });
  let screen = '';
  const noted = (sql: Sql): Sql => ({
    query: (statement, values = []) => {
      asked.push({ screen, statement, values });
      return sql.query(statement, values);
    },
  });
  try {
    const { secrets } = await sharedService();
    const deps: ReaderDeps = {
      pepper: pepperOf(secrets),
      clock: () => store.nowMs,
      priceFloorMicro: 1_000n,
      networkIds: ['eip155:84532'],
      temporalUi: null,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      reading: {
        ...pool,
        query: noted(pool).query,
        transaction: (work, isolation) => pool.transaction((sql) => work(noted(sql)), isolation),
      },
    };
    const engine = openEngine(deps, null);
    const owner = { userId: 'owner', via: 'token', tenantIds: [BUSY] } as const;
    for (const { name, query, variables } of await screensOf(store)) {
      screen = name;
      const body = Buffer.from(JSON.stringify({ query, variables }));
      await engine({ accept: 'application/json', body, requestId: name, key: null, owner, account: null });
    }
  } finally {
    await pool.close();
  }
  return asked;
}

/** The tables that a plan reads whole. */
function scannedIn(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(scannedIn);
  if (typeof plan !== 'object' || plan === null) return [];
  const node = plan as Readonly<Record<string, unknown>>;
  const own = node['Node Type'] === 'Seq Scan' ? [String(node['Relation Name'])] : [];
  return [...own, ...Object.values(node).flatMap(scannedIn)];
}
