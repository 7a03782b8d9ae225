import { Client, Connection } from '@temporalio/client';
import { Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../db/database.ts';
import { listSigningKeys } from '../../modules/identity/store/signingKeys.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { listAlerts } from '../../modules/operations/store/operations.ts';
import { settleAlerts } from '../../modules/operations/use/alerts.ts';
import type { TemporalFacts } from '../../modules/operations/use/doctor.ts';
import { examineSystem } from '../../modules/operations/use/doctor.ts';
import { reportLicenceKeys, retireLicenceKey } from '../../modules/operations/use/licenceKeys.ts';
import { recoverNetwork } from '../../modules/operations/use/recoverNetwork.ts';
import { reportNonce, setNonce } from '../../modules/operations/use/relayerNonce.ts';
import {
  addRelayer,
  rebroadcastPayment,
  reportRelayers,
  retireRelayer,
  voidNonce,
} from '../../modules/operations/use/relayers.ts';
import { closeReview } from '../../modules/operations/use/review.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { createLog } from '../../platform/telemetry/log.ts';
import { missingAttributes } from '../../platform/temporal/namespace.ts';
import { pausedSchedules } from '../../platform/temporal/schedules.ts';
import { publicHalf } from '../../platform/tokens/jws.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import type { readAdminConfig } from '../../process/config.ts';
import { openRelayerKeys } from '../../process/relayerKeys.ts';
import { createSettlementDeps } from '../../process/settlement.ts';
import { TASK_QUEUE } from '../../process/taskQueue.ts';
import { temporalServerOf } from '../../process/temporal.ts';
import { VERSION } from '../../process/version.ts';
import { parseId, parseWallet } from './options.ts';
import { routerCommands } from './router.ts';
import type { Surroundings } from './surroundings.ts';

type AdminConfig = ReturnType<typeof readAdminConfig>;
type Opened = { readonly database: Database; readonly config: AdminConfig };

const DAY_SECONDS = 86_400;
/** A poll lasts a minute; Temporal remembers for five who polled. */
const POLL_LIMIT_MS = 90_000;

/** Commands that keep the service going: examine, recover, relayer keys, alerts. They print JSON; bigints as text. */
export function operationCommands({ open, print, operator }: Surroundings): Command[] {
  const show = (value: unknown): void =>
    print(JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one))));
  const doctor = new Command('doctor')
    .description('Checks every part and says what to do; exit code 1 when something failed, 0 otherwise.')
    .action(async () => {
      const opened = await open();
      const findings = await withSettlement(opened, (settlement) =>
        examineSystem({
          settlement,
          temporal: temporalOf(opened.config),
          licenceKeys: licenceKeysOf(opened),
          pepper: pepperOf(opened.config),
          secretBox: opened.config.secretsKeyPrevious ? createSecretBox(opened.config.secretsKey) : null,
          version: VERSION,
        }),
      );
      show({ ok: findings.every(({ state }) => state !== 'fail'), findings });
      if (findings.some(({ state }) => state === 'fail')) process.exitCode = 1;
    });
  const recover = new Command('recover')
    .description(
      "After a restore: adopts the chain's nonces, reads the chain, lists money that no row explains. Decides nothing.",
    )
    .action(async () => {
      await withSettlement(await open(), async (settlement) => {
        const networks = [];
        for (const network of settlement.networks.ids) networks.push(await recoverNetwork(settlement, network));
        show({ networks });
      });
    });
  const router = routerCommands({ show, withSettlement: async (work) => withSettlement(await open(), work) });
  const shown = { open, operator, print: show };
  return [doctor, recover, router, relayerCommands(shown), licenceKeyCommands(shown), alertCommands(shown)];
}

/** Commands of one payment or network that need the chain. */
export function addChainCommands(payment: Command, { open, print, operator }: Surroundings): void {
  payment
    .command('rebroadcast <paymentId>')
    .description("Sends the stored bytes of the payment's batch once more: the same bytes.")
    .action(async (paymentId: string) => {
      await withSettlement(await open(), async (settlement) => {
        print({ paymentId, done: await rebroadcastPayment(settlement, parseId(paymentId)) });
      });
    });
  payment
    .command('close-review <paymentId>')
    .description(
      'Ends a review that no evidence decides, after reading the evidence again; decides nothing, and recheck opens it.',
    )
    .requiredOption('--reason <text>', 'what you found; the site reads it in its audit log')
    .action(async (paymentId: string, { reason }: { reason: string }) => {
      await withSettlement(await open(), async (settlement) => {
        print(await closeReview(settlement, { actor: operator(), paymentId: parseId(paymentId), reason }));
      });
    });
  payment
    .command('flush <network>')
    .description(
      'Pays out every split of a network whose balance is worth the gas, also for sites that have spent today’s budget.',
    )
    .action(async (network: string) => {
      await withSettlement(await open(), async (settlement) => {
        print({ network, flushes: await flushSplits(settlement, settlement.networks.get(network).id, { isOrdered: true }) });
      });
    });
}

function relayerCommands({ open, operator, print: show }: Surroundings): Command {
  const order = (network: string, address: string) => ({ actor: operator(), network, address: parseWallet(address) });
  const relayer = new Command('relayer').description('Keys that pay gas; private keys come from RELAYER_PRIVATE_KEYS only.');
  relayer
    .command('list')
    .description('Balance, nonces and batches of every key.')
    .action(async () => {
      await withSettlement(await open(), async (settlement) => show({ relayers: await reportRelayers(settlement) }));
    });
  relayer
    .command('add <network> <address>')
    .description('Lets a key take batches; its private key must be set here and at the workers.')
    .action(async (network: string, address: string) => {
      await withSettlement(await open(), (settlement) => addRelayer(settlement, order(network, address)));
      show({ network, address, state: 'takes batches' });
    });
  relayer
    .command('retire <network> <address>')
    .description('No new batches for a key; keep its private key until unfinishedBatches is 0.')
    .action(async (network: string, address: string) => {
      show(await withSettlement(await open(), (settlement) => retireRelayer(settlement, order(network, address))));
    });
  relayer
    .command('void-nonce <network> <address> <nonce>')
    .description('Fills a nonce that blocks a queue with a transfer of nothing; decides no payment.')
    .action(async (network: string, address: string, text: string) => {
      const nonce = parseNonce(text);
      const done = await withSettlement(await open(), (settlement) => voidNonce(settlement, order(network, address), nonce));
      show({ network, address, nonce, done });
    });
  relayer
    .command('nonce <network> <address>')
    .description(
      'A key’s nonce on chain, and the nonce its next batch should take; --set applies it, and releases what is behind it.',
    )
    .option('--set <nonce>', 'the freeNonce that the command shows', parseNonce)
    .action(async (network: string, address: string, { set }: { set?: bigint }) => {
      const wallet = parseWallet(address);
      const report = await withSettlement(await open(), (settlement) =>
        set === undefined ? reportNonce(settlement, network, wallet) : setNonce(settlement, order(network, address), set),
      );
      show({ network, address, ...report });
    });
  return relayer;
}

function licenceKeyCommands({ open, operator, print: show }: Surroundings): Command {
  const keys = new Command('licence-key').description('Keys that sign licences; private keys come from LICENCE_KEYS only.');
  keys
    .command('list')
    .description('Which key signs now, which will, and which are retired.')
    .action(async () => show({ keys: await reportLicenceKeys(await open(), new Date()) }));
  keys
    .command('retire <kid>')
    .description('Ends a key for good, and with it every licence and link that it signed. Refused for the one that signs now.')
    .option('--stolen', 'also the one that signs now: the next one that is published signs at once')
    .allowUnknownOption() // an id may begin with a dash
    .action(async (kid: string, { stolen }: { stolen?: true }) => {
      const deps = { database: (await open()).database, clock: Date.now };
      show(await retireLicenceKey(deps, operator(), { kid, isStolen: stolen === true }));
    });
  return keys;
}

function alertCommands({ open, operator, print: show }: Surroundings): Command {
  const alert = new Command('alert').description('What the service told its operator.');
  alert
    .command('list')
    .description('Open alerts by kind, with an example.')
    .action(async () => show({ alerts: await listAlerts((await open()).database) }));
  alert
    .command('resolve <kind>')
    .description('Marks the open alerts of a kind as dealt with.')
    .action(async (kind: string) => show({ kind, resolved: await settleAlerts(await open(), operator(), kind) }));
  return alert;
}

/** Runs a command with settlement's parts, and closes their connections to the chain. */
async function withSettlement<T>({ database, config }: Opened, work: (settlement: SettlementDeps) => Promise<T>): Promise<T> {
  const { networks } = config;
  if (networks === undefined) throw new ServiceError('invalid_parameter', 'NETWORKS must be set for this command');
  const relayers = await openRelayerKeys(config);
  const log = createLog({ level: 'silent', name: 'admin' });
  const settlement = createSettlementDeps({ ...config, networks }, database, log, { relayers });
  try {
    return await work(settlement);
  } finally {
    for (const network of settlement.networks.ids) await settlement.rpcOf(network).close();
  }
}

function temporalOf(config: AdminConfig): (() => Promise<TemporalFacts>) | null {
  const { temporalAddress, temporalNamespace: namespace } = config;
  if (temporalAddress === undefined) return null;
  return async () => {
    const server = temporalServerOf({ ...config, temporalAddress });
    const connection = await Connection.connect({ ...server, connectTimeout: '3s' });
    try {
      const { workflowService } = connection;
      const { serverVersion } = await workflowService.getSystemInfo({});
      const described = await workflowService.describeNamespace({ namespace }).catch(() => null);
      const queue = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType: 1 };
      const polls = described ? ((await workflowService.describeTaskQueue(queue)).pollers ?? []) : [];
      const pollers = polls.filter(
        ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < POLL_LIMIT_MS,
      );
      const seconds = described?.config?.workflowExecutionRetentionTtl?.seconds;
      return {
        version: serverVersion ?? '',
        retentionDays: described ? Number(seconds ?? 0) / DAY_SECONDS : null,
        missingAttributes: described ? await missingAttributes(connection, namespace) : [],
        paused: described ? await pausedSchedules(new Client({ connection, namespace })) : [],
        pollers: pollers.length,
      };
    } finally {
      await connection.close();
    }
  };
}

function licenceKeysOf({ database, config }: Opened) {
  const { licenceKeys } = config;
  if (licenceKeys === undefined) return null;
  return async () => ({
    private: (await Promise.all(licenceKeys.map(publicHalf))).map(({ kid }) => kid),
    published: (await listSigningKeys(database)).filter(({ retiredAtMs }) => retiredAtMs === null).map(({ kid }) => kid),
  });
}

function parseNonce(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('A whole number from 0.');
  return BigInt(text);
}
