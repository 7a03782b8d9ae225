import { accessBench } from './access.ts';
import { agentsBench } from './agents.ts';
import { consoleBench } from './console.ts';
import { fairnessBench } from './fairness.ts';
import { findBench } from './find.ts';
import { gasBench } from './gas.ts';
import { graphqlBench } from './graphql.ts';
import type { Bench } from './harness/bench.ts';
import { hostileBench } from './hostile.ts';
import { hostileQueriesBench } from './hostileQueries.ts';
import { licenceQuoteBench } from './licenceQuote.ts';
import { licenseCheckBench } from './licenseCheck.ts';
import { mcpBench } from './mcp.ts';
import { memoryBench } from './memory.ts';
import { monthsBench } from './months.ts';
import { observeBench } from './observe.ts';
import { offersBench } from './offers.ts';
import { paymentsBench } from './payments.ts';
import { publisherBench } from './publisher.ts';
import { quoteBench } from './quote.ts';
import { recoveryBench } from './recovery.ts';
import { reportsBench } from './reports.ts';
import { scaleBench } from './scale.ts';
import { scopesBench } from './scopes.ts';
import { settleBench } from './settle.ts';
import { signatureBench } from './signature.ts';
import { startBench } from './start.ts';
import { storageBench } from './storage.ts';
import { webhooksBench } from './webhooks.ts';

/** Every bench, in the order of the page. */
export const BENCHES: readonly Bench[] = [
  settleBench,
  paymentsBench,
  fairnessBench,
  hostileBench,
  signatureBench,
  gasBench,
  quoteBench,
  publisherBench,
  agentsBench,
  offersBench,
  observeBench,
  licenseCheckBench,
  licenceQuoteBench,
  scopesBench,
  accessBench,
  reportsBench,
  storageBench,
  monthsBench,
  webhooksBench,
  graphqlBench,
  findBench,
  mcpBench,
  consoleBench,
  hostileQueriesBench,
  recoveryBench,
  scaleBench,
  startBench,
  memoryBench,
];
