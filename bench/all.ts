import { accessBench } from './access.ts';
import type { Bench } from './harness/bench.ts';
import { licenceQuoteBench } from './licenceQuote.ts';
import { licenseCheckBench } from './licenseCheck.ts';
import { observeBench } from './observe.ts';
import { quoteBench } from './quote.ts';
import { webhooksBench } from './webhooks.ts';

/** Every bench, in the order of the page. */
export const BENCHES: readonly Bench[] = [
  quoteBench,
  observeBench,
  licenseCheckBench,
  licenceQuoteBench,
  accessBench,
  webhooksBench,
];
