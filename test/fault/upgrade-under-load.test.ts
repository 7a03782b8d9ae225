/**
 * The next release is rolled out as docs/backup.md says, in the middle of sales: its migrations run beside the former workers and API processes,
 * which go on; then processes are replaced one by one. The former release is this one, since 0.1.0 is the first; the next has a migration more.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { listMigrations, migrationOf } from '../../db/migrations.ts';
import { limits } from '../../sandbox/limits.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { query } from '../support/sql.ts';

const START = 1_000_000n;
/** What expands a hot table and leaves the former processes working: a column, one with a default, a check that is proven later. */
const EXPAND = migrationOf(
  '9998_next.sql',
  `alter table payment_intake add column later_note text;
alter table payment_state add column later_count integer not null default 0;
alter table payment_state add constraint later_count_is_positive check (later_count >= 0) not valid;
create table later (id bigint primary key, note text not null);
grant select, insert on later to svc_app;`,
);
/** And what is built beside live writes. */
const INDEX = migrationOf(
  '9999_next_index.sql',
  `-- outside a transaction
alter table payment_state validate constraint later_count_is_positive;
drop index concurrently if exists payment_intake_later;
create index concurrently payment_intake_later on payment_intake (tenant_id, payer);
`,
);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ environment: limits({ settleWaitMs: 3_000 }) });
});
afterAll(() => service?.stop());

test('with the schema moved forward and every process replaced in the middle of sales, each buyer is charged once for what was sold', async () => {
  const site = await service.site();
  const sold: { readonly payer: string; readonly price: bigint }[] = [];
  const urls = [service.baseUrl];
  let isOver = false;
  const sellOn = async (): Promise<void> => {
    for (let sale = 0; !isOver; sale += 1) {
      const payer = await service.payer(START);
      const url = urls.at(-1) as string;
      const quote = await askQuote(url, site.key, ['solo', 'duo', 'trio'][sale % 3] as string);
      const { body } = await sellUntilDecided(url, site.key, quote, await payFor(payer, quote));
      expect(body).toMatchObject({ ok: true });
      sold.push({ payer: payer.address, price: BigInt(quote.price) });
    }
  };
  const selling = Promise.all([sellOn(), sellOn()]);
  selling.catch(() => undefined);
  const sellMore = async (): Promise<void> => {
    const before = sold.length;
    await expect.poll(() => sold.length, { interval: 50 }).toBeGreaterThanOrEqual(before + 4);
  };
  await sellMore();
  await migrate(service.urls.ownerUrl, [...listMigrations(), EXPAND, INDEX]);
  await sellMore(); // by the former processes, on the new schema

  const formerWorker = service.workers[0];
  await service.startWorker();
  await formerWorker?.stop();
  await sellMore();
  const formerApi = service.apis[0];
  urls.push((await service.startApi()).url);
  await sellMore();
  isOver = true;
  await selling;
  await formerApi?.stop();

  const built = "select indisvalid as valid from pg_index where indexrelid = 'payment_intake_later'::regclass";
  expect(await query(service.urls.ownerUrl, built)).toEqual([{ valid: true }]);
  expect(
    await balancesOf(
      service,
      sold.map(({ payer }) => payer),
    ),
  ).toEqual(sold.map(({ price }) => START - price));
  const [row] = await service.database.query<{ count: number }>('select count(distinct payer)::int as count from crossing');
  expect(row).toEqual({ count: sold.length });
  await checkService(service);
});
