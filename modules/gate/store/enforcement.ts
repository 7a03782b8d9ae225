/** Rows behind enforce-config and enforce-status. */

import { isDeepStrictEqual } from 'node:util';
import type { NotNull } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { HostFacts } from '../../hosts/rules/enforcementStatus.ts';
import { hasApiAccess } from '../../kernel/access/key.ts';
import { DEFAULT_FORMS } from '../../kernel/pages/forms.ts';
import { changeTenant } from '../../tenants/store/tenants.ts';
import type { EnforcementSettings, StoredScope } from '../rules/enforcement.ts';
import { DEFAULT_CLASSES, VISITOR_CLASSES } from '../rules/visitors.ts';

/** What a tenant decided; null when it never did. */
export async function findEnforcement(sql: Sql, tenantId: string): Promise<EnforcementSettings | null> {
  const tenant = tables.selectFrom('tenant').where('tenantId', '=', tenantId).where('gateScope', 'is not', null);
  const decided = tenant.select(['gateScope', 'seoAllowlist', 'crawlerPolicy']);
  const [row] = await run(sql, decided.$narrowType<{ gateScope: NotNull; seoAllowlist: NotNull; crawlerPolicy: NotNull }>());
  if (!row) return null;
  const { classes, ...crawlerPolicy } = row.crawlerPolicy;
  const { forms = DEFAULT_FORMS, ...gateScope } = row.gateScope;
  return { ...row, gateScope, forms, crawlerPolicy, visitorClasses: { ...DEFAULT_CLASSES, ...classes } };
}

/** Stores what a tenant decides and moves its version; false when there is no such tenant. */
export async function replaceEnforcement(
  database: Transactional,
  tenantId: string,
  settings: EnforcementSettings,
  at: Date,
): Promise<boolean> {
  const decided = {
    gateScope: json(scopeOf(settings)),
    seoAllowlist: settings.seoAllowlist,
    crawlerPolicy: json(policyOf(settings)),
  };
  return database.transaction((sql) => changeTenant(sql, tenantId, decided, at));
}

/** The column of the scope, with the forms of articles that an owner decided on: the usual ones may change. */
function scopeOf({ gateScope, forms }: EnforcementSettings): StoredScope {
  return isDeepStrictEqual(forms, DEFAULT_FORMS) ? gateScope : { ...gateScope, forms };
}

/** The column of the crawler policy, with the classes of which an owner decided something else than the default: a default may change. */
function policyOf({ crawlerPolicy, visitorClasses }: EnforcementSettings) {
  const decided = VISITOR_CLASSES.filter((name) => visitorClasses[name] !== DEFAULT_CLASSES[name]);
  return { ...crawlerPolicy, classes: Object.fromEntries(decided.map((name) => [name, visitorClasses[name]])) };
}

/** What was heard of a host, at the times given (epoch ms); null: nothing new. Host '' stands for no host in particular. */
export interface HeardOf {
  readonly tenantId: string;
  readonly host: string;
  readonly quotedAtMs: number | null;
  readonly verifyCalledAtMs: number | null;
  readonly observedAtMs: number | null;
  readonly keyRejectedAtMs: number | null;
  readonly planGatedAtMs: number | null;
  /** When a gate said that it served pages free while we were away. */
  readonly failedOpenAtMs: number | null;
}

/** Stores the newest times of hosts, in one statement, keys in order; an older time changes nothing. */
export async function recordLiveness(sql: Sql, entries: readonly HeardOf[]): Promise<void> {
  if (entries.length === 0) return;
  const times = (read: (entry: HeardOf) => number | null): (Date | null)[] =>
    entries.map(read).map((ms) => (ms === null ? null : new Date(ms)));
  await sql.query(
    `insert into host_liveness (tenant_id, host, quoted_at, verified_at, observed_at, key_rejected_at, plan_gated_at,
       failed_open_at)
     select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[],
       $8::timestamptz[])
       as heard (tenant_id, host, quoted_at, verified_at, observed_at, key_rejected_at, plan_gated_at) order by 1, 2
     on conflict (tenant_id, host) do update set
       quoted_at = greatest(host_liveness.quoted_at, excluded.quoted_at),
       verified_at = greatest(host_liveness.verified_at, excluded.verified_at),
       observed_at = greatest(host_liveness.observed_at, excluded.observed_at),
       key_rejected_at = greatest(host_liveness.key_rejected_at, excluded.key_rejected_at),
       plan_gated_at = greatest(host_liveness.plan_gated_at, excluded.plan_gated_at),
       failed_open_at = greatest(host_liveness.failed_open_at, excluded.failed_open_at)`,
    [
      entries.map((entry) => entry.tenantId),
      entries.map((entry) => entry.host),
      times((entry) => entry.quotedAtMs),
      times((entry) => entry.verifyCalledAtMs),
      times((entry) => entry.observedAtMs),
      times((entry) => entry.keyRejectedAtMs),
      times((entry) => entry.planGatedAtMs),
      times((entry) => entry.failedOpenAtMs),
    ],
  );
}

/** Everything known of each host of a tenant: its own, and those it opened a challenge for. In the tenant's order. */
export async function listHostFacts(sql: Sql, tenantId: string, now: Date): Promise<HostFacts[]> {
  const facts = tables
    .selectFrom(({ selectFrom }) =>
      selectFrom((e) => e.selectFrom('tenant_host as h').selectAll().where('h.tenantId', '=', tenantId).as('own'))
        .fullJoin(
          (e) => e.selectFrom('host_challenge as c').selectAll().where('c.tenantId', '=', tenantId).as('challenge'),
          (join) => join.onRef('challenge.host', '=', 'own.host'),
        )
        .select((e) => [
          ...(['own.position', 'own.verifiedAt', 'own.routingVerifiedAt', 'own.probedAt', 'own.probedCname'] as const),
          'own.probedLive',
          e.fn.coalesce('own.host', 'challenge.host').$notNull().as('host'),
          e.fn.coalesce('own.createdAt', 'challenge.tokenIssuedAt').$notNull().as('addedAt'),
          e('challenge.host', 'is not', null).$castTo<boolean>().as('hasChallenge'),
        ])
        .as('host'),
    )
    .leftJoin('host_caution as lapse', (join) =>
      join.on('lapse.lapsedTenantId', '=', tenantId).onRef('lapse.host', '=', 'host.host'),
    )
    .leftJoin('host_liveness as live', (join) => join.on('live.tenantId', '=', tenantId).onRef('live.host', '=', 'host.host'))
    .leftJoin('host_liveness as anywhere', (join) => join.on('anywhere.tenantId', '=', tenantId).on('anywhere.host', '=', ''))
    .select((e) => {
      const keys = e.selectFrom('api_key as key').where('key.tenantId', '=', tenantId).where('key.revokedAt', 'is', null);
      return [
        ...(['host.host', 'host.addedAt', 'host.verifiedAt', 'host.routingVerifiedAt', 'host.hasChallenge'] as const),
        ...(['host.probedAt', 'host.probedCname', 'host.probedLive'] as const),
        ...(['lapse.lapsedAt', 'live.quotedAt', 'live.verifiedAt as verifyCalledAt', 'live.observedAt'] as const),
        ...(['live.keyRejectedAt', 'anywhere.keyRejectedAt as rejectedAnywhereAt', 'live.failedOpenAt'] as const),
        e.fn<Date | null>('greatest', ['live.planGatedAt', 'anywhere.planGatedAt']).as('planGatedAt'),
        e.selectFrom('tenant as site').select('site.plan').where('site.tenantId', '=', tenantId).as('plan'),
        keys.select((key) => key.fn.max('key.lastUsedAt').as('at')).as('keyUsedAt'),
        e
          .exists(keys.where((key) => key.or([key('key.expiresAt', 'is', null), key('key.expiresAt', '>', now)])))
          .$castTo<boolean>()
          .as('hasActiveKey'),
      ];
    });
  const rows = await run(sql, facts.orderBy('host.position', (by) => by.asc().nullsLast()).orderBy('host.host'));
  return rows.map(({ probedAt, probedCname, probedLive, ...row }) => ({
    host: row.host,
    addedAtMs: row.addedAt.getTime(),
    verifiedAtMs: msOf(row.verifiedAt),
    lapsedAtMs: msOf(row.lapsedAt),
    hasChallenge: row.hasChallenge,
    routingVerifiedAtMs: msOf(row.routingVerifiedAt),
    quotedAtMs: msOf(row.quotedAt),
    verifyCalledAtMs: msOf(row.verifyCalledAt),
    observedAtMs: msOf(row.observedAt),
    keyRejectedAtMs: msOf(row.keyRejectedAt),
    rejectedAnywhereAtMs: msOf(row.rejectedAnywhereAt),
    planGatedAtMs: msOf(row.planGatedAt),
    failedOpenAtMs: msOf(row.failedOpenAt),
    isPlanGated: !hasApiAccess(row.plan),
    keyUsedAtMs: msOf(row.keyUsedAt),
    hasActiveKey: row.hasActiveKey,
    probe:
      probedAt === null ? null : { atMs: probedAt.getTime(), cname: probedCname ?? 'unknown', live: probedLive ?? 'unknown' },
  }));
}

const msOf = (at: Date | null): number | null => at?.getTime() ?? null;
