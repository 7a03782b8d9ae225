/** Pages that were bought on a real chain, as years leave them: in a month that is long over. */
import type { Database } from '../../db/database.ts';
import type { Month } from '../../modules/kernel/time/months.ts';
import { monthOf } from '../../modules/kernel/time/months.ts';
import type { Authors, SettlementWorld } from './settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, termsFor } from './settlement.ts';

/** A month by its name, YYYY-MM. */
export const month = (name: string): Month => monthOf(name) as Month;

/** A page that was bought, as if in the first hour of a month; in half of the world that is the month before. */
export async function boughtIn(
  { world, owner }: { readonly world: SettlementWorld; readonly owner: Database },
  { fromMs, name }: Month,
  authors: Authors = newAuthors(1n),
) {
  const payer = await newPayer(world);
  const terms = termsFor(world, authors, { slug: `of-${name}` });
  const payment = await paymentFor(world, payer, terms);
  const receipt = await pay(world, terms, payment);
  const { from, nonce } = payment.authorization;
  const [row] = await owner.query<{ payment_id: string }>('select payment_id from payment_intake where nonce = $1', [nonce]);
  const paymentId = row?.payment_id as string;
  const at = new Date(fromMs + 3_600_000);
  for (const table of ['crossing', 'leg'])
    await owner.query(`update ${table} set at = $1 where payment_id = $2`, [at, paymentId]);
  await owner.query('update payment_intake set at = $1, accepted_at = $1 where payment_id = $2', [at, paymentId]);
  await owner.query(
    `update payment_state set accepted_at = $1, state = 'final', final_at = $1, watched = false where payment_id = $2`,
    [at, paymentId],
  );
  await owner.query(
    'delete from unannounced_crossing where crossing_id in (select crossing_id from crossing where payment_id = $1)',
    [paymentId],
  );
  const claim = { network: world.network.id, asset: world.network.asset, payer: from, nonce };
  return { tenantId: terms.tenantId, paymentId, terms, payment, payer, receipt, claim };
}
