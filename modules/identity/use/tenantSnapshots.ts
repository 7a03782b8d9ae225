import { LRUCache } from 'lru-cache';
import type { Database } from '../../../db/database.ts';
import type { CredentialHash } from '../../../platform/tokens/pepper.ts';
import type { KeyState, Plan, TenantStatus } from '../../kernel/access/key.ts';
import type { Log } from '../../kernel/log.ts';
import { DEFAULT_FORMS } from '../../kernel/pages/forms.ts';
import type { Destination } from '../../kernel/terms.ts';
import type { CompiledPricing } from '../../pricing/rules/pricing.ts';
import { compilePricing, PRICING_GRACE_MS } from '../../pricing/rules/pricing.ts';
import { listKeyStates } from '../store/keys.ts';
import type { TenantListener } from '../store/tenantSnapshots.ts';
import { findTenant, listBlockedPayees, listenForTenants, listTenantVersions } from '../store/tenantSnapshots.ts';
import { findKeyByHash } from './keys/keys.ts';
import type { Rehash } from './keys/rehash.ts';

/** A tenant as held in memory: what a quote needs, compiled. Times in epoch milliseconds. */
export interface TenantSnapshot {
  readonly tenantId: string;
  readonly version: number;
  readonly status: TenantStatus;
  readonly plan: Plan | null;
  readonly licenseIssuer: string | null;
  /** CAIP-2 ids of the networks its owner chose; null: never chosen (modules/tenants/use/networks.ts). */
  readonly networks: readonly string[] | null;
  /** Verified hosts, the default one first. */
  readonly hosts: readonly string[];
  /** What other addresses of an article add to its own (modules/kernel/pages/forms.ts). */
  readonly forms: readonly string[];
  /** Newest first; those in force at some moment of the last 10 minutes, and the present one. */
  readonly pricings: readonly PricingVersion[];
}

/** One pricing version and when it was in force. */
export interface PricingVersion {
  readonly version: number;
  readonly pricing: CompiledPricing;
  readonly validFromMs: number;
  readonly validUntilMs: number | null;
}

/** Keys and tenants in memory, at most `maxAgeMs` behind Postgres (safety 24). All reject with database_unavailable. */
export interface Snapshots {
  /** The key with this hash, for quote and observe only; null when it was never issued. */
  key(hash: CredentialHash): Promise<KeyState | null>;
  /** A tenant; `version` asks for at least that one. Null when there is none. */
  tenant(tenantId: string, version?: number): Promise<TenantSnapshot | null>;
  /** `key` from memory alone; null when it is not held or not proven lately. */
  heldKey(hash: CredentialHash): KeyState | null;
  /** `tenant` from memory alone; null when it is not held, not proven lately, or older than `version`. */
  heldTenant(tenantId: string, version: number): TenantSnapshot | null;
  /** A tenant with the pricing versions that could be paid for at a past moment, read from Postgres. */
  tenantAsOf(tenantId: string, atMs: number): Promise<TenantSnapshot | null>;
  /** True when a transfer to this recipient reverted on this network and was not yet seen to work again (safety 18). */
  isBlocked(destination: Pick<Destination, 'network' | 'payTo'>): boolean;
  close(): Promise<void>;
}

/** What snapshots are made from. */
export interface SnapshotOptions {
  readonly database: Database;
  /** Postgres without a pooler, for LISTEN. */
  readonly directUrl: string;
  /** CAIP-2 ids of the networks whose blocked recipients are held. */
  readonly networkIds: readonly string[];
  readonly priceFloorMicro: bigint;
  readonly clock: () => number;
  readonly log: Log;
  readonly rehash?: Pick<Rehash, 'note'>;
  readonly pollMs?: number;
  readonly maxAgeMs?: number;
}

interface Held<T> {
  readonly value: T;
  /** When the read that proved the value began. */
  provenAtMs: number;
}

const MAX_HELD = 20_000;
const RELISTEN_MS = 1_000;

/**
 * Opens the in-memory copies: filled when first asked, dropped on NOTIFY, and compared with Postgres at every poll; a copy that
 * no read confirmed for `maxAgeMs` is read again before it is used. Rejects when the database cannot be reached.
 */
export async function openSnapshots(options: SnapshotOptions): Promise<Snapshots> {
  const snapshots = new HeldSnapshots(options);
  await snapshots.poll();
  snapshots.start();
  return snapshots;
}

class HeldSnapshots implements Snapshots {
  readonly #options: SnapshotOptions;
  readonly #maxAgeMs: number;
  /** By the hash under the present pepper, wherever the key stands. */
  readonly #keys = new LRUCache<string, Held<KeyState>>({ max: MAX_HELD });
  readonly #tenants = new LRUCache<string, Held<TenantSnapshot>>({ max: MAX_HELD });
  readonly #loading = new Map<string, Promise<unknown>>();
  /** When a tenant was last heard to change: what was read before is not kept. */
  readonly #changedAtMs = new LRUCache<string, number>({ max: MAX_HELD });
  #blocked: ReadonlySet<string> = new Set();
  #listener: TenantListener | null = null;
  #timer: NodeJS.Timeout | null = null;
  #relisten: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#maxAgeMs = options.maxAgeMs ?? 2_000;
  }

  start(): void {
    this.#schedule();
    void this.#listen();
  }

  heldKey(hash: CredentialHash): KeyState | null {
    const held = this.#keys.get(hash.current.toString('hex'));
    return held && this.#isFresh(held) ? held.value : null;
  }

  heldTenant(tenantId: string, version: number): TenantSnapshot | null {
    const held = this.#tenants.get(tenantId);
    return held && this.#isFresh(held) && held.value.version >= version ? held.value : null;
  }

  async key(hash: CredentialHash): Promise<KeyState | null> {
    const held = this.heldKey(hash);
    if (held) return held;
    const id = hash.current.toString('hex');
    return this.#once(`key ${id}`, async () => {
      const provenAtMs = this.#options.clock();
      const value = await findKeyByHash(this.#options, hash);
      if (value && !this.#changedSince(value.tenantId, provenAtMs)) this.#keys.set(id, { value, provenAtMs });
      else this.#keys.delete(id);
      return value;
    });
  }

  async tenant(tenantId: string, version = 0): Promise<TenantSnapshot | null> {
    const held = this.heldTenant(tenantId, version);
    if (held) return held;
    return this.#once(`tenant ${tenantId} ${version}`, async () => {
      const provenAtMs = this.#options.clock();
      const value = await this.#readTenant(tenantId, provenAtMs);
      if (value && !this.#changedSince(tenantId, provenAtMs)) this.#tenants.set(tenantId, { value, provenAtMs });
      else this.#tenants.delete(tenantId);
      return value;
    });
  }

  tenantAsOf(tenantId: string, atMs: number): Promise<TenantSnapshot | null> {
    return this.#readTenant(tenantId, atMs);
  }

  isBlocked({ network, payTo }: Pick<Destination, 'network' | 'payTo'>): boolean {
    return this.#blocked.size > 0 && this.#blocked.has(`${network} ${payTo}`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#relisten) clearTimeout(this.#relisten);
    await this.#polling;
    await this.#listener?.close().catch(() => undefined);
  }

  /** One comparison of all that is held with Postgres; what differs is read again when next asked. */
  async poll(): Promise<void> {
    const { database, networkIds, clock } = this.#options;
    const startedAtMs = clock();
    const keys = [...this.#keys.entries()];
    const tenants = [...this.#tenants.entries()];
    const [blocked, states, versions] = await Promise.all([
      listBlockedPayees(database, networkIds),
      keys.length === 0
        ? []
        : listKeyStates(
            database,
            keys.map(([, held]) => held.value),
          ),
      tenants.length === 0
        ? new Map<string, number>()
        : listTenantVersions(
            database,
            tenants.map(([id]) => id),
          ),
    ]);
    this.#blocked = new Set(blocked.map(({ network, payTo }) => `${network} ${payTo}`));
    const byId = new Map(states.map((state) => [state.keyId, state]));
    for (const [hash, held] of keys) {
      if (this.#keys.peek(hash) !== held) continue; // read again meanwhile
      const state = byId.get(held.value.keyId);
      if (state) this.#keys.set(hash, { value: state, provenAtMs: startedAtMs });
      else this.#keys.delete(hash);
    }
    for (const [id, held] of tenants) {
      if (versions.get(id) === held.value.version) held.provenAtMs = Math.max(held.provenAtMs, startedAtMs);
      else if (this.#tenants.peek(id) === held) this.#tenants.delete(id);
    }
  }

  #isFresh(held: Held<unknown>): boolean {
    return this.#options.clock() - held.provenAtMs <= this.#maxAgeMs;
  }

  async #readTenant(tenantId: string, nowMs: number): Promise<TenantSnapshot | null> {
    const { database, priceFloorMicro } = this.#options;
    const found = await findTenant(database, tenantId, new Date(nowMs - PRICING_GRACE_MS));
    if (!found) return null;
    const { hasImportedCredits, ...row } = found;
    const catalogueVersion = hasImportedCredits ? row.version : null;
    const pricings = row.pricings.map(({ version, pricing, validFrom, validUntil }) => ({
      version,
      pricing: compilePricing(pricing, priceFloorMicro, catalogueVersion),
      validFromMs: validFrom.getTime(),
      validUntilMs: validUntil?.getTime() ?? null,
    }));
    return { ...row, forms: row.forms ?? DEFAULT_FORMS, pricings };
  }

  /** Callers that ask for the same thing at once share one read. */
  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const running = this.#loading.get(name);
    if (running !== undefined) return running as Promise<T>;
    const reading = read().finally(() => this.#loading.delete(name));
    this.#loading.set(name, reading);
    return reading;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.poll()
        .catch((error: unknown) => this.#options.log.warn({ error: String(error) }, 'tenants could not be compared'))
        .finally(() => this.#schedule());
    }, this.#options.pollMs ?? 1_000);
    this.#timer.unref();
  }

  async #listen(): Promise<void> {
    const again = (): void => {
      this.#listener = null;
      if (this.#isClosed) return;
      this.#relisten = setTimeout(() => void this.#listen(), RELISTEN_MS);
      this.#relisten.unref();
    };
    try {
      const listener = await listenForTenants(this.#options.directUrl, (tenantId) => this.#drop(tenantId), again);
      if (this.#isClosed) await listener.close();
      else this.#listener = listener;
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, 'changes of tenants cannot be heard; polling goes on');
      again();
    }
  }

  #changedSince(tenantId: string, readAtMs: number): boolean {
    const changedAtMs = this.#changedAtMs.get(tenantId);
    return changedAtMs !== undefined && changedAtMs >= readAtMs;
  }

  #drop(tenantId: string): void {
    this.#changedAtMs.set(tenantId, this.#options.clock());
    this.#tenants.delete(tenantId);
    for (const [hash, { value }] of this.#keys.entries()) if (value.tenantId === tenantId) this.#keys.delete(hash);
  }
}
