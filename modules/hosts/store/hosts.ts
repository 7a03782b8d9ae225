/** Challenges, claims and what a check writes. */
import { sql as text } from 'kysely';
import type { Database, Sql, Transactional } from '../../../db/database.ts';
import { acrossSites, run, statement, tables } from '../../../db/statement.ts';
import { loseManageScope } from '../../identity/store/keys.ts';
import { lockTenant, moveTenantVersion } from '../../tenants/store/tenants.ts';
import type { Capability, Challenge, ChallengeMethod, CodeArtifact } from '../rules/challenge.ts';
import type { ProbeSight } from '../rules/enforcementStatus.ts';

/** Whose a host is. */
export interface HostOwnership {
  /** The tenant that proved it; null when nobody did. */
  readonly tenantId: string | null;
  readonly routingVerified: boolean;
}

const challengesOf = (tenantId: string) =>
  tables
    .selectFrom('host_challenge as challenge')
    .leftJoin('tenant_host as host', (on) =>
      on.onRef('host.tenantId', '=', 'challenge.tenantId').onRef('host.host', '=', 'challenge.host'),
    )
    .leftJoin('host_caution as lapse', 'lapse.host', 'challenge.host')
    .where('challenge.tenantId', '=', tenantId)
    .select(['challenge.tenantId', 'challenge.host', 'challenge.state', 'challenge.method', 'challenge.token'])
    .select(['challenge.tokenIssuedAt', 'challenge.capability', 'challenge.codeArtifact', 'challenge.lookedAt'])
    .select(['challenge.scheduledChecks', 'challenge.nextCheckAt', 'challenge.failingSince', 'challenge.confirmations'])
    .select(['challenge.openedAt', 'host.verifiedAt', 'host.routingVerifiedAt', 'lapse.lapsedAt']);

type ChallengeRow = Awaited<ReturnType<ReturnType<typeof challengesOf>['execute']>>[number];

/** A tenant's challenge for a host; null when it opened none. */
export async function findChallenge(sql: Sql, tenantId: string, host: string): Promise<Challenge | null> {
  const [row] = await run(sql, challengesOf(tenantId).where('challenge.host', '=', host));
  return row === undefined ? null : challengeOf(row);
}

/** All challenges of a tenant, the newest first; at most 1,000. */
export async function listChallenges(sql: Sql, tenantId: string): Promise<Challenge[]> {
  const newest = challengesOf(tenantId).orderBy('challenge.openedAt', 'desc').orderBy('challenge.host').limit(1_000);
  return (await run(sql, newest)).map(challengeOf);
}

const ownershipOf = statement<{ host: string }>()(
  (place) =>
    tables
      .selectFrom('host_claim as claim')
      .leftJoin('tenant_host as host', (on) =>
        on.onRef('host.tenantId', '=', 'claim.tenantId').onRef('host.host', '=', 'claim.host'),
      )
      .select(['claim.tenantId', 'host.routingVerifiedAt'])
      .where('claim.host', '=', place('host')),
  'ownership-of-host',
);

/** Who proved a host, and whether the fleet serves it. */
export async function findOwnership(sql: Sql, host: string): Promise<HostOwnership> {
  const [row] = await ownershipOf(sql, { host });
  return { tenantId: row?.tenantId ?? null, routingVerified: row !== undefined && row.routingVerifiedAt !== null };
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
    await lockTenant(sql, tenantId);
    const [open] = await run(
      sql,
      tables
        .selectFrom('host_challenge')
        .select((column) => column.fn.countAll<string>().as('count'))
        .where('tenantId', '=', tenantId)
        .where('host', '<>', host)
        .where('state', '=', 'open'),
    );
    if (Number(open?.count) >= limit) return false;
    const isStale = text<boolean>`host_challenge.token_issued_at < ${staleBefore}`;
    await run(
      sql,
      tables
        .insertInto('host_challenge')
        .values({ tenantId, host, method, token, tokenIssuedAt: at, nextCheckAt: firstCheckAt, openedAt: at })
        .onConflict((conflict) =>
          conflict
            .columns(['tenantId', 'host'])
            .doUpdateSet((column) => {
              const whenStale = <C extends 'token' | 'nextCheckAt' | 'openedAt' | 'tokenIssuedAt'>(name: C) =>
                column
                  .case()
                  .when(isStale)
                  .then(column.ref(`excluded.${name}`))
                  .else(column.ref(`host_challenge.${name}`))
                  .end();
              return {
                method: column.ref('excluded.method'),
                token: whenStale('token'),
                scheduledChecks: column.case().when(isStale).then(0).else(column.ref('host_challenge.scheduledChecks')).end(),
                nextCheckAt: whenStale('nextCheckAt'),
                openedAt: whenStale('openedAt'),
                tokenIssuedAt: whenStale('tokenIssuedAt'),
              };
            })
            .where('host_challenge.state', '=', 'open'),
        ),
    );
    return true;
  });
}

/**
 * Challenges whose check was due before `dueBefore`: verified ones, and open ones with a token from after `issuedAfter`. Any `limit` of them, others with
 * each call.
 */
export async function listOverdue(
  sql: Sql,
  { dueBefore, issuedAfter, limit }: { readonly dueBefore: Date; readonly issuedAfter: Date; readonly limit: number },
): Promise<{ readonly tenantId: string; readonly host: string }[]> {
  return run(
    sql,
    acrossSites('a worker')
      .selectFrom('host_challenge')
      .select(['tenantId', 'host'])
      .where('nextCheckAt', '<', dueBefore)
      .where((is) => is.or([is('state', '=', 'verified'), is('tokenIssuedAt', '>', issuedAfter)]))
      .orderBy(text`random()`)
      .limit(limit),
  );
}

/** Writes what a host's site showed. */
export async function recordLook(
  sql: Sql,
  key: { readonly tenantId: string; readonly host: string },
  look: { readonly capability: Capability; readonly codeArtifact: CodeArtifact | null } | null,
  at: Date,
): Promise<void> {
  const seen = look === null ? {} : { capability: look.capability, codeArtifact: look.codeArtifact };
  await run(sql, changeChallenge(key).set({ lookedAt: at, ...seen }));
}

/** Writes an open challenge's check that proved nothing; a scheduled one moves the schedule on, once. */
export async function recordMiss(
  sql: Sql,
  challenge: Challenge,
  miss: { readonly reason: string; readonly isScheduled: boolean; readonly nextCheckAt: Date; readonly at: Date },
): Promise<void> {
  const missed = changeChallenge(challenge)
    .set({ checkedAt: miss.at, lastReason: miss.reason })
    .where('token', '=', challenge.token)
    .where('state', '=', 'open');
  const scheduled = missed
    .set({ scheduledChecks: (column) => column('scheduledChecks', '+', 1), nextCheckAt: miss.nextCheckAt })
    .where('scheduledChecks', '=', challenge.scheduledChecks);
  await run(sql, miss.isScheduled ? scheduled : missed);
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
    await lockTenant(sql, tenantId);
    const [found] = await run(
      sql,
      tables
        .selectFrom('host_challenge')
        .select('state')
        .where('tenantId', '=', tenantId)
        .where('host', '=', host)
        .where('token', '=', token)
        .where('method', '=', challenge.method)
        .forUpdate(),
    );
    if (found === undefined) return 'changed';
    await run(
      sql,
      tables
        .insertInto('host_claim')
        .values({ host, tenantId })
        .onConflict((conflict) => conflict.column('host').doNothing()),
    );
    const [claim] = await run(sql, tables.selectFrom('host_claim').select('tenantId').where('host', '=', host));
    if (claim?.tenantId !== tenantId) return 'host_taken';
    if (found.state === 'verified') return 'verified';
    await run(
      sql,
      tables
        .insertInto('tenant_host')
        .values({
          tenantId,
          host,
          position: ({ selectFrom }) =>
            selectFrom('tenant_host')
              .select((last) => last.fn.coalesce(last(last.fn.max('position'), '+', 1), last.val(0)).as('position'))
              .where('tenantId', '=', tenantId),
          verifiedAt: stamp.at,
        })
        .onConflict((conflict) =>
          conflict.columns(['tenantId', 'host']).doUpdateSet((column) => ({ verifiedAt: column.ref('excluded.verifiedAt') })),
        ),
    );
    const stamped = { state: 'verified', method: stamp.method, checkedAt: stamp.at, nextCheckAt: stamp.nextCheckAt } as const;
    const sound = { lastReason: null, failingSince: null, confirmations: 0 };
    await run(sql, changeChallenge(challenge).set({ ...stamped, ...sound }));
    await run(sql, tables.deleteFrom('host_caution').where('host', '=', host));
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
  const { at: checkedAt, nextCheckAt, reason: lastReason, failingSince, confirmations } = recheck;
  await run(
    sql,
    changeChallenge(challenge)
      .set({ checkedAt, nextCheckAt, lastReason, failingSince, confirmations })
      .where('token', '=', challenge.token)
      .where('state', '=', 'verified'),
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
  await lockTenant(sql, tenantId);
  const opened = {
    state: 'open',
    token: next.token,
    tokenIssuedAt: next.at,
    openedAt: next.at,
    nextCheckAt: next.nextCheckAt,
  } as const;
  const rows = await run(
    sql,
    changeChallenge(challenge)
      .set({ ...opened, scheduledChecks: 0, failingSince: null, confirmations: 0 })
      .where('token', '=', token)
      .where('state', '=', 'verified')
      .returning('host'),
  );
  if (rows.length === 0) return false;
  const lost = { verifiedAt: null, routingVerifiedAt: null };
  await run(sql, tables.updateTable('tenant_host').set(lost).where('tenantId', '=', tenantId).where('host', '=', host));
  await run(sql, tables.deleteFrom('host_claim').where('host', '=', host).where('tenantId', '=', tenantId));
  await recordLapse(sql, { tenantId, host, at: next.at });
  await moveTenantVersion(sql, tenantId, next.at);
  return true;
}

/** Notes that a host is proven by its site no more: for 72 hours it can be proven by DNS alone, by any site. */
export async function recordLapse(
  sql: Sql,
  { tenantId, host, at }: { readonly tenantId: string; readonly host: string; readonly at: Date },
): Promise<void> {
  await run(
    sql,
    tables
      .insertInto('host_caution')
      .values({ host, lapsedTenantId: tenantId, lapsedAt: at })
      .onConflict((conflict) =>
        conflict.column('host').doUpdateSet((column) => ({
          lapsedTenantId: column.ref('excluded.lapsedTenantId'),
          lapsedAt: column.ref('excluded.lapsedAt'),
        })),
      ),
  );
}

/** What the routing probe of a host saw. */
export interface ProbeRow {
  readonly host: string;
  readonly probedAtMs: number;
  readonly cname: ProbeSight;
  readonly live: ProbeSight;
}

/**
 * Writes what the routing probe saw of a verified host. Routing is verified when name and live answer both lead to the fleet,
 * and no longer when the name certainly leads elsewhere; nothing else ever writes `routing_verified_at`.
 */
export async function recordProbe(database: Database, tenantId: string, probe: ProbeRow): Promise<void> {
  const at = new Date(probe.probedAtMs);
  const seen = { probedAt: at, probedCname: probe.cname, probedLive: probe.live };
  const found = tables.updateTable('tenant_host').where('tenantId', '=', tenantId).where('host', '=', probe.host);
  if (probe.cname === 'elsewhere') await run(database, found.set({ ...seen, routingVerifiedAt: null }));
  else if (probe.cname === 'fleet' && probe.live === 'fleet') {
    // One that is not verified keeps what it has: it has no routing of ours to verify.
    const since = text<Date | null>`case when verified_at is null then routing_verified_at else coalesce(routing_verified_at, ${at}) end`;
    await run(database, found.set({ ...seen, routingVerifiedAt: since }));
  } else await run(database, found.set(seen));
}

const changeChallenge = ({ tenantId, host }: { readonly tenantId: string; readonly host: string }) =>
  tables.updateTable('host_challenge').where('tenantId', '=', tenantId).where('host', '=', host);

function challengeOf(row: ChallengeRow): Challenge {
  return {
    tenantId: row.tenantId,
    host: row.host,
    state: row.state,
    method: row.method,
    token: row.token,
    tokenIssuedAtMs: row.tokenIssuedAt.getTime(),
    capability: row.capability,
    codeArtifact: row.codeArtifact,
    lookedAtMs: row.lookedAt?.getTime() ?? null,
    scheduledChecks: row.scheduledChecks,
    nextCheckAtMs: row.nextCheckAt?.getTime() ?? null,
    failingSinceMs: row.failingSince?.getTime() ?? null,
    confirmations: row.confirmations,
    openedAtMs: row.openedAt.getTime(),
    verifiedAtMs: row.verifiedAt?.getTime() ?? null,
    routingVerifiedAtMs: row.routingVerifiedAt?.getTime() ?? null,
    lapsedAtMs: row.lapsedAt?.getTime() ?? null,
  };
}
