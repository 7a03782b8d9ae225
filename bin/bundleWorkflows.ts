/** `node bin/bundleWorkflows.ts`: makes and keeps the workflow bundles, with and without traces, where a worker finds them. For an image. */
import { openWorkflowBundle } from '../process/workflowBundle.ts';

for (const traced of [false, true]) {
  const bundle = await openWorkflowBundle(traced);
  if (!('codePath' in bundle)) throw new Error('a workflow bundle could not be cached');
}
