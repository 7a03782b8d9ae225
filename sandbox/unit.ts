import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { findChainIdentity, minedNonceOf, recordChainIdentity } from '../db/chainIdentity.ts';
import { openDatabase } from '../db/database.ts';
import { SchemaTooOld } from '../db/migrate.ts';
import type { Address } from '../modules/kernel/money/legs.ts';
import { firstDayOf } from './history/past.ts';
import type { Lifetime } from './lifetime.ts';
import type { SandboxOptions } from './options.ts';
import type { Chain } from './parts/chain.ts';
import { ChainStateUnreadable, startChain } from './parts/chain.ts';
import type { PreparedChain } from './parts/chain-setup.ts';
import { prepareChain } from './parts/chain-setup.ts';
import type { Postgres } from './parts/postgres/postgres.ts';
import { startPostgres } from './parts/postgres/postgres.ts';
import type { Progress } from './parts/progress.mjs';
import { findMismatch, isHistoryOpen, openHistory, readChainFacts, stateFolders, wipeState } from './parts/state.ts';
import type { Temporal } from './parts/temporal.ts';
import type { Waits } from './print.ts';
import type { TemporalStart, Topology } from './topology.ts';

/** Postgres, Temporal and chain, which belong together: what one knows of the others holds. */
export interface Unit {
  readonly postgres: Postgres;
  readonly temporal: Temporal;
  readonly chain: Chain & PreparedChain;
  /** The chain began in the past in this run, and waits for its history to be written. */
  readonly isPast: boolean;
}

/** What the unit is started with. */
interface UnitStart {
  readonly options: SandboxOptions;
  readonly topology: Topology;
  readonly relayer: Address;
  readonly say: Progress;
  readonly waits: Waits;
  readonly lifetime: Lifetime;
}

/** The network the sandbox plays. */
export const SANDBOX_NETWORK = 'eip155:84532';

/** The contracts are there before the first day is. */
const BEFORE_MS = 3_600_000;

interface Parts {
  readonly postgres: Postgres;
  readonly temporal: Temporal;
  readonly chain: Chain;
}

/**
 * Starts the three parts on what an earlier run left, or anew, with the schema up to date and the contracts in place. When
 * chain and database do not know each other, all three are wiped and started once more, and `progress` is told why.
 */
export async function startUnit(start: UnitStart): Promise<Unit> {
  const { options, relayer, say } = start;
  const folders = stateFolders(options.folder);
  let parts: Parts;
  try {
    parts = await startParts(start);
  } catch (error) {
    if (!(error instanceof ChainStateUnreadable)) throw error;
    wipeState(folders, error.message, say);
    parts = await startParts(start);
  }
  try {
    const mismatch = await matchParts(parts, start);
    if (mismatch !== null) {
      await stopParts(parts);
      wipeState(folders, mismatch, say);
      parts = await startParts(start);
      const again = await matchParts(parts, start);
      if (again !== null) throw new Error(`new data, and yet ${again}`);
    }
    const prepared = await prepareChain({ rpcUrl: parts.chain.rpcUrl, relayers: [relayer] });
    await rememberChain(parts, prepared.router, relayer);
    keepParts(parts, start);
    const isPast = isHistoryOpen(stateFolders(options.folder));
    return { ...parts, chain: { ...parts.chain, ...prepared }, isPast };
  } catch (error) {
    await stopParts(parts);
    throw error;
  }
}

async function startParts(start: UnitStart): Promise<Parts> {
  const { options, waits } = start;
  mkdirSync(stateFolders(options.folder).temporal, { recursive: true });
  const postgresStart = startPostgresPart(start, options.ports.postgres);
  const starts = [
    waits.until('Postgres', () => postgresStart),
    waits.until('Temporal', (progress) =>
      startTemporalPart(start, {
        postgres: postgresStart,
        port: options.ports.temporal,
        uiPort: options.ports.temporalUi,
        progress,
      }),
    ),
    waits.until('the chain', () => startChainPart(start, options.ports.chain)),
  ] as const;
  const outcomes = await Promise.allSettled(starts);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) {
    await Promise.all(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.stop() : null)));
    throw failure.reason;
  }
  const [postgres, temporal, chain] = await Promise.all(starts);
  return { postgres, temporal, chain };
}

function startPostgresPart({ options, topology }: UnitStart, port: number): Promise<Postgres> {
  const { postgresSettings: settings, archive } = topology;
  return startPostgres({ folder: stateFolders(options.folder).postgres, port, settings, archive });
}

function startTemporalPart({ options, topology }: UnitStart, how: Omit<TemporalStart, 'options' | 'folder'>): Promise<Temporal> {
  return topology.startTemporal({ options, folder: stateFolders(options.folder).temporal, ...how });
}

/** A chain that begins does so where its history will. */
function startChainPart({ options, topology }: Pick<UnitStart, 'options' | 'topology'>, port: number): Promise<Chain> {
  const folders = stateFolders(options.folder);
  const isNew = options.history && topology.history && !existsSync(folders.chain);
  if (isNew) openHistory(folders);
  const beginsAt = (firstDayOf(Date.now()) - BEFORE_MS) / 1_000;
  return startChain({ folder: folders.chain, port, keep: true, ...(isNew ? { beginsAt } : {}) });
}

/** A part that dies comes back where it was; at another port it is of no use, since the others know the old one. */
function keepParts({ postgres, temporal, chain }: Parts, start: UnitStart): void {
  const { lifetime } = start;
  lifetime.keep(0, postgres, () => atSamePort(startPostgresPart(start, postgres.port), ({ port }) => port === postgres.port));
  lifetime.keep(0, chain, () => atSamePort(startChainPart(start, chain.port), ({ port }) => port === chain.port));
  const portOf = (url: string | null): number => Number(url?.split(':').at(-1) ?? 0);
  lifetime.keep(0, temporal, () => {
    const ports = { port: portOf(temporal.address), uiPort: portOf(temporal.uiUrl) };
    const again = startTemporalPart(start, { ...ports, postgres: Promise.resolve(postgres), progress: start.say });
    return atSamePort(again, ({ address }) => address === temporal.address);
  });
}

async function atSamePort<T extends { stop(): Promise<void> }>(start: Promise<T>, isSame: (part: T) => boolean): Promise<T> {
  const part = await start;
  if (isSame(part)) return part;
  await part.stop();
  throw new Error('its port was taken meanwhile');
}

async function stopParts({ postgres, temporal, chain }: Parts): Promise<void> {
  await Promise.all([postgres.stop(), temporal.stop(), chain.stop()]);
}

/** Brings the schema up to date and says why this data is of no use: its schema is too old, or its chain another; null when it is of use. */
async function matchParts({ postgres, chain }: Parts, { topology, relayer }: UnitStart): Promise<string | null> {
  try {
    await topology.migrate(postgres.ownerUrl);
  } catch (error) {
    if (error instanceof SchemaTooOld) return error.message;
    throw error;
  }
  const database = await openDatabase({ url: postgres.appUrl, poolSize: 2 });
  try {
    const known = await findChainIdentity(database, SANDBOX_NETWORK);
    if (known === null) return null;
    const facts = await readChainFacts(chain.rpcUrl, known.router, relayer);
    return findMismatch(
      { ...facts, routerCode: hashOf(facts.routerCode) },
      {
        chainId: Number(SANDBOX_NETWORK.split(':')[1]),
        genesisHash: known.genesisHash,
        routerCode: known.routerCodeHash,
        minimumRelayerNonce: await minedNonceOf(database, SANDBOX_NETWORK, relayer),
      },
    );
  } finally {
    await database.close();
  }
}

async function rememberChain({ postgres, chain }: Parts, router: Address, relayer: Address): Promise<void> {
  const { genesisHash, routerCode } = await readChainFacts(chain.rpcUrl, router, relayer);
  const database = await openDatabase({ url: postgres.appUrl, poolSize: 2 });
  try {
    const identity = { network: SANDBOX_NETWORK, genesisHash, router, routerCodeHash: hashOf(routerCode) };
    await recordChainIdentity(database, identity);
  } finally {
    await database.close();
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code.toLowerCase()).digest('hex');
}
