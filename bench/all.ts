import { fairnessBench } from './fairness.ts';
import { findBench } from './find.ts';
import { graphqlBench } from './graphql.ts';
import type { Bench } from './harness/bench.ts';
import { hostileBench } from './hostile.ts';
import { hostileMcpBench } from './hostileMcp.ts';
import { hostileQueriesBench } from './hostileQueries.ts';
import { licenseCheckBench } from './licenseCheck.ts';
import { mcpBench } from './mcp.ts';
import { observeBench } from './observe.ts';
import { offersBench } from './offers.ts';
import { paymentsBench } from './payments.ts';
import { quoteBench } from './quote.ts';
import { reportsBench } from './reports.ts';
import { scopesBench } from './scopes.ts';
import { settleBench } from './settle.ts';
import { startBench } from './start.ts';
import { storageBench } from './storage.ts';
import { webhooksBench } from './webhooks.ts';

/** Every bench, in the order of the page. */
export const BENCHES: readonly Bench[] = [
  settleBench,
  paymentsBench,
  fairnessBench,
  hostileBench,
  quoteBench,
  offersBench,
  observeBench,
  licenseCheckBench,
  scopesBench,
  reportsBench,
  storageBench,
  webhooksBench,
  graphqlBench,
  findBench,
  mcpBench,
  hostileMcpBench,
  hostileQueriesBench,
  startBench,
];
