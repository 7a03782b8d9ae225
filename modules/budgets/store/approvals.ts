import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** How long an owner may take, and then the agent, hours. */
const LIFE_HOURS = 24;
/** Most that wait for the owner of one account at once. */
const MOST_ASKED = 100;

/** A purchase that its account's owner is asked about. */
export interface ApprovalAsk {
  readonly accountId: string;
  readonly host: string;
  /** Its URL, for whoever decides. */
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

const OPEN = columnsOf('account_approval a', ['accountId', 'approvalId', 'resourceKey', 'kind', 'amountMicro']);

/** The yeses of accounts for resources, oldest first, none of which its owner takes back until the database transaction ends. */
export async function listApproved(
  sql: Sql,
  accountIds: readonly string[],
  resourceKeys: readonly string[],
): Promise<readonly OpenApproval[]> {
  const rows = await sql.query<RowOf<typeof OPEN>>(
    `select ${OPEN.text} from account_approval as a
      where account_id = any($1::uuid[]) and resource_key = any($2) and state = 'approved' and ends_at > now() order by asked_at for no key update`,
    [accountIds, resourceKeys],
  );
  return rows.map((row) => ({ ...row, amountMicro: BigInt(row.amountMicro) }));
}

/**
 * Asks the owner about a purchase; the same one, asked or refused already, is not asked again while that lasts. Gives its id; null where too
 * many wait. Under the account's lock.
 */
export async function askOwner(sql: Sql, ask: ApprovalAsk): Promise<string | null> {
  const { accountId, host, resource, resourceKey, kind, amountMicro } = ask;
  const same = [accountId, resourceKey, kind, amountMicro.toString()];
  const [known] = await sql.query<{ approvalId: string }>(
    `select approval_id as "approvalId" from account_approval where account_id = $1 and resource_key = $2 and kind = $3 and amount_micro = $4
        and state in ('asked', 'refused') and ends_at > now() limit 1`,
    same,
  );
  if (known) return known.approvalId;
  const [fresh] = await sql.query<{ approvalId: string }>(
    `insert into account_approval (account_id, resource_key, kind, amount_micro, host, resource, ends_at)
     select $1, $2, $3, $4, $5, $6, now() + interval '${LIFE_HOURS} hours'
      where (select count(*) from account_approval where account_id = $1 and state = 'asked' and ends_at > now()) < ${MOST_ASKED}
     returning approval_id as "approvalId"`,
    [...same, host, resource],
  );
  return fresh?.approvalId ?? null;
}

/** Notes that these were paid on. */
export async function useApprovals(sql: Sql, approvals: readonly OpenApproval[]): Promise<void> {
  if (approvals.length === 0) return;
  await sql.query(
    `update account_approval as a set state = 'used' from unnest($1::uuid[], $2::uuid[]) as used (account_id, approval_id)
      where a.account_id = used.account_id and a.approval_id = used.approval_id`,
    [approvals.map(({ accountId }) => accountId), approvals.map(({ approvalId }) => approvalId)],
  );
}

const SHOWN = both(
  columnsOf('account_approval a', [
    'accountId',
    'approvalId',
    'host',
    'resource',
    'kind',
    'amountMicro',
    'askedAt',
    'decidedAt',
    'endsAt',
  ]),
  workedOut<Pick<Approval, 'state'>>(
    "case when a.state in ('asked', 'approved') and a.ends_at <= now() then 'ended' else a.state end as state",
  ),
);

function approvalOf({ amountMicro, ...row }: RowOf<typeof SHOWN>): Approval {
  return { ...row, amountMicro: BigInt(amountMicro) };
}

/** What an account's owner was asked, newest first, `most` at most. */
export async function listApprovals(sql: Sql, accountId: string, most: number): Promise<Approval[]> {
  const rows = await sql.query<RowOf<typeof SHOWN>>(
    `select ${SHOWN.text} from account_approval as a where account_id = $1 order by asked_at desc, approval_id desc limit $2`,
    [accountId, most],
  );
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
  const [row] = await sql.query<RowOf<typeof SHOWN>>(
    `update account_approval as a set state = $3, decided_at = case when state = $3 then decided_at else now() end
      where account_id = $1 and approval_id = $2 and state in ('asked', 'approved', 'refused') and ends_at > now() returning ${SHOWN.text}`,
    [asked.accountId, asked.approvalId, asked.isApproved ? 'approved' : 'refused'],
  );
  return row ? approvalOf(row) : null;
}
