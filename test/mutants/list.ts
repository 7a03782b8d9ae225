import { AGENT_MUTANTS } from './agents.ts';
import { AGENT_TOOL_MUTANTS } from './agentTool.ts';
import { BOUND_MUTANTS } from './bounds.ts';
import { BUDGET_MUTANTS } from './budgets.ts';
import { CONSOLE_MUTANTS } from './console.ts';
import { CONTRACT_MUTANTS } from './contracts.ts';
import { DISCOVERY_MUTANTS } from './discovery.ts';
import { FAIR_MUTANTS } from './fair.ts';
import { GAS_MUTANTS } from './gas.ts';
import { JUDGING_MUTANTS } from './judging.ts';
import { LEDGER_MUTANTS } from './ledger.ts';
import { LICENCE_MUTANTS } from './licences.ts';
import { LIVE_MUTANTS } from './live.ts';
import { MCP_MUTANTS } from './mcp.ts';
import { MONTH_MUTANTS } from './months.ts';
import type { Mutant } from './mutant.ts';
import { NETWORK_MUTANTS } from './networks.ts';
import { OLP_MUTANTS } from './olp.ts';
import { PAGE_MUTANTS } from './pages.ts';
import { PRICE_RULE_MUTANTS } from './priceRules.ts';
import { PRICE_MUTANTS } from './prices.ts';
import { PUBLISHER_MUTANTS } from './publisher.ts';
import { PYTHON_MUTANTS } from './python.ts';
import { QUERY_RATE_MUTANTS } from './queryRates.ts';
import { RATE_MUTANTS } from './rates.ts';
import { READ_AGAIN_MUTANTS } from './readAgain.ts';
import { RECEIPT_MUTANTS } from './receipts.ts';
import { RELAYER_QUEUE_MUTANTS } from './relayerQueue.ts';
import { RELIABILITY_MUTANTS } from './reliability.ts';
import { RESTORE_MUTANTS } from './restore.ts';
import { RULE_MUTANTS } from './rules.ts';
import { SERIES_MUTANTS } from './series.ts';
import { SIMULATION_MUTANTS } from './simulation.ts';
import { SITE_MUTANTS } from './sites.ts';
import { SPENDING_MUTANTS } from './spending.ts';
import { STATEMENT_MUTANTS } from './statements.ts';
import { USAGE_MUTANTS } from './usage.ts';

/** Every bug that a test must notice, those with cheap tests first. */
export const MUTANTS: readonly Mutant[] = [
  ...RULE_MUTANTS,
  ...JUDGING_MUTANTS,
  ...FAIR_MUTANTS,
  ...RELAYER_QUEUE_MUTANTS,
  ...GAS_MUTANTS,
  ...LIVE_MUTANTS,
  ...LEDGER_MUTANTS,
  ...RELIABILITY_MUTANTS,
  ...LICENCE_MUTANTS,
  ...BUDGET_MUTANTS,
  ...USAGE_MUTANTS,
  ...READ_AGAIN_MUTANTS,
  ...MCP_MUTANTS,
  ...PAGE_MUTANTS,
  ...OLP_MUTANTS,
  ...DISCOVERY_MUTANTS,
  ...BOUND_MUTANTS,
  ...RESTORE_MUTANTS,
  ...NETWORK_MUTANTS,
  ...PRICE_MUTANTS,
  ...SIMULATION_MUTANTS,
  ...PRICE_RULE_MUTANTS,
  ...AGENT_TOOL_MUTANTS,
  ...PUBLISHER_MUTANTS,
  ...PYTHON_MUTANTS,
  ...AGENT_MUTANTS,
  ...RECEIPT_MUTANTS,
  ...RATE_MUTANTS,
  ...QUERY_RATE_MUTANTS,
  ...SPENDING_MUTANTS,
  ...STATEMENT_MUTANTS,
  ...SERIES_MUTANTS,
  ...SITE_MUTANTS,
  ...CONTRACT_MUTANTS,
  ...CONSOLE_MUTANTS,
  ...MONTH_MUTANTS,
];
