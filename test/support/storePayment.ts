import type { Database } from '../../db/database.ts';
import type { Intake, IntakeItem, NewPayment } from '../../modules/settlement/store/intake.ts';
import { insertPayments } from '../../modules/settlement/store/intake.ts';

/** Stores one payment, as `insertPayments` stores many. */
export async function insertPayment(
  database: Database,
  payment: NewPayment,
  guard: IntakeItem['guard'],
): Promise<Exclude<Intake, { readonly kind: 'refused' | 'key_taken' }>> {
  const [stored] = await insertPayments(database, [{ payment, guard }]);
  if (!stored || stored.kind === 'refused' || stored.kind === 'key_taken')
    throw new Error('a payment was not stored', { cause: stored });
  return stored;
}
