/** The 28 days of the sandbox's demo site are true: whatever is shown of them can be checked against the chain. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { generateToken } from '../../modules/identity/use/keys/keys.ts';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { readReconciliation } from '../../modules/reconciliation/use/report.ts';
import { checkRollups } from '../../modules/reports/use/rollups.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import { Networks } from '../../platform/chain/network.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { createServiceSecrets, newPrivateKey } from '../../process/serviceSecrets.ts';
import { DEMO } from '../../sandbox/history/cast.ts';
import { writeHistory } from '../../sandbox/history/history.ts';
import { firstDayOf, HISTORY_DAYS } from '../../sandbox/history/past.ts';
import { tellStory } from '../../sandbox/history/story.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { TestChain, TestDatabase } from '../support/parts.ts';
import { createDatabase, startTestChain } from '../support/parts.ts';
import { testNetwork } from '../support/payments.ts';

const nowMs = Date.now();
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const SITE = { tenantId: DEMO.tenantId, hosts: [DEMO.host, DEMO.archive], plan: 'studio' } as const;
const DEFAULTS = `select adrelid::regclass::text as holder, adnum, pg_get_expr(adbin, adrelid) as said from pg_attrdef
  join pg_class on pg_class.oid = adrelid where not relispartition order by 1, 2`;
const EVER = { fromMs: 0, toMs: null };
let chain: TestChain;
let urls: TestDatabase;
let database: Database;
let rpc: Rpc;
let deps: SettlementDeps;
let defaultsBefore: unknown;
beforeAll(async () => {
  const buyerPrivateKeys = { buyer: newPrivateKey(), otherBuyer: newPrivateKey() };
  const secrets = { ...createServiceSecrets(), buyerPrivateKeys, tokens: {}, webhook: null };
  const relayer = localSigner(secrets.relayerPrivateKey);
  chain = await startTestChain({ relayers: [relayer.address] }, { beginsAt: firstDayOf(nowMs) / 1_000 - 3_600 });
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, poolSize: 4 });
  defaultsBefore = await database.query(DEFAULTS);
  const { ownerUrl, appUrl } = urls;
  const siteKey = generateToken('svc_live_');
  await writeHistory({ chain, secrets, nowMs, siteKey, sinkUrl: 'http://127.0.0.1:1/hook', ownerUrl, appUrl });
  const network = testNetwork(chain, { blockTimeMs: 1_000 });
  rpc = createRpc(network);
  deps = {
    database,
    networks: new Networks([network]),
    rpcOf: () => rpc,
    relayersOf: () => [relayer],
    facilitatorOf: () => null,
    log: quiet,
    now: Date.now,
    crashAt: () => undefined,
    settings: {
      waitMs: 1_000,
      licenceLifeSeconds: 600,
      inFlightLimit: 4,
      gasBudgetWeiPerDay: null,
      networkGasBudgetWeiPerDay: null,
      stuckAfterMs: 60_000,
      dustBelowMicro: 1_000n,
    },
  };
});
afterAll(async () => {
  await rpc?.close();
  await database?.close();
  await chain?.stop();
  await urls?.drop();
});

const count = async (query: string): Promise<number> => Number((await database.query<{ n: string }>(query))[0]?.n);

test('every sale is a transaction in a block of its own day, and authors hold what the ledger says they earned', async () => {
  await checkInvariants({ database, rpc, network: deps.networks.first, deps });
  const sold = tellStory(nowMs).visits.flatMap(({ purchases }) => purchases.filter(({ fault }) => fault === undefined));
  expect(await count("select count(*) as n from payment where purpose = 'page' and state = 'settled'")).toBe(sold.length);
  const late = await count(`select count(*) as n from payment_state
    where state = 'settled' and abs(extract(epoch from block_time - accepted_at)) > 5`);
  const [{ number, timestamp }] = await Promise.all([
    callChain<{ number: string; timestamp: string }>(chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false]),
  ]);
  expect({ late, isPresent: Number(timestamp) * 1_000 > nowMs - 5_000, hasBlocks: Number(number) > 50 }).toEqual({
    late: 0,
    isPresent: true,
    hasBlocks: true,
  });
  const days = await count("select count(distinct date_trunc('day', at, 'UTC')) as n from crossing");
  expect(days).toBeGreaterThanOrEqual(HISTORY_DAYS - 2);
});

test('each page was refused with its price before it was sold, and a licence was not', async () => {
  const answering = await count(`select count(*) as n from observation paid
    where paid.verdict = 'paid' and paid.reason is null and paid.slug not like 'licence:%' and exists (select 1 from observation asked
      where asked.verdict = 'denied' and asked.slug = paid.slug and asked.agent = paid.agent and asked.micro = paid.micro
        and asked.at between paid.at - interval '10 minutes' and paid.at)`);
  const sold = tellStory(nowMs).visits.flatMap(({ purchases }) => purchases.filter(({ fault }) => fault === undefined));
  const licences = await count(
    "select count(*) as n from observation where verdict = 'paid' and reason = 'without_402' and slug like 'licence:%'",
  );
  const paid = await count("select count(*) as n from observation where verdict = 'paid'");
  expect({ answering, others: paid - answering }).toEqual({ answering: sold.length, others: licences });
  expect(licences).toBeGreaterThan(0);
});

test('reconciliation finds no exception, and rollups are what a rebuild would write', async () => {
  expect(await readChain(deps, deps.networks.first.id)).toMatchObject({ read: 0, vanished: 0 });
  const report = await readReconciliation({ database, clock: Date.now }, SITE, EVER);
  const [earned] = await database.query<{ micro: string }>('select sum(amount_micro) as micro from leg');
  expect(report.exceptions).toEqual([]);
  expect(report.outstanding).toEqual({ legs: 0, micro: 0n });
  expect(report.settled.micro).toBe(BigInt(earned?.micro ?? 0));
  expect(await checkRollups({ database, clock: Date.now }, { days: null, tenantId: null })).toEqual([]);
});

test('sweepers find nothing to do: all is final, announced once, and nobody is alerted', async () => {
  const stand = () => database.query('select payment_id, state, tx_hash from payment_state order by 1');
  const before = await stand();
  await sweepNetwork(deps, deps.networks.first.id);
  expect(await stand()).toEqual(before);
  expect(await closeDueWindows(database, 2_000)).toMatchObject({ events: 0 });
  const open = await count("select count(*) as n from settlement_batch where final_at is null or state <> 'safe'");
  expect({ open, alerts: await count('select count(*) as n from operator_alert') }).toEqual({ open: 0, alerts: 0 });
  expect(await count("select count(*) as n from delivery where state = 'pending' and not retrying")).toBe(0);
});

test('the database has its own clock again, and rows of before stay in the past', async () => {
  expect(await database.query(DEFAULTS)).toEqual(defaultsBefore);
  expect(await database.query("select 1 from pg_namespace where nspname = 'past'")).toEqual([]);
  const recent = await count(`select count(*) as n from crossing where recorded_at > '${new Date(nowMs).toISOString()}'`);
  expect(recent).toBe(0);
});

test('the story is the same whenever it is told of one moment', () => {
  expect(tellStory(nowMs)).toEqual(tellStory(nowMs));
});
