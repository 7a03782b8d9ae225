import type { Bench } from './harness/bench.ts';
import { quoteBench } from './quote.ts';
import { webhooksBench } from './webhooks.ts';

/** Every bench, in the order of the page. */
export const BENCHES: readonly Bench[] = [quoteBench, webhooksBench];
