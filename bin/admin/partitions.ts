import { Command } from 'commander';
import { dropPartitions, planDrop, reportPartitions } from '../../modules/operations/use/partitions.ts';
import { parseDay } from './options.ts';
import { withOwner } from './owner.ts';
import type { Surroundings } from './surroundings.ts';

/** Commands for the days of observations; dropping needs DATABASE_OWNER_URL. */
export function partitionCommands({ open, print }: Surroundings): Command {
  const partitions = new Command('partitions').description('Days of observations; rows of money are in none.');
  partitions
    .command('list')
    .description('Every day with its estimated rows and size, and the first day that must stay.')
    .action(async () => print(await reportPartitions((await open()).database)));
  partitions
    .command('drop')
    .description('Drops days that are older than the longest plan reads; without --yes it only says which.')
    .requiredOption('--before <day>', 'the first day that stays, YYYY-MM-DD', parseDay)
    .option('--yes', 'drop them')
    .action(async ({ before, yes }: { before: string; yes?: boolean }) => {
      const { database, config } = await open();
      const planned = await planDrop(database, before);
      const asked = { url: config.databaseOwnerUrl, what: 'to drop partitions' };
      const dropped = yes === true ? await withOwner(asked, (owner) => dropPartitions(owner, planned)) : [];
      print({ before, planned, dropped });
    });
  return partitions;
}
