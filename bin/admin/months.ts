import { Command } from 'commander';
import type { Database } from '../../db/database.ts';
import type { Month } from '../../modules/kernel/time/months.ts';
import { attachMonth, checkMonth, closeMonth, detachMonth, reportMonths } from '../../modules/operations/use/months.ts';
import { parseMonth } from './options.ts';
import type { OwnerAsked } from './owner.ts';
import { withOwner } from './owner.ts';
import type { Surroundings } from './surroundings.ts';

/** Statements that count and move months of years. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

/** Commands for months of money: closing, detaching and attaching need DATABASE_OWNER_URL. */
export function monthCommands({ open, print }: Surroundings): Command {
  const months = new Command('months').description(
    'Months of payments, crossings, legs and transfers; nothing of them is ever dropped.',
  );
  const asked = async (): Promise<OwnerAsked> => ({
    url: (await open()).config.databaseOwnerUrl,
    what: 'for this command',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const asOwner = (name: string, description: string, work: (owner: Database, month: Month) => Promise<unknown>): void => {
    months
      .command(name)
      .description(description)
      .argument('<month>', 'YYYY-MM', parseMonth)
      .action(async (month: Month) => print(await withOwner(await asked(), (owner) => work(owner, month))));
  };
  months
    .command('list')
    .description('Months that were closed, with what was moved into each.')
    .action(async () => print(await reportMonths((await open()).database)));
  asOwner(
    'close',
    'Moves what ended in a month out of the tables that the service writes, while it runs. Run again, it continues.',
    closeMonth,
  );
  asOwner('check', 'Compares a closed month with its record.', checkMonth);
  asOwner('detach', 'Takes a month that no plan reads out of every list; its tables stay in the schema archive.', detachMonth);
  asOwner('attach', 'Attaches a detached month again, if its content is unchanged.', attachMonth);
  return months;
}
