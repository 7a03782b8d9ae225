import { blockTimeSeconds } from '../../../platform/chain/evidence/receipts.ts';
import { verifyNetwork } from '../../../platform/chain/network.ts';
import { baseFeeOf, gasBalance, transactionCount } from '../../../platform/chain/transaction.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import { countHashesUnder } from '../../identity/store/pepper.ts';
import type { GaugeName, GaugePoint } from '../../kernel/metrics.ts';
import type { SettlementDeps } from '../../settlement/use/deps.ts';
import { countSecretsNotUnder } from '../../webhooks/store/sealing.ts';
import { readDatabaseGauges } from '../store/gauges.ts';
import { listConnectedProcesses, readNightAge } from '../store/onCall.ts';
import { compareMigrations, listAlerts, listRelayers, readDatabaseFacts } from '../store/operations.ts';
import { LEAST_SETTLEMENTS, settlementCost } from './gasMoney.ts';
import { reportRouter } from './router.ts';

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  /** `fail` needs somebody now, `warn` soon. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
}

/** What Temporal says of itself. */
export interface TemporalFacts {
  readonly version: string;
  /** How long closed workflows are kept; null when the namespace does not exist. */
  readonly retentionDays: number | null;
  /** Search attributes that the namespace lacks: workflows that name them are refused. */
  readonly missingAttributes: readonly string[];
  /** Schedules that somebody paused, each with its note. */
  readonly paused: readonly { readonly scheduleId: string; readonly note: string }[];
  /** Workers that asked the service's task queue for work in the last minute and a half. */
  readonly pollers: number;
}

/** What the doctor looks at; a part that is not configured is left out. */
export interface DoctorParts {
  readonly settlement: SettlementDeps;
  readonly temporal: (() => Promise<TemporalFacts>) | null;
  /** Ids of the licence keys this process has the private half of, and of those that are published. */
  readonly licenceKeys: (() => Promise<{ readonly private: readonly string[]; readonly published: readonly string[] }>) | null;
  /** Looked at while it is being rotated. */
  readonly pepper: Pepper;
  /** Of the present SECRETS_KEY while that is being rotated, else null. */
  readonly secretBox: Pick<SecretBox, 'keyId'> | null;
  /** The release that asks. */
  readonly version: string;
}

const MAX_SKEW_MS = 5_000;
const MAX_ARCHIVE_SECONDS = 600;
const SPARE_PARTITION_DAYS = 7;
const RETENTION_DAYS = 30;
const LATE_BLOCKS = 10;
/** A night may be late, and is not missed before. */
const NIGHT_SECONDS = 26 * 3_600;

/** Looks at everything once and says what to do about what it finds. Never rejects; changes nothing. */
export async function examineSystem(parts: DoctorParts): Promise<Finding[]> {
  const { settlement, temporal, licenceKeys, pepper, secretBox } = parts;
  const { previousId } = pepper;
  const looks = [
    ...settlement.networks.ids.map((network) =>
      look(`router ${network}`, 'Ask another node: correct rpcUrls in NETWORKS.', () => examineRouter(settlement, network)),
    ),
    look('database', 'Start Postgres, or correct DATABASE_URL.', () => examineDatabase(settlement)),
    look('migrations', 'Run `node bin/migrate.ts` as the owner of the tables.', () => examineMigrations(settlement)),
    look('releases', 'See the database.', () => examineReleases(settlement, parts.version)),
    look('backlog', 'See the database.', () => examineBacklog(settlement)),
    look('night', 'See the database.', () => examineNight(settlement)),
    ...(temporal
      ? [look('temporal', 'Start Temporal, or correct TEMPORAL_ADDRESS and how it is reached.', () => examineTemporal(temporal))]
      : []),
    ...(licenceKeys ? [look('licence keys', 'See the database.', () => examineKeys(licenceKeys))] : []),
    ...(previousId === null ? [] : [look('pepper', 'See the database.', () => examinePepper(settlement, previousId))]),
    ...(secretBox === null ? [] : [look('secrets key', 'See the database.', () => examineSecrets(settlement, secretBox.keyId))]),
    ...settlement.networks.ids.map((network) =>
      look(
        `chain ${network}`,
        'Install the router if it is absent (see its line); else ask another node: correct rpcUrls in NETWORKS.',
        () => examineChain(settlement, network),
      ),
    ),
    ...settlement.networks.ids.map((network) =>
      look(`relayers ${network}`, 'Ask another node: correct rpcUrls in NETWORKS.', () => examineRelayers(settlement, network)),
    ),
  ];
  return (await Promise.all(looks)).flat();
}

async function look(check: string, advice: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examine();
  } catch (error) {
    return [{ check, state: 'fail', found: error instanceof Error ? error.message : String(error), advice }];
  }
}

function judge(check: string, found: string, problem: false | 'warn' | 'fail', advice: string): Finding {
  return { check, state: problem || 'ok', found, advice: problem ? advice : null };
}

async function examineDatabase({ database, now }: SettlementDeps): Promise<Finding[]> {
  const beforeMs = now();
  const facts = await readDatabaseFacts(database);
  const skewMs = Math.round(facts.nowMs - (beforeMs + now()) / 2);
  return [
    judge(
      'database',
      `Postgres ${facts.version}`,
      facts.isReplica && 'fail',
      'This is a replica: point DATABASE_URL to the primary.',
    ),
    judge(
      'clock',
      `the database is ${skewMs} ms ahead of us`,
      Math.abs(skewMs) > MAX_SKEW_MS && 'warn',
      'Set both clocks by NTP.',
    ),
    judge(
      'partitions',
      `observations have partitions for ${facts.partitionDays} days`,
      facts.partitionDays < SPARE_PARTITION_DAYS && 'warn',
      'Restart a worker: it makes them for 35 days.',
    ),
  ];
}

async function examineMigrations({ database }: SettlementDeps): Promise<Finding[]> {
  const { missing, unknown } = await compareMigrations(database);
  const found =
    missing.length > 0 ? `missing: ${missing.join(', ')}` : unknown.length > 0 ? `newer: ${unknown.join(', ')}` : 'all run';
  const advice =
    missing.length > 0
      ? 'Run `node bin/migrate.ts` as the owner of the tables.'
      : 'The database belongs to a newer version: it works, finish the upgrade.';
  return [judge('migrations', found, missing.length > 0 ? 'fail' : unknown.length > 0 && 'warn', advice)];
}

/** Which release runs where, as processes name themselves at the database. */
async function examineReleases({ database }: SettlementDeps, version: string): Promise<Finding[]> {
  const connected = await listConnectedProcesses(database);
  const byRelease = Map.groupBy(connected, (one) => `${one.process} ${one.version}`);
  const found = [...byRelease].map(([release, on]) => `${release} on ${on.map(({ machine }) => machine).join(', ')}`).join('; ');
  const isMixed = connected.some((one) => one.version !== version);
  return [
    judge(
      'releases',
      found === '' ? `no process is connected; this is ${version}` : `${found}; this is ${version}`,
      isMixed && 'warn',
      'Releases differ: finish the upgrade, or go back (docs/backup.md).',
    ),
  ];
}

async function examineNight({ database }: SettlementDeps): Promise<Finding[]> {
  const seconds = await readNightAge(database);
  const hours = Math.floor(seconds / 3_600);
  return [
    judge(
      'night',
      `the nightly round ended well ${hours} h ago, or was not due yet`,
      seconds > NIGHT_SECONDS && 'warn',
      'See: NightMissed.',
    ),
  ];
}

/** Gauges count from 1970 what never was. */
const NEVER_SECONDS = 1e9;

function lastOf(seconds: number): string {
  return seconds > NEVER_SECONDS ? 'at no time' : `${Math.round(seconds)} s ago`;
}

/** Before the first worker runs nothing is wrong yet. */
function isLate(seconds: number): false | 'warn' | 'fail' {
  if (seconds > NEVER_SECONDS) return 'warn';
  return seconds > 300 && 'fail';
}

async function examineBacklog({ database, networks }: SettlementDeps): Promise<Finding[]> {
  const points = await readDatabaseGauges(database, networks.ids);
  const worst = (name: GaugeName): number =>
    Math.max(0, ...points.filter((p: GaugePoint) => p.name === name).map(({ value }) => value));
  const pendingSeconds = worst('svc.settle.pending_age');
  const oldestSeconds = worst('svc.recon.oldest_age');
  const lagSeconds = worst('svc.webhook.lag');
  const readSeconds = worst('svc.recon.read_age');
  const sweptSeconds = worst('svc.settle.sweep_age');
  const alerts = await listAlerts(database);
  return [
    judge(
      'payments',
      `the oldest undecided one is ${Math.round(pendingSeconds)} s old`,
      pendingSeconds > 60 && 'fail',
      'See the runbook: PaymentsPendingTooLong.',
    ),
    judge(
      'outstanding money',
      `the oldest is ${Math.round(oldestSeconds)} s old`,
      oldestSeconds > 600 && 'fail',
      'See: OutstandingMoneyOld.',
    ),
    judge('reconciliation', `read the chain ${lastOf(readSeconds)}`, isLate(readSeconds), 'See: ChainNotRead.'),
    judge('sweeper', `ended a round well ${lastOf(sweptSeconds)}`, isLate(sweptSeconds), 'See: PaymentsNotSwept.'),
    judge(
      'webhooks',
      `${worst('svc.webhook.backlog')} deliveries are due, the oldest since ${Math.round(lagSeconds)} s`,
      lagSeconds > 300 && 'warn',
      'See: WebhookBacklog.',
    ),
    examineArchive(points),
    judge(
      'alerts',
      alerts.length === 0 ? 'none is open' : alerts.map(({ kind, count }) => `${kind}: ${count}`).join(', '),
      alerts.length > 0 && 'warn',
      'Read them with `admin alert list`; after dealing with them `admin alert resolve <kind>`.',
    ),
  ];
}

function examineArchive(points: readonly GaugePoint[]): Finding {
  const gauge = (name: GaugeName): number | undefined => points.find((point) => point.name === name)?.value;
  const ageSeconds = gauge('svc.wal.archive_age');
  if (ageSeconds === undefined) {
    return judge(
      'archive',
      'none',
      'warn',
      'Nothing is archived: after a loss no backup is newer than the last dump. See: Backup and restore.',
    );
  }
  const isStale = ageSeconds > MAX_ARCHIVE_SECONDS || gauge('svc.wal.archive_failing') === 1;
  return judge('archive', `the WAL was archived ${Math.round(ageSeconds)} s ago`, isStale && 'fail', 'See: WalArchiveOld.');
}

async function examineTemporal(read: () => Promise<TemporalFacts>): Promise<Finding[]> {
  const { version, retentionDays, missingAttributes, paused, pollers } = await read();
  const missing = retentionDays === null;
  const advice = missing
    ? 'Make the namespace with a retention of 30 days.'
    : 'Raise the retention of the namespace to 30 days: workflows of webhooks live that long.';
  const found = `Temporal ${version}, ${missing ? 'no such namespace' : `retention of ${retentionDays} days`}`;
  const lacking = missingAttributes.length === 0 ? 'all are registered' : `${missingAttributes.join(', ')} not registered`;
  return [
    judge('search attributes', lacking, missingAttributes.length > 0 && 'fail', 'Run `node bin/namespace.ts`.'),
    judge('temporal', found, missing ? 'fail' : retentionDays < RETENTION_DAYS && 'warn', advice),
    judge(
      'schedules',
      paused.length === 0
        ? 'none is paused'
        : `paused: ${paused.map(({ scheduleId, note }) => `${scheduleId} (${note})`).join(', ')}`,
      paused.length > 0 && 'warn',
      'Let them go on when the reason is gone: `temporal schedule toggle --unpause --schedule-id <id>`.',
    ),
    judge('workers', `${pollers} ask for work`, pollers === 0 && 'fail', 'Start a worker: `node bin/worker.ts`.'),
  ];
}

async function examineKeys(read: NonNullable<DoctorParts['licenceKeys']>): Promise<Finding[]> {
  const keys = await read();
  const usable = keys.private.filter((kid) => keys.published.includes(kid));
  const found = `${usable.length} of ${keys.private.length} private keys are published`;
  return [
    judge(
      'licence keys',
      found,
      usable.length === 0 && 'fail',
      'No key can sign: start an API process with LICENCE_KEYS set, which publishes them.',
    ),
  ];
}

async function examinePepper({ database }: SettlementDeps, previousId: string): Promise<Finding[]> {
  const left = await countHashesUnder(database, previousId);
  if (left.length === 0) {
    const advice = 'The rotation is complete: remove API_KEY_PEPPER_PREVIOUS and restart the API processes.';
    return [judge('pepper', 'no active credential is left under the previous one', 'warn', advice)];
  }
  const found = `active and under the previous one or an unknown one: ${left.map(({ kind, count }) => `${count} ${kind}`).join(', ')}`;
  const advice = 'Each moves when it is next used; reissue or revoke unused ones. Keep API_KEY_PEPPER_PREVIOUS until then.';
  return [judge('pepper', found, 'warn', advice)];
}

async function examineSecrets({ database }: SettlementDeps, keyId: string): Promise<Finding[]> {
  const left = await countSecretsNotUnder(database, keyId);
  const found = `${left} sealed secrets are not known to be under SECRETS_KEY`;
  const advice =
    left === 0
      ? 'The rotation is complete: remove SECRETS_KEY_PREVIOUS and restart the API and worker processes.'
      : 'Run `admin secrets rotate`. Keep SECRETS_KEY_PREVIOUS until then.';
  return [judge('secrets key', found, 'warn', advice)];
}

const ROUTER_ADVICE = {
  installed: '',
  absent: 'Install it: `admin router deploy <network>`; no process starts without it. See the runbook: The router.',
  differs: 'It is not the router of this version: its splits have other addresses. Correct `router` in NETWORKS.',
} as const;

async function examineRouter(deps: SettlementDeps, networkId: string): Promise<Finding[]> {
  const { configured, state } = await reportRouter(deps, networkId);
  const problem = state === 'absent' ? 'fail' : state === 'differs' && 'warn';
  return [judge(`router ${networkId}`, `${configured}: ${state}`, problem, ROUTER_ADVICE[state])];
}

/** The URLs by their places in NETWORKS: an address may hold a key. */
async function examineNodes(deps: SettlementDeps, networkId: string): Promise<Finding[]> {
  const reports = (await deps.rpcOf(networkId).nodes?.()) ?? [];
  return reports.map(({ node, state, behindBlocks, disagrees }) =>
    judge(
      `rpc ${networkId} ${node}`,
      `${state}, ${behindBlocks ?? '?'} blocks behind the best one${disagrees ? ', another safe block than the others' : ''}`,
      disagrees ? 'fail' : (state !== 'up' || (behindBlocks ?? 0) > LATE_BLOCKS) && 'warn',
      state === 'foreign'
        ? 'It answers for another chain: correct rpcUrls in NETWORKS.'
        : 'See the runbook: RpcNodeAway, RpcNodeBehind, RpcNodesDisagree.',
    ),
  );
}

async function examineChain(deps: SettlementDeps, networkId: string): Promise<Finding[]> {
  const network = deps.networks.get(networkId);
  const rpc = deps.rpcOf(networkId);
  await verifyNetwork(network, rpc);
  const behindSeconds = Math.round(deps.now() / 1_000 - Number(await blockTimeSeconds(rpc, 'latest')));
  const findings = [
    judge(
      `chain ${networkId}`,
      `the newest block is ${behindSeconds} s old`,
      behindSeconds > 120 && 'warn',
      'The node lags behind: ask another one, or wait until it has caught up.',
    ),
  ];
  return [...findings, ...(await examineNodes(deps, networkId))];
}

async function examineRelayers(deps: SettlementDeps, networkId: string): Promise<Finding[]> {
  const network = deps.networks.get(networkId);
  const rpc = deps.rpcOf(networkId);
  const relayers = (await listRelayers(deps.database)).filter((one) => one.network === networkId);
  // What a settlement needs at today's fees: with less, payments wait.
  const neededWei = settlementCost(network, await baseFeeOf(rpc));
  const enoughWei = LEAST_SETTLEMENTS * neededWei;
  const judgeGas = async (address: `0x${string}`, isRetired: boolean): Promise<Finding> => {
    const wei = await gasBalance(rpc, address);
    const problem = wei < neededWei ? 'fail' : wei < enoughWei && 'warn';
    const advice = `Send at least ${enoughWei - wei} wei of the chain's own coin to ${address} on ${networkId}${problem === 'fail' ? ': until then payments there wait' : ''}.`;
    const left = neededWei === 0n ? 'enough' : `${wei / neededWei}`;
    return judge(
      `relayer ${address} on ${networkId}`,
      `${wei} wei for gas: ${left} settlements at this fee`,
      !isRetired && problem,
      advice,
    );
  };
  // A key of the configuration has no row before the first worker starts, and needs its gas by then.
  const unheard = deps.relayersOf(networkId).filter((key) => !relayers.some(({ address }) => address === key.address));
  const findings = await Promise.all(unheard.map(({ address }) => judgeGas(address, false)));
  for (const relayer of relayers) {
    const address = relayer.address as `0x${string}`;
    const count = await transactionCount(rpc, address, 'latest');
    const check = `relayer ${relayer.address} on ${networkId}`;
    const isRetired = relayer.pausedReason !== null;
    findings.push(
      await judgeGas(address, isRetired),
      judge(
        check,
        `the chain is at nonce ${count}, we are at ${relayer.nextNonce}`,
        BigInt(count) > relayer.nextNonce && 'fail',
        'The chain is ahead: a restored backup, or the key was used elsewhere. Run `admin recover` before the worker.',
      ),
      judge(
        check,
        relayer.pausedReason ?? 'takes batches',
        isRetired && 'warn',
        '`admin relayer add` lets it take batches again.',
      ),
    );
  }
  return findings;
}
