import { Command } from 'commander';
import { deployRouter, findInstalledRouter, planRouter, reportRouter } from '../../modules/operations/use/router.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';

interface Surroundings {
  readonly withSettlement: <T>(work: (settlement: SettlementDeps) => Promise<T>) => Promise<T>;
  readonly show: (value: unknown) => void;
}

/** Commands for the contract that splits payments; deploying pays gas with the network's first relayer key. */
export function routerCommands({ withSettlement, show }: Surroundings): Command {
  const router = new Command('router').description(
    'The contract that pays out splits; once on each chain, before the first start.',
  );
  router
    .command('status <network>')
    .description('Compares the code on the chain with the compiled one, byte by byte.')
    .action(async (network: string) => show(await withSettlement((settlement) => reportRouter(settlement, network))));
  router
    .command('deploy <network>')
    .description(
      'Installs it with the first relayer key; without --yes it only says what it would cost. Where it is installed, says so.',
    )
    .option('--yes', 'send the transaction')
    .action(async (network: string, { yes }: { yes?: boolean }) => {
      show(
        await withSettlement(
          async (settlement) =>
            (await findInstalledRouter(settlement, network)) ??
            (yes === true
              ? { deployed: await deployRouter(settlement, network) }
              : { planned: await planRouter(settlement, network), deployed: null }),
        ),
      );
    });
  return router;
}
