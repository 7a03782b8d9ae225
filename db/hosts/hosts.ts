/** Challenges, claims and what a check writes. Caps stand in hostCaps.ts. */

import type { Capability, Challenge, ChallengeMethod, CodeArtifact } from '../../domain/hosts/challenge.ts';
import { loseManageScope } from '../credentials/keys.ts';
import type { Database, Sql, Transactional } from '../database.ts';
import { moveTenantVersion } from '../tenants/tenants.ts';

/** Whose a host is. */
export interface HostOwnership {
  /** The tenant that proved it; null when nobody did. */
  readonly tenantId: string | null;
  readonly routingVerified: boolean;
}

const CHALLENGE = `select challenge.*, host.verified_at, host.routing_verified_at, lapse.lapsed_at
  from host_challenge as challenge
  left join tenant_host as host on host.tenant_id = challenge.tenant_id and host.host = challenge.host
  left join host_caution as lapse on lapse.host = challenge.host`;

/** A tenant's challenge for a host; null when it opened none. */
export async function findChallenge(sql: Sql, tenantId: string, host: string): Promise<Challenge | null> {
  const rows = await sql.query<ChallengeRow>(`${CHALLENGE} where challenge.tenant_id = $1 and challenge.host = $2`, [
    tenantId,
    host,
  ]);
  return rows[0] ? challengeOf(rows[0]) : null;
}

/** The host a site is known by: its first proven one; null when none is. */
export async function findFirstHost(sql: Sql, tenantId: string): Promise<string | null> {
  const [row] = await sql.query<{ host: string }>(
    'select host from tenant_host where tenant_id = $1 and verified_at is not null order by position, host limit 1',
    [tenantId],
  );
  return row?.host ?? null;
}

/** All challenges of a tenant, the newest first; at most 1,000. */
export async function listChallenges(sql: Sql, tenantId: string): Promise<Challenge[]> {
  const rows = await sql.query<ChallengeRow>(
    `${CHALLENGE} where challenge.tenant_id = $1 order by challenge.opened_at desc, challenge.host limit 1000`,
    [tenantId],
  );
  return rows.map(challengeOf);
}

/** Who proved a host, and whether the fleet serves it. */
export async function findOwnership(sql: Sql, host: string): Promise<HostOwnership> {
  const rows = await sql.query<{ tenant_id: string; routed: boolean | null }>(
    `select claim.tenant_id, host.routing_verified_at is not null as routed from host_claim as claim
     left join tenant_host as host on host.tenant_id = claim.tenant_id and host.host = claim.host
     where claim.host = $1`,
    [host],
  );
  return { tenantId: rows[0]?.tenant_id ?? null, routingVerified: rows[0]?.routed ?? false };
}

/** A challenge to open. */
export interface NewChallenge {
  readonly tenantId: string;
  readonly host: string;
  readonly method: ChallengeMethod;
  /** Used when there is no challenge, or when the present token was issued before `staleBefore` and proved nothing. */
  readonly token: string;
  readonly staleBefore: Date;
  readonly firstCheckAt: Date;
  readonly at: Date;
  /** Most open challenges a tenant may have. */
  readonly limit: number;
}

/**
 * Opens a tenant's challenge for a host; one that is open keeps its token and takes the method asked for. False when the tenant
 * has too many open ones. A verified challenge stays as it is.
 */
export async function openChallenge(database: Transactional, challenge: NewChallenge): Promise<boolean> {
  const { tenantId, host, method, token, staleBefore, firstCheckAt, at, limit } = challenge;
  return database.transaction(async (sql) => {
    await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [tenantId]);
    const [open] = await sql.query<{ count: string }>(
      `select count(*) from host_challenge where tenant_id = $1 and host <> $2 and state = 'open'`,
      [tenantId, host],
    );
    if (Number(open?.count) >= limit) return false;
    await sql.query(
      `insert into host_challenge (tenant_id, host, method, token, token_issued_at, next_check_at, opened_at)
       values ($1, $2, $3, $4, $5, $6, $5)
       on conflict (tenant_id, host) do update set
         method = excluded.method,
         token = case when host_challenge.token_issued_at < $7 then excluded.token else host_challenge.token end,
         scheduled_checks = case when host_challenge.token_issued_at < $7 then 0 else host_challenge.scheduled_checks end,
         next_check_at = case when host_challenge.token_issued_at < $7 then excluded.next_check_at
           else host_challenge.next_check_at end,
         opened_at = case when host_challenge.token_issued_at < $7 then excluded.opened_at else host_challenge.opened_at end,
         token_issued_at = case when host_challenge.token_issued_at < $7 then excluded.token_issued_at
           else host_challenge.token_issued_at end
       where host_challenge.state = 'open'`,
      [tenantId, host, method, token, at, firstCheckAt, staleBefore],
    );
    return true;
  });
}

/** Writes what a host's site showed. */
export async function recordLook(
  sql: Sql,
  key: { readonly tenantId: string; readonly host: string },
  look: { readonly capability: Capability; readonly codeArtifact: CodeArtifact | null } | null,
  at: Date,
): Promise<void> {
  await sql.query(
    `update host_challenge set looked_at = $3, capability = coalesce($4, capability),
       code_artifact = case when $4::text is null then code_artifact else $5 end
     where tenant_id = $1 and host = $2`,
    [key.tenantId, key.host, at, look?.capability ?? null, look?.codeArtifact ?? null],
  );
}

/** Writes an open challenge's check that proved nothing; a scheduled one moves the schedule on, once. */
export async function recordMiss(
  sql: Sql,
  challenge: Challenge,
  miss: { readonly reason: string; readonly isScheduled: boolean; readonly nextCheckAt: Date; readonly at: Date },
): Promise<void> {
  await sql.query(
    `update host_challenge set checked_at = $4, last_reason = $5,
       scheduled_checks = scheduled_checks + $6::int,
       next_check_at = case when $6::int = 1 then $7 else next_check_at end
     where tenant_id = $1 and host = $2 and token = $3 and state = 'open' and ($6::int = 0 or scheduled_checks = $8)`,
    [
      challenge.tenantId,
      challenge.host,
      challenge.token,
      miss.at,
      miss.reason,
      miss.isScheduled ? 1 : 0,
      miss.nextCheckAt,
      challenge.scheduledChecks,
    ],
  );
}

/** What came of stamping ownership; `changed`: the challenge is not the one that was checked any more. */
export type StampOutcome = 'verified' | 'host_taken' | 'changed';

/**
 * Stamps ownership, proven by `stamp.method`: claims the host globally, marks it verified, and takes `domain.manage` from every
 * key of the tenant, all in one database transaction. Of two tenants exactly one gets the host. A second call with the same challenge changes nothing.
 */
export async function stampOwnership(
  database: Database,
  challenge: Challenge,
  stamp: { readonly at: Date; readonly nextCheckAt: Date; readonly method: ChallengeMethod },
): Promise<StampOutcome> {
  const { tenantId, host, token } = challenge;
  return database.transaction(async (sql) => {
    await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [tenantId]);
    const rows = await sql.query<{ state: string }>(
      'select state from host_challenge where tenant_id = $1 and host = $2 and token = $3 and method = $4 for update',
      [tenantId, host, token, challenge.method],
    );
    if (rows[0] === undefined) return 'changed';
    await sql.query('insert into host_claim (host, tenant_id) values ($1, $2) on conflict (host) do nothing', [host, tenantId]);
    const [claim] = await sql.query<{ tenant_id: string }>('select tenant_id from host_claim where host = $1', [host]);
    if (claim?.tenant_id !== tenantId) return 'host_taken';
    if (rows[0].state === 'verified') return 'verified';
    await sql.query(
      `insert into tenant_host (tenant_id, host, position, verified_at)
       values ($1, $2, (select coalesce(max(position) + 1, 0) from tenant_host where tenant_id = $1), $3)
       on conflict (tenant_id, host) do update set verified_at = excluded.verified_at`,
      [tenantId, host, stamp.at],
    );
    await sql.query(
      `update host_challenge set state = 'verified', method = $5, checked_at = $3, last_reason = null, next_check_at = $4,
         failing_since = null, confirmations = 0 where tenant_id = $1 and host = $2`,
      [tenantId, host, stamp.at, stamp.nextCheckAt, stamp.method],
    );
    await sql.query('delete from host_caution where host = $1', [host]);
    await loseManageScope(sql, tenantId, host, stamp.at);
    await moveTenantVersion(sql, tenantId, stamp.at);
    return 'verified';
  });
}

/** Writes a recheck of a verified host: its next one, and whether it is failing since when. */
export async function recordRecheck(
  sql: Sql,
  challenge: Challenge,
  recheck: {
    readonly at: Date;
    readonly nextCheckAt: Date;
    readonly reason: string | null;
    readonly failingSince: Date | null;
    readonly confirmations: number;
  },
): Promise<void> {
  await sql.query(
    `update host_challenge set checked_at = $4, next_check_at = $5, last_reason = $6, failing_since = $7, confirmations = $8
     where tenant_id = $1 and host = $2 and token = $3 and state = 'verified'`,
    [
      challenge.tenantId,
      challenge.host,
      challenge.token,
      recheck.at,
      recheck.nextCheckAt,
      recheck.reason,
      recheck.failingSince,
      recheck.confirmations,
    ],
  );
}

/**
 * Ends ownership, in its caller's transaction: the host is nobody's, its challenge is open again under a new token, and for 72 hours only DNS
 * proves it. False: a second call, or one about an older token, which changes nothing.
 */
export async function lapseOwnership(
  sql: Sql,
  challenge: Challenge,
  next: { readonly token: string; readonly at: Date; readonly nextCheckAt: Date },
): Promise<boolean> {
  const { tenantId, host, token } = challenge;
  await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [tenantId]);
  const rows = await sql.query(
    `update host_challenge set state = 'open', token = $4, token_issued_at = $5, opened_at = $5, next_check_at = $6,
       scheduled_checks = 0, failing_since = null, confirmations = 0
     where tenant_id = $1 and host = $2 and token = $3 and state = 'verified' returning 1`,
    [tenantId, host, token, next.token, next.at, next.nextCheckAt],
  );
  if (rows.length === 0) return false;
  await sql.query('update tenant_host set verified_at = null, routing_verified_at = null where tenant_id = $1 and host = $2', [
    tenantId,
    host,
  ]);
  await sql.query('delete from host_claim where host = $1 and tenant_id = $2', [host, tenantId]);
  await recordLapse(sql, { tenantId, host, at: next.at });
  await moveTenantVersion(sql, tenantId, next.at);
  return true;
}

/** Notes that a host is proven by its site no more: for 72 hours it can be proven by DNS alone, whoever asks. */
export async function recordLapse(
  sql: Sql,
  { tenantId, host, at }: { readonly tenantId: string; readonly host: string; readonly at: Date },
): Promise<void> {
  await sql.query(
    `insert into host_caution (host, lapsed_tenant_id, lapsed_at) values ($1, $2, $3)
     on conflict (host) do update set lapsed_tenant_id = excluded.lapsed_tenant_id, lapsed_at = excluded.lapsed_at`,
    [host, tenantId, at],
  );
}

/** What the routing probe of a host saw. */
export interface ProbeRow {
  readonly host: string;
  readonly probedAtMs: number;
  readonly cname: 'fleet' | 'elsewhere' | 'unknown';
  readonly live: 'fleet' | 'elsewhere' | 'unknown';
}

/**
 * Writes what the routing probe saw of a verified host. Routing is verified when name and live answer both lead to the fleet,
 * and no longer when the name certainly leads elsewhere; nothing else ever writes `routing_verified_at`.
 */
export async function recordProbe(database: Database, tenantId: string, probe: ProbeRow): Promise<void> {
  await database.query(
    `update tenant_host set probed_at = $3, probed_cname = $4, probed_live = $5, routing_verified_at = case
         when $4 = 'fleet' and $5 = 'fleet' then case when verified_at is null then routing_verified_at else coalesce(routing_verified_at, $3) end
         when $4 = 'elsewhere' then null else routing_verified_at end
      where tenant_id = $1 and host = $2`,
    [tenantId, probe.host, new Date(probe.probedAtMs), probe.cname, probe.live],
  );
}

interface ChallengeRow {
  readonly tenant_id: string;
  readonly host: string;
  readonly state: 'open' | 'verified';
  readonly method: ChallengeMethod;
  readonly token: string;
  readonly token_issued_at: Date;
  readonly capability: Capability;
  readonly code_artifact: CodeArtifact | null;
  readonly looked_at: Date | null;
  readonly scheduled_checks: number;
  readonly next_check_at: Date | null;
  readonly failing_since: Date | null;
  readonly confirmations: number;
  readonly opened_at: Date;
  readonly verified_at: Date | null;
  readonly routing_verified_at: Date | null;
  readonly lapsed_at: Date | null;
}

function challengeOf(row: ChallengeRow): Challenge {
  return {
    tenantId: row.tenant_id,
    host: row.host,
    state: row.state,
    method: row.method,
    token: row.token,
    tokenIssuedAtMs: row.token_issued_at.getTime(),
    capability: row.capability,
    codeArtifact: row.code_artifact,
    lookedAtMs: row.looked_at?.getTime() ?? null,
    scheduledChecks: row.scheduled_checks,
    nextCheckAtMs: row.next_check_at?.getTime() ?? null,
    failingSinceMs: row.failing_since?.getTime() ?? null,
    confirmations: row.confirmations,
    openedAtMs: row.opened_at.getTime(),
    verifiedAtMs: row.verified_at?.getTime() ?? null,
    routingVerifiedAtMs: row.routing_verified_at?.getTime() ?? null,
    lapsedAtMs: row.lapsed_at?.getTime() ?? null,
  };
}
