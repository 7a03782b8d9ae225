import type { Bench } from './harness/bench.ts';
import { quoteBench } from './quote.ts';

/** Every bench, in the order of the page. */
export const BENCHES: readonly Bench[] = [quoteBench];
