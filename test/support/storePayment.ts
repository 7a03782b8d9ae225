import type { Database } from '../../db/database.ts';
import type { Intake, IntakeItem, NewPayment } from '../../db/settlement/intake.ts';
import { insertPayments } from '../../db/settlement/intake.ts';

/** Stores one payment, as `insertPayments` stores many. */
export async function insertPayment(database: Database, payment: NewPayment, guard: IntakeItem['guard']): Promise<Intake> {
  const [stored] = await insertPayments(database, [{ payment, guard }]);
  if (!stored) throw new Error('a payment was not stored');
  return stored;
}
