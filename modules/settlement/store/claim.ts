import type { Database, Sql } from '../../../db/database.ts';
import { sameText } from '../../../db/sameText.ts';
import type { PaymentFacts } from '../../kernel/payment/state.ts';
import { isStillChosen } from '../../kernel/payment/state.ts';
import { decide } from '../rules/machine.ts';
import type { PayerRecord } from '../rules/payerLimits.ts';
import { NEW_PAYER, payerRoom } from '../rules/payerLimits.ts';
import type { Payment, PaymentRef } from './payment.ts';
import { listPayments } from './payment.ts';
import { lockPayers, readPayers } from './queue.ts';
import type { RelayerRef, SignedBatch } from './relayer.ts';
import { insertBatch, lockQueue } from './relayer.ts';
import { rememberSellers } from './splits.ts';
import { KEYED, UPSERT } from './writeStates.ts';

/** What a claim did with the proposals it was given. */
export type ClaimResult =
  | { readonly kind: 'claimed'; readonly batch: SignedBatch; readonly payments: readonly Payment[] }
  | { readonly kind: 'busy' | 'paused' | 'nothing' };

/**
 * Claims what is still `accepted` of the proposals, takes the relayer's nonce and stores the signed bytes, all in one
 * database transaction (safety 7), of two round trips. `sign` asks nobody (a remote key signs outside) and gets exactly the locked rows;
 * null means nothing of them can be sent. Gives the payments as they stand after it, so that nobody has to read them again. `isNewcomer`:
 * nothing of the sites of these payments is on its way (`queueHasRoom`). What went out in vain since it was chosen
 * stays, since the choice did not know (safety 8), and so do a payer's payments beyond what it may have on its way. Called again, or
 * by two processes at once, each payment ends in one batch.
 */
export async function claimBatch(
  database: Database,
  queue: RelayerRef & { readonly isNewcomer?: boolean },
  proposals: readonly Proposal[],
  sign: (payments: readonly Payment[], nonce: bigint) => Promise<{ batch: SignedBatch; taken: ReadonlySet<string> } | null>,
): Promise<ClaimResult> {
  return database.shortTransaction<ClaimResult>(async (sql) => {
    const payers = proposals.map(({ payer }) => payer);
    // In this order: each begins when the locks before it are held. Outside of a transaction they would change nothing.
    const [found, rows, , records] = await Promise.all([
      lockQueue(sql, queue, queue.isNewcomer),
      listPayments(sql, proposals, true),
      lockPayers(sql, queue.network, payers),
      readPayers(sql, queue.network, payers),
    ]);
    if (found.kind !== 'free') return nothing(found.kind);
    const chosen = new Map(proposals.map((payment) => [payment.paymentId, payment]));
    const open = rows.filter((row) => isStillChosen(row, chosen.get(row.paymentId)));
    const allowed = withinPayerRoom(open, records);
    if (allowed.length === 0) return nothing('nothing');
    const signed = await sign(allowed, found.nonce);
    if (!signed) return nothing('nothing');
    const { batch } = signed;
    const taken = claimable(
      allowed.filter((payment) => signed.taken.has(payment.paymentId)),
      batch.batchId,
    );
    return async () => {
      const [, payments] = await Promise.all([insertBatch(sql, batch, taken), markClaimed(sql, taken, batch.batchId)]);
      return { kind: 'claimed', batch, payments };
    };
  });
}

/** A payment to be claimed as it stood when it was chosen. */
type Proposal = PaymentRef & { readonly payer: string; readonly facts: Pick<PaymentFacts, 'attempts'> };

function nothing(kind: 'busy' | 'paused' | 'nothing'): () => Promise<ClaimResult> {
  return () => Promise.resolve({ kind });
}

/** The payments whose payers have room for them, judged under the payers' locks: other relayer keys claim at the same time (safety 19). */
function withinPayerRoom(payments: readonly Payment[], records: ReadonlyMap<string, PayerRecord>): readonly Payment[] {
  const taken = new Map<string, number>();
  return payments.filter(({ payer, payerKind }) => {
    const before = taken.get(payer) ?? 0;
    if (before >= payerRoom(payerKind, records.get(payer) ?? NEW_PAYER)) return false;
    taken.set(payer, before + 1);
    return true;
  });
}

/** The payments, all of which the machine lets a batch claim; throws otherwise. */
function claimable(payments: readonly Payment[], batchId: string): readonly Payment[] {
  const moved = payments.filter(({ facts }) => decide(facts, { type: 'claimed', batchId }).next.state === 'broadcast');
  if (moved.length !== payments.length) throw new Error(NOT_OPEN);
  return moved;
}

const NOT_OPEN = 'a claimed payment was not open any more';

/**
 * Moves locked payments to `broadcast` in a batch, and gives them as they are now; when one is not open any more it throws, and Postgres lets
 * nothing of the claim stand, even where the commit was sent already. All that it sends is sent at once.
 */
export async function markClaimed(
  sql: Sql,
  payments: readonly Payment[],
  batchId: string,
  settler: 'relayer' | 'facilitator' = 'relayer',
): Promise<readonly Payment[]> {
  const moved = claimable(payments, batchId);
  const marked = sql.query(
    `with claimed as (
       ${UPSERT} state, batch_id, settler, batch_size)
       select ${KEYED} 'broadcast', $3, $4, $5 from unnest($1::uuid[], $2::uuid[]) as taken (tenant_id, payment_id)
       on conflict (tenant_id, payment_id) do update set
         state = excluded.state, batch_id = excluded.batch_id, settler = excluded.settler, batch_size = excluded.batch_size
       where s.state = 'accepted' and s.batch_id is null
       returning s.payment_id
     )
     select 1 / (case when count(*) = cardinality($1::uuid[]) then 1 else 0 end) as all_open from claimed`,
    [moved.map((p) => p.tenantId), moved.map((p) => p.paymentId), batchId, settler, moved.length],
    'mark-claimed',
  );
  await Promise.all([marked.catch(notOpen), rememberSellers(sql, payments)]);
  const claimed = { type: 'claimed', batchId } as const;
  return moved.map((payment) => ({ ...payment, facts: decide(payment.facts, claimed).next, batchSize: moved.length }));
}

/** A division by zero is how the statement says it. */
function notOpen(error: unknown): never {
  throw (error as { code?: unknown }).code === '22012' ? new Error(NOT_OPEN, { cause: error }) : error;
}

/** Notes at which block our own check saw each nonce unused, once (safety 2), and which kind its payer turned out to be. */
export async function recordPrecheck(
  sql: Sql,
  checks: readonly (PaymentRef & { readonly unusedAtBlock: bigint | null; readonly payerKind: 'plain' | 'contract' })[],
): Promise<void> {
  if (checks.length === 0) return;
  await sql.query(
    `update payment_state as s set unused_at_block = coalesce(s.unused_at_block, seen.block), payer_kind = seen.payer_kind
       from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[]) as seen (tenant_id, payment_id, block, payer_kind)
      where s.tenant_id = seen.tenant_id and s.payment_id = seen.payment_id
        and ((s.unused_at_block is null and seen.block is not null) or s.payer_kind <> seen.payer_kind)`,
    [
      checks.map((check) => check.tenantId),
      checks.map((check) => check.paymentId),
      checks.map((check) => check.unusedAtBlock?.toString() ?? null),
      checks.map((check) => check.payerKind),
    ],
  );
  await markAsCode(
    sql,
    checks.filter(({ payerKind }) => payerKind === 'contract'),
  );
}

/** Whatever waits of a payer that turned out to have code waits as a wallet of code's does. */
async function markAsCode(sql: Sql, ofCode: readonly PaymentRef[]): Promise<void> {
  if (ofCode.length === 0) return;
  await sql.query(
    `with waiting as (
       select other.tenant_id, other.payment_id from payment_state other
         join (select distinct seen.network, seen.payer from payment_state seen
                 join unnest($1::uuid[], $2::uuid[]) as found (tenant_id, payment_id) using (tenant_id, payment_id)) payers
           on other.network = payers.network and ${sameText('other.payer', 'payers.payer')}
        where other.stage = 'under_way' and other.state = 'accepted' and other.payer_kind = 'plain' for update of other skip locked)
     update payment_state as s set payer_kind = 'contract' from waiting
      where s.tenant_id = waiting.tenant_id and s.payment_id = waiting.payment_id`,
    [ofCode.map(({ tenantId }) => tenantId), ofCode.map(({ paymentId }) => paymentId)],
  );
}
