import { createRule } from '../../modules/anomalies/use/rules.ts';
import { recordLiveness } from '../../modules/gate/store/enforcement.ts';
import type { ObservationReport } from '../../modules/gate/use/observe.ts';
import { openObserver } from '../../modules/gate/use/observe.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { sweepBatches } from '../../modules/settlement/use/batch/batches.ts';
import { UNBOUNDED } from '../../modules/settlement/use/watch/budget.ts';
import { insertTenant, replacePricing } from '../../modules/tenants/store/tenants.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { mintUsdc } from '../parts/chain-setup.ts';
import { DEMO, LICENCES, PRICING, RAISED, READERS } from './cast.ts';
import { openLicenceCounter } from './licences.ts';
import type { Past } from './past.ts';
import { openPast } from './past.ts';
import type { Story, Visit } from './story.ts';
import { askedBefore, tellStory } from './story.ts';
import type { PageSale, Payer, Till, TillParts } from './till.ts';
import { openTill } from './till.ts';
import { openPost } from './webhooks.ts';

/** What a history is written on: new parts, whose chain began before its first day. */
export interface HistoryParts extends Omit<TillParts, 'past'> {
  readonly ownerUrl: string;
  readonly nowMs: number;
  /** The key of the site by which everything is sold. */
  readonly siteKey: string;
  /** Where webhooks are to go. */
  readonly sinkUrl: string;
}

/** Test USDC that each payer has at first: more than it spends. */
const PAYER_MICRO = 500_000_000n;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The site has a receiver of webhooks since then, and another one since an evening ago, which was moved and answers no more. */
const FIRST_ENDPOINT_MS = 9 * DAY_MS;
const LOST_ENDPOINT_MS = 20 * HOUR_MS;

/** A rule that is breached, as those who pretend go on. */
const RULE_MS = 8 * DAY_MS;
const PRETENDERS = { metric: 'masquerade_attempts', rangeKey: '7d', threshold: 20 } as const;

/** Something that happens at a moment. */
interface Happening {
  readonly atMs: number;
  readonly run: () => Promise<void>;
}

/**
 * Writes the demo site and its 28 days, by the product's own services at moments of the past: real transactions in blocks of those
 * moments, and everything the service keeps of them. For a new database and chain, before anything else runs on them; a second call throws.
 */
export async function writeHistory(parts: HistoryParts): Promise<void> {
  const { ownerUrl, appUrl, chain, nowMs, secrets } = parts;
  const past = await openPast({ ownerUrl, appUrl, rpcUrl: chain.rpcUrl });
  const story = tellStory(nowMs);
  await past.at(story.fromMs);
  const till = await openTill({ ...parts, past });
  try {
    const stage = { till, past, payers: await openPurses(till, parts), keyId: await openSite(past, parts) };
    const counter = openLicenceCounter({ till, past, secrets });
    const post = openPost(past, secrets, parts.sinkUrl);
    const happenings: Happening[] = [
      ...story.visits.map((visit) => ({ atMs: visit.atMs, run: () => receive(visit, stage, story.raiseMs).then(post.deliver) })),
      ...story.days.map(({ untilMs, reports }) => ({ atMs: untilMs, run: () => report(reports, stage) })),
      { atMs: story.raiseMs, run: () => raisePrice(past) },
      { atMs: nowMs - RULE_MS, run: () => createRule(past, DEMO.tenantId, PRETENDERS).then(() => undefined) },
      { atMs: nowMs - FIRST_ENDPOINT_MS, run: () => post.addEndpoint('accounting') },
      { atMs: nowMs - LOST_ENDPOINT_MS, run: () => post.addEndpoint('newsroom') },
      ...LICENCES.map((licensed) => ({
        atMs: nowMs - licensed.boughtDaysAgo * DAY_MS,
        run: () => counter.sell(stage.payers.get(licensed.reader) as Payer, licensed.reader, licensed).then(post.deliver),
      })),
    ];
    for (const { atMs, run } of happenings.sort((a, b) => a.atMs - b.atMs)) {
      await past.at(atMs);
      await run();
    }
    await past.mine();
    await sweepBatches(till.deps, till.deps.networks.first.id, UNBOUNDED);
    await noteHosts(past, story);
  } finally {
    await till.close();
  }
  await past.end();
}

async function openSite({ database, nowMs }: Past, { secrets, siteKey }: HistoryParts): Promise<string> {
  const { tenantId, host, archive, userId } = DEMO;
  const standing = { status: 'active', plan: 'studio', originUrl: null, licenseIssuer: null } as const;
  const owner = { ownerUserId: userId, ownerIssuer: null };
  await insertTenant(database, { tenantId, hosts: [host, archive], ...standing, ...owner, pricing: PRICING }, new Date(nowMs()));
  const key = { tenantId, name: 'all', scopes: SCOPES, prefix: 'svc_live_', value: siteKey } as const;
  const { keyId } = await mintKey({ database, pepper: pepperOf(secrets) }, key);
  return keyId;
}

/** Wallets of everybody who pays, filled. */
async function openPurses(till: Till, { chain }: HistoryParts): Promise<ReadonlyMap<string, Payer>> {
  const payers = new Map(READERS.map(({ name, agent }) => [name, till.payer(name, agent)]));
  for (const { name, buys } of READERS) {
    const payer = payers.get(name);
    if (payer && buys > 0) await mintUsdc(chain.rpcUrl, payer.address, PAYER_MICRO);
  }
  return payers;
}

interface Stage {
  readonly till: Till;
  readonly past: Past;
  readonly payers: ReadonlyMap<string, Payer>;
  readonly keyId: string;
}

async function receive(visit: Visit, stage: Stage, raiseMs: number): Promise<void> {
  const { reader, purchases } = visit;
  const { till, payers, keyId } = stage;
  await report(askedBefore(visit, raiseMs), stage);
  const payer = payers.get(reader) as Payer;
  const broke = till.payer(`${reader}, without money`, payer.agent);
  const sales = purchases.map(
    ({ fault, ...page }): PageSale => ({ ...page, payer: fault === 'empty' ? broke : payer, isShort: fault === 'short' }),
  );
  await till.sellPages(DEMO.tenantId, keyId, sales);
}

async function report(reports: readonly ObservationReport[], { till, past }: Stage): Promise<void> {
  const tenant = await till.snapshots.tenant(DEMO.tenantId);
  if (!tenant) throw new Error('the site of the history is not there');
  await openObserver({ database: past.database, clock: past.nowMs }).record(tenant, reports);
}

async function raisePrice({ database, nowMs }: Past): Promise<void> {
  const { priceUsdc } = RAISED;
  await replacePricing(database, DEMO.tenantId, new Date(nowMs()), (price) => ({ ...price, priceUsdc }));
}

/** When each host was last heard of: its last report, and of the one that sells its last sale. */
async function noteHosts({ database }: Past, { days, visits }: Story): Promise<void> {
  const lastOf = (host: string): number =>
    Math.max(
      ...days.flatMap(({ reports }) => reports.filter(({ resource }) => resource.includes(`//${host}/`)).map(({ at = 0 }) => at)),
    );
  const soldAtMs = visits.at(-1)?.atMs ?? null;
  const none = { keyRejectedAtMs: null, planGatedAtMs: null, failedOpenAtMs: null };
  const heard = [DEMO.host, DEMO.archive].map((host) => {
    const observedAtMs = lastOf(host);
    const verifyCalledAtMs = host === DEMO.host ? soldAtMs : null;
    return { tenantId: DEMO.tenantId, host, observedAtMs, quotedAtMs: observedAtMs, verifyCalledAtMs, ...none };
  });
  await recordLiveness(database, heard);
}
