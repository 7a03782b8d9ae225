import { Command } from 'commander';
import { endpointQuery } from '../../modules/kernel/workflow/attributes.ts';
import { listBacklogs } from '../../modules/operations/use/onCall.ts';
import type { RetryOrder } from '../../modules/webhooks/use/manageRetries.ts';
import { orderRetries } from '../../modules/webhooks/use/manageRetries.ts';
import { limited, parseId } from './options.ts';
import type { Surroundings } from './surroundings.ts';
import { callOf, linksOf } from './surroundings.ts';

/** Commands about webhook receivers that do not answer. */
export function endpointCommands({ open, print, operator }: Surroundings): Command {
  const endpoint = new Command('endpoint').description('Webhook endpoints of a site.');
  const order = async (tenantId: string, endpointId: string, wanted: RetryOrder): Promise<void> => {
    const { database } = await open();
    print(await orderRetries({ database }, callOf({ operator }, tenantId), parseId(endpointId), wanted));
  };
  limited(endpoint.command('backlog'))
    .description('Receivers with deliveries that are due, the most first: how many, since when, and whether they are paused.')
    .action(async ({ limit }: { limit: number }) => {
      const { database, config } = await open();
      const { found } = linksOf(config);
      const receivers = await listBacklogs({ database }, limit);
      print({ receivers: receivers.map((one) => ({ ...one, workflowsUrl: found(endpointQuery(one.endpointId)) })) });
    });
  endpoint
    .command('pause <tenantId> <endpointId>')
    .description('Sends nothing to it for a while; what waits uses no attempt.')
    .option('--hours <number>', '1 to 168, after which it is sent to again', Number, 24)
    .action((tenantId: string, endpointId: string, { hours }) => order(tenantId, endpointId, { kind: 'pause', hours }));
  endpoint
    .command('resume <tenantId> <endpointId>')
    .description('Ends its pause.')
    .action((tenantId: string, endpointId: string) => order(tenantId, endpointId, { kind: 'resume' }));
  endpoint
    .command('skip <tenantId> <endpointId>')
    .description('Makes the attempts that wait there now; each uses one of its eight.')
    .action((tenantId: string, endpointId: string) => order(tenantId, endpointId, { kind: 'skip' }));
  return endpoint;
}
