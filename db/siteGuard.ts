import type { OperationNode } from 'kysely';

/**
 * Tables and views whose key begins with the site. A test compares them with the entities.
 */
export const SITE_TABLES: ReadonlySet<string> = new Set([
  'access_epoch',
  'access_scope',
  'account_notice',
  'account_spending',
  'agent_name',
  'alert_mail',
  'anomaly_rule',
  'api_key',
  'archive.crossing',
  'archive.leg',
  'archive.payment_intake',
  'archive.payment_state',
  'audit_log',
  'credits_copy',
  'credits_token',
  'crossing',
  'crossing_day',
  'crossing_hour',
  'crossing_month',
  'crossing_part',
  'delivery',
  'delivery_attempt',
  'denied_licence',
  'discovery_listing',
  'endpoint_lease',
  'event_window',
  'facilitator_submission',
  'former_credits',
  'gas_usage',
  'host_challenge',
  'host_liveness',
  'idempotency_key',
  'imported_page',
  'ledger.crossing',
  'ledger.crossing_part',
  'ledger.leg',
  'ledger.payment',
  'ledger.payment_intake',
  'ledger.payment_state',
  'leg',
  'licence',
  'licence_offer',
  'licence_page',
  'member',
  'observation',
  'observation_day',
  'observation_month',
  'open_licence_offer',
  'open_purchase',
  'page_answer',
  'payment',
  'payment_intake',
  'payment_state',
  'searched_page',
  'split_seller',
  'tenant',
  'tenant_host',
  'tenant_pricing',
  'unannounced_crossing',
  'usage_report',
  'webhook_endpoint',
  'webhook_event',
  'webhook_event_leg',
  'webhook_secret',
]);

/**
 * Throws when a statement reads or changes rows of a table in `SITE_TABLES` without comparing that table's `tenantId`: with a value, or with the
 * one of a table beside it. Inserts name the site as a column. It is asked once a statement is written.
 */
export function requireSite(statement: OperationNode): void {
  const named = new Map<string, string>();
  const bound = new Set<string>();
  visit(statement.kind === 'InsertQueryNode' ? [] : statement, named, bound);
  const open = [...named].filter(
    ([alias, table]) => SITE_TABLES.has(table) && !bound.has(alias) && !(bound.has(NO_TABLE) && named.size === 1),
  );
  if (open.length > 0)
    throw new Error(`this statement takes rows of ${open.map(([, table]) => table).join(', ')} without their site`);
}

/** Where a column is named without its table. */
const NO_TABLE = '';

interface Node extends OperationNode {
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'kind' in value;

/** Collects the tables of a statement by their alias, and the aliases whose site is compared. */
function visit(value: unknown, named: Map<string, string>, bound: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) visit(one, named, bound);
  if (!isNode(value) || value.kind === 'ReferenceNode') return;
  if (value.kind === 'AliasNode' && isNode(value['node']) && value['node'].kind === 'TableNode') {
    named.set(identifierOf(value['alias']), tableOf(value['node']));
    return;
  }
  if (value.kind === 'TableNode') {
    named.set(identifierOf(value['table']), tableOf(value));
    return;
  }
  if (value.kind === 'BinaryOperationNode') {
    for (const side of [value['leftOperand'], value['rightOperand']]) {
      const alias = siteOf(side);
      if (alias !== null) bound.add(alias);
    }
  }
  for (const [key, child] of Object.entries(value)) if (key !== 'kind') visit(child, named, bound);
}

/** The alias whose `tenantId` this is; null for anything else. */
function siteOf(side: unknown): string | null {
  if (!isNode(side) || side.kind !== 'ReferenceNode' || !isNode(side['column'])) return null;
  const { column } = side['column'];
  if (!isNode(column) || column['name'] !== 'tenantId') return null;
  const { table } = side;
  return isNode(table) ? identifierOf(table['table']) : NO_TABLE;
}

/** `ledger.payment`, or the name alone for one of `public`. */
function tableOf({ table }: Node): string {
  const { schema } = table as { readonly schema?: unknown };
  const name = identifierOf(table);
  return isNode(schema) ? `${String(schema['name'])}.${name}` : name;
}

/** The name of an identifier, or of one with its schema. */
function identifierOf(node: unknown): string {
  if (!isNode(node)) return '';
  return isNode(node['identifier']) ? String(node['identifier']['name']) : String(node['name']);
}
