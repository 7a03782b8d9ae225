import { Command } from 'commander';
import { openDatabase } from '../../db/database.ts';
import { ServiceError } from '../../domain/errors.ts';
import { dropPartitions, planDrop, reportPartitions } from '../../services/operations/partitions.ts';
import { parseDay } from './options.ts';
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
      const dropped = yes === true ? await dropAsOwner(config.databaseOwnerUrl, planned) : [];
      print({ before, planned, dropped });
    });
  return partitions;
}

async function dropAsOwner(url: string | undefined, planned: Parameters<typeof dropPartitions>[1]): Promise<string[]> {
  if (url === undefined) throw new ServiceError('invalid_parameter', 'DATABASE_OWNER_URL must be set to drop partitions');
  const owner = await openDatabase({ url, poolSize: 1, applicationName: 'svc admin' });
  try {
    return await dropPartitions(owner, planned);
  } finally {
    await owner.close();
  }
}
