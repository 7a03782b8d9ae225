import { EntitySchema } from '@mikro-orm/postgresql';
import * as anomalies from './entities/anomalies.ts';
import * as budgets from './entities/budgets.ts';
import * as credentials from './entities/credentials.ts';
import * as gate from './entities/gate.ts';
import * as hosts from './entities/hosts.ts';
import * as ledger from './entities/ledger.ts';
import * as licences from './entities/licences.ts';
import * as months from './entities/months.ts';
import * as operator from './entities/operator.ts';
import * as receipts from './entities/receipts.ts';
import * as reconciliation from './entities/reconciliation.ts';
import * as relayer from './entities/relayer.ts';
import * as reports from './entities/reports.ts';
import * as search from './entities/search.ts';
import * as settlement from './entities/settlement.ts';
import * as tenants from './entities/tenants.ts';
import * as usage from './entities/usage.ts';
import * as webhooks from './entities/webhooks.ts';

/** What the files of entities export: each entity, and the columns that entities share. */
const all = {
  ...anomalies,
  ...budgets,
  ...credentials,
  ...gate,
  ...hosts,
  ...ledger,
  ...licences,
  ...months,
  ...operator,
  ...receipts,
  ...reconciliation,
  ...relayer,
  ...reports,
  ...search,
  ...settlement,
  ...tenants,
  ...usage,
  ...webhooks,
};

/** One of the entities, with what its type tells of its table. */
export type Entity = Extract<(typeof all)[keyof typeof all], EntitySchema>;

/** Every table of the ledger and every view of it: the one place where TypeScript names a column. */
export const ENTITIES: readonly Entity[] = Object.values(all).filter((one) => one instanceof EntitySchema);
