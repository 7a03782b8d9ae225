import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** How long an owner may take, and then the agent, hours. */
const LIFE_HOURS = 24;
/** Most that wait for the owner of one account at once. */
const MOST_ASKED = 100;

/** A purchase that its account's owner is asked about. */
export interface ApprovalAsk {
  readonly accountId: string;
  readonly host: string;
  /** Its URL, for the owner who decides. */
  readonly resource: string;
  readonly resourceKey: string;
  readonly kind: CrossingKind;
  readonly amountMicro: bigint;
}

/** What became of an asked purchase; 'ended': nobody decided or paid in time. */
export type ApprovalState = 'asked' | 'approved' | 'refused' | 'used' | 'ended';

/** An asked purchase as its owner sees it. */
export interface Approval extends Omit<ApprovalAsk, 'resourceKey'> {
  readonly approvalId: string;
  readonly state: ApprovalState;
  readonly askedAt: Date;
  readonly decidedAt: Date | null;
  readonly endsAt: Date;
}

/** A yes that nothing was paid on yet. */
export interface OpenApproval extends Pick<ApprovalAsk, 'accountId' | 'resourceKey' | 'kind' | 'amountMicro'> {
  readonly approvalId: string;
}

const lasts = text<boolean>`ends_at > now()`;

const approvedOf = statement<{ readonly accountIds: readonly string[]; readonly resourceKeys: readonly string[] }>()((place) =>
  tables
    .selectFrom('account_approval')
    .select(['accountId', 'approvalId', 'resourceKey', 'kind', 'amountMicro'])
    .where('accountId', '=', anyOf(place('accountIds')))
    .where('resourceKey', '=', anyOf(place('resourceKeys')))
    .where('state', '=', 'approved')
    .where(lasts)
    .orderBy('askedAt')
    .forNoKeyUpdate(),
);

/** The yeses of accounts for resources, oldest first, none of which its owner takes back until the database transaction ends. */
export async function listApproved(
  sql: Sql,
  accountIds: readonly string[],
  resourceKeys: readonly string[],
): Promise<readonly OpenApproval[]> {
  const rows = await approvedOf(sql, { accountIds, resourceKeys });
  return rows.map((row) => ({ ...row, amountMicro: BigInt(row.amountMicro) }));
}

/**
 * Asks the owner about a purchase; the same one, asked or refused already, is not asked again while that lasts. Gives its id; null where too
 * many wait. Under the account's lock.
 */
export async function askOwner(sql: Sql, ask: ApprovalAsk): Promise<string | null> {
  const { accountId, host, resource, resourceKey, kind } = ask;
  const amountMicro = ask.amountMicro.toString();
  const kept = tables.selectFrom('account_approval').select('approvalId').where('accountId', '=', accountId).where(lasts);
  const same = kept.where('resourceKey', '=', resourceKey).where('kind', '=', kind).where('amountMicro', '=', amountMicro);
  const [known] = await run(sql, same.where('state', 'in', ['asked', 'refused']).limit(1));
  if (known) return known.approvalId;
  if ((await run(sql, kept.where('state', '=', 'asked').limit(MOST_ASKED))).length >= MOST_ASKED) return null;
  const endsAt = text<Date>`now() + ${LIFE_HOURS} * interval '1 hour'`;
  const row = { accountId, host, resource, resourceKey, kind, amountMicro, endsAt };
  const fresh = tables.insertInto('account_approval').values(row);
  const [asked] = await run(sql, fresh.returning('approvalId'));
  return asked?.approvalId ?? null;
}

/** Notes that these were paid on. */
export async function useApprovals(sql: Sql, approvals: readonly OpenApproval[]): Promise<void> {
  if (approvals.length === 0) return;
  const yeses = tables.updateTable('account_approval').set({ state: 'used' });
  const paid = yeses.where('accountId', '=', anyOf(approvals.map(({ accountId }) => accountId)));
  await run(sql, paid.where('approvalId', '=', anyOf(approvals.map(({ approvalId }) => approvalId))));
}

const SHOWN = [
  ...(['accountId', 'approvalId', 'host', 'resource', 'kind', 'amountMicro', 'askedAt', 'decidedAt', 'endsAt'] as const),
  text<ApprovalState>`case when state in ('asked', 'approved') and ends_at <= now() then 'ended' else state end`.as('state'),
] as const;

function approvalOf<Row extends { readonly amountMicro: string }>({ amountMicro, ...row }: Row) {
  return { ...row, amountMicro: BigInt(amountMicro) };
}

/** What an account's owner was asked, newest first, `most` at most. */
export async function listApprovals(sql: Sql, accountId: string, most: number): Promise<Approval[]> {
  const asked = tables.selectFrom('account_approval').select(SHOWN).where('accountId', '=', accountId);
  const rows = await run(sql, asked.orderBy('askedAt', 'desc').orderBy('approvalId', 'desc').limit(most));
  return rows.map(approvalOf);
}

/**
 * Writes down what an owner says: a yes may still become a no until it is paid on, and the other way round. Null: it has ended, was paid on,
 * or there is none of that id. The same word again changes nothing.
 */
export async function decideApproval(
  sql: Sql,
  asked: { readonly accountId: string; readonly approvalId: string; readonly isApproved: boolean },
): Promise<Approval | null> {
  const state = asked.isApproved ? 'approved' : 'refused';
  const decidedAt = text<Date>`case when state = ${state} then decided_at else now() end`;
  const decided = tables.updateTable('account_approval').set({ state, decidedAt });
  const [row] = await run(
    sql,
    decided
      .where('accountId', '=', asked.accountId)
      .where('approvalId', '=', asked.approvalId)
      .where('state', 'in', ['asked', 'approved', 'refused'])
      .where(lasts)
      .returning(SHOWN),
  );
  return row ? approvalOf(row) : null;
}
