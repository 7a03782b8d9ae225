import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { clientByItself } from '../../../db/primary.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';
import type { Plan, TenantStatus } from '../../kernel/access/key.ts';
import type { PricingVersion } from '../../pricing/store/pricing.ts';
import { pricingsSince } from '../../pricing/store/pricing.ts';
import { TENANT_CHANNEL } from '../../tenants/store/tenants.ts';

/** A tenant as quotes read it: its state, its verified hosts, and every pricing version in force lately. */
export interface TenantSnapshot {
  readonly tenantId: string;
  readonly version: number;
  readonly status: TenantStatus;
  readonly plan: Plan | null;
  readonly licenseIssuer: string | null;
  /** CAIP-2 ids that its owner chose; null: never chosen. */
  readonly networks: readonly string[] | null;
  readonly hosts: readonly string[];
  /** Forms of articles that its owner decided on; null: never. */
  readonly forms: readonly string[] | null;
  /** True when some imported page names who is paid for it, or one did lately, so that payments may rest on it. */
  readonly hasImportedCredits: boolean;
  readonly pricings: readonly (Omit<PricingVersion, 'validFrom' | 'validUntil'> & {
    readonly validFrom: Date;
    readonly validUntil: Date | null;
  })[];
}

const snapshotOf = statement<{ readonly tenantId: string; readonly since: Date }>()((place) =>
  tables
    .selectFrom('tenant')
    .select([
      ...(['tenantId', 'version', 'status', 'plan', 'licenseIssuer', 'networks'] as const),
      text<readonly string[] | null>`gate_scope -> 'forms'`.as('forms'),
      text<boolean>`(exists (select from imported_page as page where page.tenant_id = tenant.tenant_id and page.credits is not null)
        or exists (select from former_credits as former where former.tenant_id = tenant.tenant_id
          and former.ended_at >= ${place('since')}))`.as('hasImportedCredits'),
      text<readonly string[]>`array(select host from tenant_host
        where tenant_host.tenant_id = tenant.tenant_id and verified_at is not null order by position, host)`.as('hosts'),
      pricingsSince(place('since')).as('pricings'),
    ])
    .where('tenantId', '=', place('tenantId')),
);

/** Reads a tenant with the pricing versions that were in force at or after `since`; null when there is none. */
export async function findTenant(sql: Sql, tenantId: string, since: Date): Promise<TenantSnapshot | null> {
  const rows = await snapshotOf(sql, { tenantId, since });
  const [row] = rows;
  if (!row) return null;
  const pricings = row.pricings.map((pricing) => ({
    ...pricing,
    validFrom: new Date(pricing.validFrom),
    validUntil: pricing.validUntil === null ? null : new Date(pricing.validUntil),
  }));
  return { ...row, pricings };
}

/** Every recipient of some networks that a transfer reverted for there (safety 18). */
export async function listBlockedPayees(
  sql: Sql,
  networks: readonly string[],
): Promise<readonly { readonly network: string; readonly payTo: string }[]> {
  return run(sql, tables.selectFrom('blocked_payee').select(['network', 'payTo']).where('network', '=', anyOf(networks)));
}

const versionsOf = statement<{ tenantIds: readonly string[] }>()((place) =>
  tables
    .selectFrom('tenant')
    .select(['tenantId', 'version'])
    .where('tenantId', '=', anyOf(place('tenantIds'))),
);

/** Versions of tenants, for comparison with what is held in memory. */
export async function listTenantVersions(sql: Sql, tenantIds: readonly string[]): Promise<Map<string, number>> {
  return new Map((await versionsOf(sql, { tenantIds })).map(({ tenantId, version }) => [tenantId, version]));
}

/** One connection that hears which tenants change; direct, not through a pooler (safety 24). */
export interface TenantListener {
  close(): Promise<void>;
}

/**
 * Listens for changed tenants. Rejects when the database cannot be reached; `onLost` is called once when an open connection
 * is lost, after which nothing more is heard and the caller opens another.
 */
export async function listenForTenants(
  directUrl: string,
  onChange: (tenantId: string) => void,
  onLost: () => void,
): Promise<TenantListener> {
  const client = await clientByItself(directUrl, {
    application_name: 'content-settlement listen',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  let state: 'opening' | 'open' | 'over' = 'opening';
  const lost = (): void => {
    const wasOpen = state === 'open';
    state = 'over';
    // While it opens, the rejection tells: told twice, a caller would open two, and four, and so on for as long as an outage lasts.
    if (wasOpen) onLost();
    void client.end().catch(() => undefined);
  };
  client.on('error', lost);
  client.on('end', lost);
  client.on('notification', ({ payload }) => onChange(payload ?? ''));
  try {
    await client.connect();
    await client.query(`listen ${TENANT_CHANNEL}`);
    if ((state as string) === 'over') throw new Error('Connection terminated while it began to listen');
  } catch (error) {
    lost();
    throw error;
  }
  state = 'open';
  return {
    close: async () => {
      state = 'over';
      await client.end();
    },
  };
}
