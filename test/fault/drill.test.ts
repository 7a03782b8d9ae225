/**
 * The drill of docs/backup.md: base backup and archive of a running service, its Postgres lost, restored to a moment between the
 * broadcast of a payment and its settlement, while the chain went on. Temporal has forgotten everything: rows are the truth.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runMigration } from '../../sandbox/cluster/topology.ts';
import { limits } from '../../sandbox/limits.ts';
import { restoreInPlace, takeBaseBackup } from '../../sandbox/parts/postgres/archive.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { runServiceAdmin } from '../support/admin.ts';
import type { QuoteBody, SaleAnswer } from '../support/buying.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { query } from '../support/sql.ts';

const START = 100_000n;
const folder = join(inject('parts').folder, 'drill-postgres');
let postgres: Postgres;
let service: TestService;
let site: TestSite;

beforeAll(async () => {
  postgres = await startPostgres({ folder, archive: true });
  const { superUrl, ownerUrl, appUrl } = postgres;
  await runMigration(ownerUrl, folder);
  const urls = { superUrl, ownerUrl, appUrl, name: 'svc', drop: async () => undefined };
  service = await startTestService({
    on: { urls, temporal: await createNamespace() },
    environment: limits({ settleWaitMs: 8_000 }),
  });
  site = await service.site();
});
afterAll(async () => {
  await service?.stop();
  await postgres?.stop();
  removeCluster(folder);
});

interface Purchase {
  readonly slug: string;
  readonly payer: `0x${string}`;
  readonly quote: QuoteBody;
  readonly payment: string;
}

const purchases: Purchase[] = [];

async function sign(url: string, slug: string, seconds = 300): Promise<Purchase> {
  const account = await service.payer(START);
  const quote = await askQuote(url, site.key, slug);
  const payment = await payFor(account, { ...quote, maxTimeoutSeconds: seconds });
  const purchase = { slug, payer: account.address, quote, payment };
  purchases.push(purchase);
  return purchase;
}

const show = (url: string, { quote, payment }: Purchase): Promise<SaleAnswer> => sellUntilDecided(url, site.key, quote, payment);

async function buy(url: string, slug: string, seconds?: number): Promise<Purchase & { readonly answer: SaleAnswer }> {
  const purchase = await sign(url, slug, seconds);
  const answer = await show(url, purchase);
  expect(answer.status).toBe(200);
  return { ...purchase, answer };
}

const priceOf = ({ quote }: Purchase): bigint => BigInt(quote.price);
const paidBy = async (list: readonly Purchase[]): Promise<bigint[]> => {
  const balances = await balancesOf(
    service,
    list.map(({ payer }) => payer),
  );
  return balances.map((balance) => START - balance);
};

interface Found {
  readonly relayers: readonly { readonly before: string; readonly after: string }[];
  readonly lost: readonly { readonly txHash: string; readonly payer: string; readonly amountMicro: string }[];
  readonly unread: readonly unknown[];
  readonly unexplained: readonly unknown[];
}
const recover = async (): Promise<Found> => {
  const { networks } = (await runServiceAdmin(service, postgres.appUrl, 'recover')) as unknown as { networks: Found[] };
  return networks[0] as Found;
};

test('restored to a moment between broadcast and settlement, nothing is charged twice, and what the chain has beyond the ledger is named and honoured', async () => {
  const kept = await buy(service.baseUrl, 'trio');
  await takeBaseBackup(postgres.places, postgres.superUrl);
  const keptAfterBase = await buy(service.baseUrl, 'solo');
  const [first] = service.workers;
  await first?.stop();

  // The moment: the signed transaction is out, its row says `broadcast`, and nobody has looked at the chain since.
  const between = await sign(service.baseUrl, 'trio');
  const doomed = await service.startWorker({ CRASH_AT: 'after_broadcast' });
  const pending = sell(service.baseUrl, site.key, between.quote, between.payment);
  await doomed.process.exited;
  const stateOf = async ({ payer }: Purchase) =>
    (await service.database.query<{ state: string }>('select state from payment where payer = $1', [payer.toLowerCase()]))[0]
      ?.state;
  expect(await stateOf(between)).toBe('broadcast');
  await query(postgres.superUrl, "select pg_create_restore_point('drill')");

  // What the restore loses: pages of a split and of one wallet, and one that was sold under no address of the restored rows.
  await service.startWorker();
  await pending;
  const lost = [await buy(service.baseUrl, 'trio'), await buy(service.baseUrl, 'solo', 20), await buy(service.baseUrl, 'duo')];
  const endedAt = Date.now() + 20_000;
  await Promise.all([...service.apis, ...service.workers].map((one) => one.stop()));
  const [segment] = await query(postgres.superUrl, 'select pg_walfile_name(pg_switch_wal()) as name');
  const archived = () =>
    query(postgres.superUrl, 'select last_archived_wal >= $1 as done from pg_stat_archiver', [segment?.['name']]);
  await expect.poll(archived).toEqual([{ done: true }]);
  process.kill(postgres.process.pid, 'SIGKILL');
  await postgres.process.exited;

  const began = performance.now();
  await restoreInPlace(postgres.places, ['name', 'drill']);
  postgres = await startPostgres({ folder, archive: true, port: postgres.port });
  const isReading = () => query(postgres.superUrl, 'select pg_is_in_recovery() as yes');
  await expect.poll(isReading, { interval: 100 }).toEqual([{ yes: false }]);
  expect(await stateOf(between)).toBe('broadcast');
  const readAfterMs = Math.round(performance.now() - began);
  const found = await recover();
  const recoveredAfterMs = Math.round(performance.now() - began);
  expect(found.lost.map(({ payer, amountMicro }) => [payer, amountMicro])).toEqual(
    lost.map(({ payer, quote }) => [payer.toLowerCase(), String(quote.price)]),
  );
  expect(found.lost.map(({ txHash }) => txHash)).toEqual(lost.map(({ answer }) => answer.body.settlementRef));
  expect(found).toMatchObject({ unread: [], unexplained: [] });
  expect(Number(found.relayers[0]?.after)).toBe(Number(found.relayers[0]?.before) + lost.length);
  expect(await recover()).toEqual({
    ...found,
    relayers: found.relayers.map(({ after }) => ({ ...found.relayers[0], before: after })),
  });

  // Temporal is empty: a namespace nobody used before.
  const { namespace } = await createNamespace();
  const [api] = await Promise.all([
    service.startApi({ TEMPORAL_NAMESPACE: namespace }),
    service.startWorker({ TEMPORAL_NAMESPACE: namespace }),
  ]);
  await expect.poll(() => stateOf(between)).toMatch(/^(settled|final)$/);
  const settledAfterMs = Math.round(performance.now() - began);
  console.log(
    `the drill: restored after ${readAfterMs} ms, recovered after ${recoveredAfterMs}, settled after ${settledAfterMs}`,
  );

  // Who was answered before is answered the same; who was told to ask again is answered now; nobody is charged again.
  expect((await show(api.url, kept)).text).toBe(kept.answer.text);
  expect((await show(api.url, keptAfterBase)).body).toMatchObject({
    ok: true,
    settlementRef: keptAfterBase.answer.body.settlementRef,
  });
  expect((await show(api.url, between)).body).toMatchObject({ ok: true, chargedMicro: String(between.quote.price) });
  const keys = createLocalJWKSet(await (await fetch(`${api.url}/.well-known/jwks.json`)).json());
  for (const { answer } of [kept, ...lost]) await jwtVerify(answer.body.licenseJws, keys);

  // Two of the lost ones are shown again, one when its time is over: their rows come back with the evidence they had. A third is not, and
  // stays named. For another page, or for one payment more, they are worth nothing.
  const [one, two] = lost as unknown as readonly [Purchase, Purchase];
  await expect.poll(() => Date.now() > endedAt).toBe(true);
  const elsewhere = await show(api.url, { ...two, quote: await askQuote(api.url, site.key, 'trio') });
  expect([elsewhere.status, elsewhere.body.ok]).toEqual([402, false]);
  for (const one of lost.slice(0, 2)) {
    const again = await show(api.url, one);
    expect(again.body).toMatchObject({
      ok: true,
      settlementRef: one.answer.body.settlementRef,
      chargedMicro: String(one.quote.price),
    });
  }
  const citation = await show(api.url, { ...one, quote: await askQuote(api.url, site.key, 'trio', 'citation') });
  expect([citation.status, citation.body.ok]).toEqual([402, false]);
  const after = await buy(api.url, 'trio');
  expect(await paidBy(purchases)).toEqual(purchases.map(priceOf));

  // Ledger and chain agree, or the difference is named.
  const rest = await recover();
  expect(rest.lost.map(({ payer }) => payer)).toEqual([lost[2]?.payer.toLowerCase()]);
  const crossed = await service.database.query<{ payer: string; micro: string }>(
    'select payer, sum(micro) as micro from crossing group by payer',
  );
  const told = new Map([
    ...crossed.map(({ payer, micro }) => [payer, BigInt(micro)] as const),
    ...rest.lost.map(({ payer, amountMicro }) => [payer, BigInt(amountMicro)] as const),
  ]);
  expect(purchases.map(({ payer }) => told.get(payer.toLowerCase()))).toEqual(await paidBy(purchases));
  expect(after.answer.body.ok).toBe(true);
  const gifts = new Map(lost[2]?.quote.legs.map((leg) => [leg.toAddress.toLowerCase(), BigInt(leg.amountMicro)]));
  await checkService(service, { gifts, outsideNonces: lost.length });

  // An archive that fails is told.
  const archiving = async (): Promise<string | undefined> => {
    const said = await runServiceAdmin(service, postgres.appUrl, 'doctor');
    process.exitCode = 0;
    return (said['findings'] as { check: string; state: string }[]).find(({ check }) => check === 'archive')?.state;
  };
  expect(await archiving()).toBe('ok');
  rmSync(join(postgres.places.archive?.scripts ?? '', 'archive.sh'));
  await query(postgres.superUrl, 'select pg_switch_wal()');
  await expect.poll(archiving, { interval: 1_000 }).toBe('fail');
});
