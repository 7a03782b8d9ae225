/** Rounds of payments: ours over HTTP, those of the official facilitator, and what each took. */
import { generatePrivateKey } from 'viem/accounts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { fundGas } from '../../sandbox/parts/chain-setup.ts';
import type { Cpu, Parts, Turn } from '../harness/cpu.ts';
import { ownCpu, withCpu } from '../harness/cpu.ts';
import { percentile } from '../harness/figure.ts';
import type { BenchService } from '../harness/service.ts';
import type { Buyer, SignedTransfer } from './buyers.ts';
import { signTransfer } from './buyers.ts';
import type { Counters } from './counters.ts';
import type { Officials } from './officials.ts';
import type { Shop } from './shop.ts';
import { buyAll, openShop, prepareCalls } from './shop.ts';

/** How much is paid in a round, and by how many at once. */
export interface Load {
  readonly rounds: number;
  readonly pages: number;
  readonly buyers: number;
  readonly parallel: number;
  readonly references: number;
  /** Until Postgres has told all that it counted. */
  readonly settlesMs: number;
}

/** Sites of the mix, and authors of their pages in turns. */
export const MIXED_SITES = 5;
export const MIXED_AUTHORS = [1, 3, 10];

/** One round of a side: its rate and times, and what a payment took. */
export interface Round extends Turn {
  readonly p50: number;
  readonly p99: number;
  readonly walBytes: number;
  readonly statements: number;
}

/** What all figures here share. */
export interface World {
  readonly service: BenchService;
  readonly buyers: readonly Buyer[];
  readonly load: Load;
  readonly counters: Counters;
  readonly officials: Officials;
  log(line: string): void;
}

/** A new site, so that every buyer buys every page for the first time. */
export async function plainRound(world: World): Promise<Round> {
  const { service, buyers, load } = world;
  const shop = await openShop(service, load.pages);
  const calls = await prepareCalls(shop, buyers);
  return ourRound(world, [shop], () => buyAll(shop, calls, load.parallel));
}

/** Several new sites at once, with pages of one and of several authors. */
export async function mixedRound(world: World): Promise<Round> {
  const { service, buyers, load } = world;
  const pages = Math.max(MIXED_AUTHORS.length, Math.round(load.pages / MIXED_SITES));
  const shops = await Promise.all(Array.from({ length: MIXED_SITES }, () => openShop(service, pages, MIXED_AUTHORS)));
  const calls = await Promise.all(shops.map((shop) => prepareCalls(shop, buyers)));
  const each = Math.ceil(load.parallel / MIXED_SITES);
  return ourRound(world, shops, async () =>
    (await Promise.all(shops.map((shop, at) => buyAll(shop, calls[at] ?? [], each)))).flat(),
  );
}

async function ourRound(world: World, shops: readonly Shop[], buy: () => Promise<readonly number[]>): Promise<Round> {
  const { service, counters, log } = world;
  const before = await counters.counts();
  const round = await timed(() => service.parts(), buy);
  const after = await counters.counts();
  const walBytes = (after.walBytes - before.walBytes) / round.payments;
  const statements = (after.statements - before.statements) / round.payments;
  const size = (round.payments / (await countBatches(service, shops))).toFixed(0);
  log(
    `${round.value.toFixed(0)} payments/s, p50 ${round.p50.toFixed(0)} ms, p99 ${round.p99.toFixed(0)} ms, ${size} a batch; a payment: ` +
      `${cpuText(round.cpu)}, WAL ${(walBytes / 1_000).toFixed(1)} kB, ${statements.toFixed(2)} statements`,
  );
  return { ...round, walBytes, statements };
}

export async function officialRound({ service, buyers, load, officials, log }: World): Promise<Round> {
  const shop = await openShop(service, load.pages);
  const transfers = transfersOf(shop, buyers, load.references);
  const round = await timed(
    () => officials.parts,
    () => officials.settle(transfers),
  );
  log(`official: ${round.value.toFixed(0)} payments/s, p50 ${round.p50.toFixed(0)} ms, a payment: ${cpuText(round.cpu)}`);
  return { ...round, walBytes: 0, statements: 0 };
}

/** Runs some payments, which resolve with their milliseconds. */
export async function timed(
  parts: () => Parts,
  pay: () => Promise<readonly number[]>,
): Promise<Turn & Pick<Round, 'p50' | 'p99'> & { readonly payments: number }> {
  let times: readonly number[] = [];
  const turn = await withCpu(parts(), async () => {
    const startedAt = performance.now();
    times = await pay();
    return { value: (times.length * 1000) / (performance.now() - startedAt), operations: times.length };
  });
  return { ...turn, p50: percentile(times, 0.5), p99: percentile(times, 0.99), payments: times.length };
}

function cpuText(cpu: Cpu | null): string {
  if (cpu === null) return 'CPU not told';
  const parts = Object.entries(cpu).map(([kind, ms]) => `${kind} ${ms.toFixed(2)}`);
  return `${ownCpu(cpu).toFixed(2)} ms CPU (${parts.join(', ')})`;
}

async function countBatches(service: BenchService, shops: readonly Shop[]): Promise<number> {
  const rows = await service.database.query<{ batches: number }>(
    'select count(distinct batch_id)::int as batches from payment where tenant_id = any($1)',
    [shops.map(({ tenantId }) => tenantId)],
  );
  return rows[0]?.batches ?? 0;
}

/** Signed transfers to the first authors of pages, the pages and the buyers taking turns. */
export function transfersOf(shop: Pick<Shop, 'network' | 'authors'>, buyers: readonly Buyer[], count: number): SignedTransfer[] {
  return Array.from({ length: count }, (_, index) => {
    const author = shop.authors[index % shop.authors.length] as Shop['authors'][number];
    return signTransfer(shop.network, buyers[index % buyers.length] as Buyer, author, 1_000n);
  });
}

/** A new key with gas. */
export async function newRelayer(service: BenchService): Promise<`0x${string}`> {
  const key = generatePrivateKey();
  await fundGas(service.chain.rpcUrl, localSigner(key).address);
  return key;
}
