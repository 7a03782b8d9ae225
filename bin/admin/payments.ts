import { Command } from 'commander';
import { paymentQuery } from '../../modules/kernel/workflow/attributes.ts';
import { describePayment } from '../../modules/operations/use/admin.ts';
import { listStuckPayments } from '../../modules/operations/use/onCall.ts';
import { recheckPayment } from '../../modules/operations/use/review.ts';
import { searchPayments } from '../../modules/operations/use/search.ts';
import { addChainCommands } from './operations.ts';
import {
  limited,
  paged,
  pageOf,
  parseId,
  parseMoment,
  parseSeconds,
  parseState,
  parseTransaction,
  parseWallet,
} from './options.ts';
import type { Surroundings } from './surroundings.ts';
import { linksOf } from './surroundings.ts';

/** Commands about payments. */
export function paymentCommands(surroundings: Surroundings): Command {
  const { open, print, operator } = surroundings;
  const payment = new Command('payment').description('Payments.');
  addChainCommands(payment, surroundings);
  addFind(payment, surroundings);
  limited(payment.command('stuck'))
    .description('Payments that are not decided, the oldest first, each with its age, what it waits for, and what to do.')
    .option('--older <seconds>', 'accepted at least so long ago', parseSeconds, 60)
    .action(async ({ older, limit }: { older: number; limit: number }) => {
      const { database, config } = await open();
      const { count, payments } = await listStuckPayments({ database }, { olderSeconds: older, limit });
      const { found } = linksOf(config);
      // What waits to be sent has no workflow yet.
      const linked = payments.map((one) => ({
        ...one,
        workflowsUrl: one.state === 'broadcast' ? found(paymentQuery(one.paymentId)) : null,
      }));
      print({ count, payments: linked });
    });
  payment
    .command('show <paymentId>')
    .description('State, evidence, and the workflow that carries it.')
    .action(async (paymentId: string) => {
      const { database, config } = await open();
      print(await describePayment({ database }, parseId(paymentId), linksOf(config)));
    });
  payment
    .command('recheck <paymentId>')
    .description('Has the sweeper look for its evidence in its next round; a closed review is open again.')
    .action(async (paymentId: string) => {
      const { database } = await open();
      await recheckPayment({ database }, operator(), parseId(paymentId));
      print({ paymentId, recheck: 'asked for' });
    });
  return payment;
}

function addFind(payment: Command, { open, print }: Surroundings): void {
  paged(payment.command('find').description('Payments by what is known of them, the newest first; `payment show` takes the id.'))
    .option('--tx <hash>', 'transaction of a chain, or id of a facilitator: the payments in it', parseTransaction)
    .option('--payer <address>', 'who paid', parseWallet)
    .option('--state <state>', 'where it stands', parseState)
    .option('--tenant <tenantId>', 'whose page it bought', parseId)
    .option('--since <time>', 'accepted from then on; without a payer, seven days back by default', parseMoment)
    .option('--until <time>', 'accepted before', parseMoment)
    .action(async (options) => {
      const { database } = await open();
      const { tx = null, payer = null, state = null, tenant: tenantId = null, since = null, until = null } = options;
      print(await searchPayments({ database }, pageOf(options), { txHash: tx, payer, state, tenantId, since, until }));
    });
}
