import { sleep } from '@temporalio/workflow';
import { ServiceError } from '../../../modules/kernel/errors.ts';

/** What a workflow may look like: the SDK and rules. */
export async function waitThenFail(): Promise<void> {
  await sleep(1);
  throw new ServiceError('internal', 'Nothing was there to wait for.');
}
