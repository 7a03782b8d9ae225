import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { retryConflicts } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { insertAndRollUp } from '../../rollups/store/rollups.ts';

/** One reported observation as stored; times are dates, `micro` is micro-USDC. */
export interface ObservationRow {
  readonly host: string;
  readonly slug: string;
  readonly verdict: string;
  readonly classifiedAs: string;
  readonly kind: string | null;
  /** `no_credits`: an agent got the page free because nobody is named who could be paid. */
  readonly reason: string | null;
  readonly micro: number | null;
  /** Normalised label of the agent (safety 23). */
  readonly agent: string;
  readonly agentUa: string | null;
  readonly classifyReason: string | null;
  readonly verified: boolean | null;
  readonly verifiedAgent: string | null;
  readonly sigInvalid: boolean | null;
  readonly atMs: number;
}

/** Reports of one request. */
export interface ObservationGroup {
  readonly tenantId: string;
  readonly rows: readonly ObservationRow[];
}

/** Appends the observations of many requests, with their rollups, in one statement: all of them or, when it throws, none. */
export async function insertObservations(database: Database, groups: readonly ObservationGroup[]): Promise<void> {
  const rows = groups.flatMap((group) => group.rows.map((row) => ({ ...row, tenantId: group.tenantId })));
  const column = <Key extends keyof ObservationRow | 'tenantId'>(key: Key) => rows.map((row) => row[key]);
  const insert = () =>
    insertAndRollUp(
      database,
      `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, agent, agent_ua,
       classify_reason, verified, verified_agent, sig_invalid, at, reason)
     select tenant_id, uuidv7(), host, slug, verdict, classified_as, kind, micro, agent, agent_ua, classify_reason, verified,
       verified_agent, sig_invalid, to_timestamp(at_ms / 1000.0), reason
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[],
       $10::text[], $11::bool[], $12::text[], $13::bool[], $14::float8[], $15::text[])
       as report (tenant_id, host, slug, verdict, classified_as, kind, micro, agent, agent_ua, classify_reason, verified,
         verified_agent, sig_invalid, at_ms, reason)`,
      [
        column('tenantId'),
        column('host'),
        column('slug'),
        column('verdict'),
        column('classifiedAs'),
        column('kind'),
        column('micro'),
        column('agent'),
        column('agentUa'),
        column('classifyReason'),
        column('verified'),
        column('verifiedAgent'),
        column('sigInvalid'),
        column('atMs'),
        column('reason'),
      ],
      'insert-observations',
    );
  await retryConflicts(insert);
}

/** Days ahead for which reports have a partition of their own (safety 11). */
const PARTITION_DAYS = 35;

/** Makes the day partitions that are still missing; again: nothing. */
export async function ensureObservationPartitions(sql: Sql): Promise<void> {
  await run(sql, tables.selectNoFrom(text<void>`ensure_observation_partitions(${PARTITION_DAYS})`.as('made')));
}
