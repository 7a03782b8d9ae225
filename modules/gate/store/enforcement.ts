/** Rows behind enforce-config and enforce-status. */

import type { Sql, Transactional } from '../../../db/database.ts';
import type { HostFacts, ProbeSight } from '../../hosts/rules/enforcementStatus.ts';
import type { Plan } from '../../kernel/access/key.ts';
import { hasApiAccess } from '../../kernel/access/key.ts';
import { notifyTenant } from '../../tenants/store/tenants.ts';
import type { EnforcementSettings, GateScope } from '../rules/enforcement.ts';
import type { ClassPolicies } from '../rules/visitors.ts';
import { DEFAULT_CLASSES, VISITOR_CLASSES } from '../rules/visitors.ts';

/** What a tenant decided; null when it never did. */
export async function findEnforcement(sql: Sql, tenantId: string): Promise<EnforcementSettings | null> {
  const rows = await sql.query<{
    gate_scope: GateScope;
    seo_allowlist: string[];
    crawler_policy: EnforcementSettings['crawlerPolicy'] & { classes?: Partial<ClassPolicies> };
  }>('select gate_scope, seo_allowlist, crawler_policy from tenant where tenant_id = $1 and gate_scope is not null', [tenantId]);
  const [row] = rows;
  if (!row) return null;
  const { classes, ...crawlerPolicy } = row.crawler_policy;
  return {
    gateScope: row.gate_scope,
    seoAllowlist: row.seo_allowlist,
    crawlerPolicy,
    visitorClasses: { ...DEFAULT_CLASSES, ...classes },
  };
}

/** Stores what a tenant decides and bumps its version; false when there is no such tenant. */
export async function replaceEnforcement(
  database: Transactional,
  tenantId: string,
  settings: EnforcementSettings,
  at: Date,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const found = await sql.query(
      `update tenant set gate_scope = $2, seo_allowlist = $3, crawler_policy = $4, version = version + 1, updated_at = $5
        where tenant_id = $1 returning 1`,
      [tenantId, JSON.stringify(settings.gateScope), settings.seoAllowlist, JSON.stringify(policyOf(settings)), at],
    );
    if (found.length === 0) return false;
    await notifyTenant(sql, tenantId);
    return true;
  });
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
  const rows = await sql.query<HostFactsRow>(
    `with hosts as (
       select host, position, verified_at, routing_verified_at, created_at, probed_at, probed_cname, probed_live from tenant_host
        where tenant_id = $1
       union all
       select host, 1000000, null, null, token_issued_at, null, null, null from host_challenge where tenant_id = $1
         and not exists (select 1 from tenant_host where tenant_host.tenant_id = $1 and tenant_host.host = host_challenge.host)
     )
     select hosts.host, hosts.created_at, hosts.verified_at, hosts.routing_verified_at, lapse.lapsed_at,
       challenge.host is not null as has_challenge, live.quoted_at, live.verified_at as verify_called_at, live.observed_at,
       live.key_rejected_at, anywhere.key_rejected_at as rejected_anywhere_at,
       greatest(live.plan_gated_at, anywhere.plan_gated_at) as plan_gated_at, live.failed_open_at,
       (select plan from tenant where tenant_id = $1) as plan,
       (select max(last_used_at) from api_key where api_key.tenant_id = $1 and revoked_at is null) as key_used_at,
       hosts.probed_at, hosts.probed_cname as cname, hosts.probed_live as live,
       exists (select 1 from api_key where api_key.tenant_id = $1 and revoked_at is null
         and (expires_at is null or expires_at > $2)) as has_active_key
     from hosts
     left join host_challenge as challenge on challenge.tenant_id = $1 and challenge.host = hosts.host
     left join host_caution as lapse on lapse.lapsed_tenant_id = $1 and lapse.host = hosts.host
     left join host_liveness as live on live.tenant_id = $1 and live.host = hosts.host
     left join host_liveness as anywhere on anywhere.tenant_id = $1 and anywhere.host = ''
     order by hosts.position, hosts.host`,
    [tenantId, now],
  );
  return rows.map(factsFromRow);
}

interface HostFactsRow {
  readonly host: string;
  readonly created_at: Date;
  readonly verified_at: Date | null;
  readonly routing_verified_at: Date | null;
  readonly lapsed_at: Date | null;
  readonly has_challenge: boolean;
  readonly quoted_at: Date | null;
  readonly verify_called_at: Date | null;
  readonly observed_at: Date | null;
  readonly key_rejected_at: Date | null;
  readonly rejected_anywhere_at: Date | null;
  readonly plan_gated_at: Date | null;
  readonly failed_open_at: Date | null;
  readonly plan: Plan | null;
  readonly key_used_at: Date | null;
  readonly has_active_key: boolean;
  readonly probed_at: Date | null;
  readonly cname: ProbeSight | null;
  readonly live: ProbeSight | null;
}

function factsFromRow(row: HostFactsRow): HostFacts {
  return {
    host: row.host,
    addedAtMs: row.created_at.getTime(),
    verifiedAtMs: row.verified_at?.getTime() ?? null,
    lapsedAtMs: row.lapsed_at?.getTime() ?? null,
    hasChallenge: row.has_challenge,
    routingVerifiedAtMs: row.routing_verified_at?.getTime() ?? null,
    quotedAtMs: row.quoted_at?.getTime() ?? null,
    verifyCalledAtMs: row.verify_called_at?.getTime() ?? null,
    observedAtMs: row.observed_at?.getTime() ?? null,
    keyRejectedAtMs: row.key_rejected_at?.getTime() ?? null,
    rejectedAnywhereAtMs: row.rejected_anywhere_at?.getTime() ?? null,
    planGatedAtMs: row.plan_gated_at?.getTime() ?? null,
    failedOpenAtMs: row.failed_open_at?.getTime() ?? null,
    isPlanGated: !hasApiAccess(row.plan),
    keyUsedAtMs: row.key_used_at?.getTime() ?? null,
    hasActiveKey: row.has_active_key,
    probe:
      row.probed_at === null
        ? null
        : { atMs: row.probed_at.getTime(), cname: row.cname ?? 'unknown', live: row.live ?? 'unknown' },
  };
}
