import { GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { metered } from '../limits/budget.ts';
import { COST_ONLY } from '../limits/costOnly.ts';
import { builder } from './builder.ts';
import './scalars.ts';
import '../types/tenant.ts';
import '../types/hosts.ts';
import '../types/settings.ts';
import '../types/discovery.ts';
import '../types/reports/settlementTimes.ts';
import '../types/reports/earnings.ts';
import '../types/sites.ts';
import '../types/crossings.ts';
import '../types/authors.ts';
import '../types/reports/reconciliation.ts';
import '../types/reports/audit.ts';
import '../types/observations.ts';
import '../types/pageAnswers.ts';
import '../types/payments.ts';
import '../types/licences.ts';
import '../types/usage.ts';
import '../types/webhooks.ts';
import '../types/account.ts';
import '../types/priceList.ts';
import '../types/reports/simulation.ts';
import '../types/reports/whatIf.ts';
import '../types/reports/attention.ts';
import '../types/reports/operators.ts';
import '../types/reports/priceHistory.ts';
import '../types/reports/webhookTimes.ts';
import '../types/reports/batchReport.ts';
import '../buyers/account.ts';
import '../buyers/alerts.ts';
import '../buyers/budget.ts';
import '../buyers/spending.ts';
import '../mutations/index.ts';

const DESCRIPTION = `Everything a publisher may see of its sites, and everything their owners may change.

Begin with \`viewer\`, who you are, and \`tenant\`, a site: its reports (\`earnings\`, \`audit\`, \`reconciliation\`, \`statements\`), its lists
(\`crossings\`, \`payments\`, \`licencesSold\` …), and its settings. Money is \`Micro\`, a whole number of micro-USDC as text; moments are
\`EpochMs\`. Lists are Relay connections; what has an identity is a \`Node\`. Each answer says in \`extensions.cost\` what it cost of what it may.`;

function described(made: GraphQLSchema): GraphQLSchema {
  const config = made.toConfig();
  return new GraphQLSchema({ ...config, directives: [...config.directives, COST_ONLY], description: DESCRIPTION });
}

/** The schema of the GraphQL endpoint; what its fields come to is counted. */
export const schema = metered(described(builder.toSchema()));

/** The schema as it is committed (`schema.graphql`). */
export function describeSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
