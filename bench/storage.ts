import { setTimeout as sleep } from 'node:timers/promises';
import { toldState } from '../db/paymentStates.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import { fundBuyers } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';

/** Most bytes a payment may take. */
const ALLOWED = 14_000;
const FINAL_WITHIN_MS = 120_000;
/** Rows a payment has little of. */
const SMALL_BYTES = 50;

/** Bytes of each table with its indexes, by name; partitions count for their table. */
type Sizes = ReadonlyMap<string, number>;

/** Bytes of disk that a payment takes once it is final, table by table, on the way that buyers go. */
export const storageBench: Bench = {
  id: 'storage',
  title: 'Bytes a payment',
  run: async ({ quick, log }) => {
    const service = await startBenchService({ workers: 1, environment: PRODUCT_INTERVALS });
    try {
      const buyers = await fundBuyers(service.chain.rpcUrl, quick ? 5 : 40);
      const pages = quick ? 4 : 25;
      const round = async (): Promise<Sizes> => {
        const shop = await openShop(service, pages);
        const before = await sizesOf(service);
        await buyAll(shop, await prepareCalls(shop, buyers), 100);
        await untilFinal(service, shop);
        const after = await sizesOf(service);
        return new Map([...after].map(([table, bytes]) => [table, (bytes - (before.get(table) ?? 0)) / (pages * buyers.length)]));
      };
      await round(); // the first pages of every table and index
      const rounds = [];
      for (let n = 0; n < (quick ? 1 : 3); n++) rounds.push(await round());
      for (const sizes of rounds) log(`${total(sizes).toFixed(0)} bytes a payment`);
      return [figureOf(rounds)];
    } finally {
      await service.stop();
    }
  },
};

async function sizesOf({ database }: BenchService): Promise<Sizes> {
  const rows = await database.query<{ name: string; bytes: string }>(
    `select coalesce(parent.relname, c.relname)::text as name, sum(pg_total_relation_size(c.oid)) as bytes
       from pg_class as c left join pg_inherits as i on i.inhrelid = c.oid left join pg_class as parent on parent.oid = i.inhparent
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

async function untilFinal({ database }: BenchService, { tenantId }: Shop): Promise<void> {
  const open = `select 1 from payment where tenant_id = $1 and ${toldState('payment')} <> 'final' limit 1`;
  const until = performance.now() + FINAL_WITHIN_MS;
  while ((await database.query(open, [tenantId])).length > 0) {
    if (performance.now() > until) throw new Error('payments do not become final');
    await sleep(250);
  }
}

const total = (sizes: Sizes): number => [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);

function figureOf(rounds: readonly Sizes[]): Figure {
  const totals = rounds.map(total).sort((a, b) => a - b);
  const ours = totals[Math.floor(totals.length / 2)] ?? 0;
  const mean = (table: string): number => rounds.reduce((sum, sizes) => sum + (sizes.get(table) ?? 0), 0) / rounds.length;
  const tables = [...(rounds[0]?.keys() ?? [])].map((table) => ({ table, bytes: mean(table) })).sort((a, b) => b.bytes - a.bytes);
  const named = tables.filter(({ bytes }) => bytes >= SMALL_BYTES).map(({ table, bytes }) => `${table} ${bytes.toFixed(0)}`);
  return {
    id: 'storage.payment',
    what: 'disk of one final payment to one author, indexes included',
    unit: 'bytes',
    ours,
    reference: ALLOWED,
    referenceName: 'what is allowed',
    ratio: ours / ALLOWED,
    target: `≤ ${ALLOWED} bytes`,
    reached: ours <= ALLOWED,
    rounds: rounds.length,
    spread: [(totals[0] ?? 0) / ALLOWED, (totals.at(-1) ?? 0) / ALLOWED],
    notes: `growth of the tables over a thousand payments a round, nothing vacuumed; ${named.join(', ')}`,
  };
}
