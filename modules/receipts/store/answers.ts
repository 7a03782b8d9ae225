import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { bufferOf, hexOf } from '../../../db/hex.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOfAny } from '../../../db/shown.ts';
import { anyOf, run, tables } from '../../../db/statement.ts';
import type { PageAnswer } from '../rules/answer.ts';

/** What `answerFromRow` reads of `page_answer as told`, where there may be none. */
const ANSWER = columnsOfAny('page_answer told', [
  ...(['sha256', 'bytes', 'answeredAt', 'outcome', 'lostAt', 'againCount', 'againSha256', 'againBytes'] as const),
  ...(['heldSha256', 'heldSignature', 'heldAt'] as const),
]);
/** Its select list. */
export const ANSWER_COLUMNS = ANSWER.text;
/** Its row. */
export type AnswerRow = RowOf<typeof ANSWER>;

/** What was said of an answer, from its row or from the lack of one. */
export function answerFromRow(row: AnswerRow): PageAnswer {
  const { heldSha256, heldSignature, heldAt } = row;
  return {
    body: hashOf(row.sha256, row.bytes),
    bodyAgain: hashOf(row.againSha256, row.againBytes),
    isTold: row.answeredAt !== null,
    outcome: row.outcome,
    lostAtMs: row.lostAt?.getTime() ?? null,
    servedAgain: row.againCount ?? 0,
    held:
      heldSha256 && heldSignature && heldAt
        ? { sha256: heldSha256.toString('hex'), signature: hexOf(heldSignature), atMs: heldAt.getTime() }
        : null,
  };
}

function hashOf(sha256: Buffer | null, bytes: string | null): PageAnswer['body'] {
  return sha256 && bytes !== null ? { sha256: sha256.toString('hex'), bytes: Number(bytes) } : null;
}

/** What was said of the answers to some payments of a site, by their ids; those of which nothing was said are left out. */
export async function listAnswers(
  sql: Sql,
  tenantId: string,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, PageAnswer>> {
  const rows = await run(
    sql,
    tables
      .selectFrom('page_answer')
      .select(['paymentId', 'sha256', 'bytes', 'answeredAt', 'outcome', 'lostAt', 'againCount', 'againSha256', 'againBytes'])
      .select(['heldSha256', 'heldSignature', 'heldAt'])
      .where('tenantId', '=', tenantId)
      .where('paymentId', '=', anyOf(paymentIds)),
  );
  return new Map(rows.map((row) => [row.paymentId, answerFromRow(row)]));
}

/** Writes what a payer says it holds, unless it has said so before; true where this is the first word. */
export async function writeHeld(
  sql: Sql,
  { tenantId, paymentId }: { readonly tenantId: string; readonly paymentId: string },
  held: { readonly sha256: string; readonly signature: `0x${string}` },
): Promise<boolean> {
  const said = {
    heldSha256: bufferOf(`0x${held.sha256}`),
    heldSignature: bufferOf(held.signature),
    heldAt: text<Date>`now()`,
  };
  const written = await run(
    sql,
    tables
      .insertInto('page_answer')
      .values({ tenantId, paymentId, ...said })
      .onConflict((on) => on.columns(['tenantId', 'paymentId']).doUpdateSet(said).where('page_answer.heldAt', 'is', null))
      .returning('paymentId'),
  );
  return written.length > 0;
}
