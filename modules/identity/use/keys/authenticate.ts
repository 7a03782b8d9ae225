import type { Database } from '../../../../db/database.ts';
import { noteLogFields } from '../../../../platform/telemetry/logFields.ts';
import type { CredentialHash, Pepper } from '../../../../platform/tokens/pepper.ts';
import type { KeyState, Scope } from '../../../kernel/access/key.ts';
import { findRefusal, requireAccess } from '../../../kernel/access/key.ts';
import { isServiceError, ServiceError } from '../../../kernel/errors.ts';
import { parseResource } from '../../../kernel/hosts/host.ts';
import type { Metrics } from '../../../kernel/metrics.ts';
import type { KeyAtEpoch } from '../../store/keys.ts';
import { hasLostScope } from '../../store/keys.ts';
import type { Snapshots, TenantSnapshot } from '../tenantSnapshots.ts';
import type { EpochRead } from './accessEpoch.ts';
import { openMemory, readEpoch } from './accessEpoch.ts';
import type { CredentialDeps } from './keys.ts';
import { findKey, findKeyAtEpoch, publisherHash } from './keys.ts';
import type { KeyUse } from './keyUse.ts';
import type { Rehash } from './rehash.ts';

/** What may be heard of a host: that its gate asked or paid, or why it could not. */
export type Sign = 'quoted' | 'verifyCalled' | 'observed' | 'keyRejected' | 'planGated' | 'failedOpen';

/** What letting the bearer of a publisher key in needs. */
export interface CallerDeps {
  readonly database: Database;
  readonly snapshots: Snapshots;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly pepper: Pepper;
  /** Moves keys found under the previous pepper. */
  readonly rehash?: Pick<Rehash, 'note'>;
  readonly testKeysEnabled: boolean;
  /** Where signs of hosts' gates are noted; host '' for a refused key that named none. Never throws, never waits. */
  readonly liveness: { note(tenantId: string, host: string, sign: Sign): void };
  /** Where it is noted that a key was let in. */
  readonly keyUse?: Pick<KeyUse, 'note'>;
  readonly metrics?: Metrics;
}

/**
 * Where the state of a key may come from: the copy in memory (quote, observe), Postgres in the call (`now`), or memory that Postgres
 * confirms in the call (`epoch`).
 */
export type Freshness = 'snapshot' | 'now' | 'epoch';

/** What a key must be able to do; `orLost`: or could, until a host of its site was verified. */
export interface KeyAccess {
  readonly scope: Scope;
  readonly freshness: Freshness;
  readonly orLost?: true;
}

/** A caller that was let in, with its site as it is. */
export interface Caller {
  readonly key: KeyState;
  readonly tenant: TenantSnapshot;
  /** The access epoch of the site that the key was let in at, where it was read. */
  readonly epochRead?: EpochRead;
}

/**
 * Lets the bearer of a publisher key in. Throws unknown_credential (401), plan_gate, site_suspended,
 * scope_missing (403) in the order of `requireAccess`, and database_unavailable. With `orLost` a key that had the scope until a host
 * of its site was verified is let in too, without it. A dead or plan-gated key is noted as rejected, for the host of `resource`
 * when that is the site's.
 */
export async function authenticateKey(
  deps: CallerDeps,
  token: string,
  access: KeyAccess,
  resource: string | null,
): Promise<Caller> {
  const { state, epochRead } = await stateOf(deps, token, access.freshness);
  if (state) noteLogFields({ tenantId: state.tenantId });
  let key: KeyState;
  try {
    key = await letIn(deps, state, access);
  } catch (error) {
    if (isServiceError(error) && error.code === 'plan_gate') deps.metrics?.count('svc.plan_gate.denied');
    if (state) await noteRejection(deps, state, error, resource);
    throw error;
  }
  const tenant = await deps.snapshots.tenant(key.tenantId, key.version);
  if (!tenant) throw new ServiceError('unknown_credential', 'the API key is not recognised');
  deps.keyUse?.note(key);
  return { key, tenant, ...(epochRead === undefined ? {} : { epochRead }) };
}

/** The key of this bearer, of a site that is not closed, whatever its plan and scopes. Throws unknown_credential, database_unavailable. */
export async function requireLiveKey(
  deps: CredentialDeps & Pick<CallerDeps, 'database' | 'clock' | 'testKeysEnabled' | 'rehash'>,
  token: string,
): Promise<KeyState> {
  const key = await findKey(deps, token);
  const refusal = findRefusal(key, 'tenant.read', deps.clock());
  if (!key || refusal?.[0] === 'unknown_credential')
    throw new ServiceError('unknown_credential', 'the API key is not recognised');
  return key;
}

const HELD_KEYS = 20_000;
/** Keys with the epoch they were read at. */
const heldKeys = openMemory<KeyAtEpoch>(HELD_KEYS);

/**
 * The bearer of the publisher key of this hash, from memory, when the epoch of its site says in this call that nothing was taken away since;
 * null for whatever else, which `authenticateKey` decides and explains. `count` is told of the key before Postgres is asked. For license
 * checks and payments (epoch freshness).
 */
export async function authenticateProven(
  deps: Pick<CallerDeps, 'database' | 'snapshots' | 'clock' | 'keyUse'>,
  keyHash: CredentialHash,
  scope: Scope,
  count: (key: KeyState) => void,
): Promise<Caller | null> {
  const held = heldKeys(deps.database).get(keyHash.current.toString('latin1'));
  if (!held || findRefusal(held.state, scope, deps.clock())) return null;
  const { state: key } = held;
  noteLogFields({ tenantId: key.tenantId });
  count(key);
  const atMs = performance.now();
  const epoch = await readEpoch(deps.database, key.tenantId);
  if (epoch !== held.epoch) return null;
  const tenant = deps.snapshots.heldTenant(key.tenantId, key.version) ?? (await deps.snapshots.tenant(key.tenantId, key.version));
  if (tenant) deps.keyUse?.note(key);
  return tenant && { key, tenant, epochRead: { epoch, atMs } };
}

/**
 * The bearer of the publisher key of this hash, when what is held in memory lets it in right now; null for whatever else, which `authenticateKey`
 * decides and explains. For quotes (snapshot freshness).
 */
export function authenticateHeld(
  deps: Pick<CallerDeps, 'snapshots' | 'clock' | 'keyUse'>,
  keyHash: CredentialHash,
  scope: Scope,
): Caller | null {
  const key = deps.snapshots.heldKey(keyHash);
  if (!key || findRefusal(key, scope, deps.clock())) return null;
  const tenant = deps.snapshots.heldTenant(key.tenantId, key.version);
  if (tenant) deps.keyUse?.note(key);
  return tenant && { key, tenant };
}

async function letIn(
  deps: CallerDeps,
  state: KeyState | null,
  { scope, orLost }: Pick<KeyAccess, 'scope' | 'orLost'>,
): Promise<KeyState> {
  try {
    return requireAccess(state, scope, deps.clock());
  } catch (error) {
    const isScope = error instanceof ServiceError && error.code === 'scope_missing';
    if (!isScope || !state || orLost === undefined) throw error;
    if (!(await hasLostScope(deps.database, state, scope))) throw error;
    return state;
  }
}

/** What a credential stands for, with the epoch it was read at where that was asked. */
interface Read {
  readonly state: KeyState | null;
  readonly epochRead?: EpochRead;
}

async function stateOf(deps: CallerDeps, token: string, freshness: Freshness): Promise<Read> {
  if (freshness === 'now') return { state: await findKey(deps, token) };
  const keyHash = publisherHash(deps.pepper, token, deps.testKeysEnabled);
  if (!keyHash) return { state: null };
  return freshness === 'epoch' ? readAndHold(deps, keyHash) : { state: await deps.snapshots.key(keyHash) };
}

/** Reads a key and remembers it with its epoch; one that is unknown is not remembered. */
async function readAndHold(deps: CallerDeps, keyHash: CredentialHash): Promise<Read> {
  const held = heldKeys(deps.database);
  const name = keyHash.current.toString('latin1');
  const atMs = performance.now();
  const read = await findKeyAtEpoch(deps, keyHash);
  if (read) held.set(name, read);
  else held.delete(name);
  return read ? { state: read.state, epochRead: { epoch: read.epoch, atMs } } : { state: null };
}

const REJECTIONS: ReadonlyMap<string, Sign> = new Map([
  ['unknown_credential', 'keyRejected'],
  ['plan_gate', 'planGated'],
]);

async function noteRejection(deps: CallerDeps, key: KeyState, error: unknown, resource: string | null): Promise<void> {
  const sign = isServiceError(error) ? REJECTIONS.get(error.code) : undefined;
  if (!sign) return;
  const host = resource === null ? null : (parseResource(resource)?.host ?? null);
  const tenant = host === null ? null : await deps.snapshots.tenant(key.tenantId);
  deps.liveness.note(key.tenantId, host !== null && tenant?.hosts.includes(host) ? host : '', sign);
}
