import type { Database } from '../../db/database.ts';
import { isTransientError, retryConflicts } from '../../db/database.ts';
import type { AdmissionAsk, AdmissionFacts } from '../../db/settlement/admission.ts';
import { readAdmissions } from '../../db/settlement/admission.ts';
import type { AuthorizationKey, Intake, IntakeItem } from '../../db/settlement/intake.ts';
import { insertPayments, listByAuthorization, purchaseText } from '../../db/settlement/intake.ts';
import type { Payment, PaymentRef, StoredLicence } from '../../db/settlement/payment.ts';
import { fixLicences } from '../../db/settlement/payment.ts';
import { gathered } from '../gather.ts';

const LIMIT = 100;
const isOutage = isTransientError;

/** One run for all items, or with GROUP_COMMIT_BY_TENANT one a tenant, one after the other (safety 25). Answers in the order given. */
function bySite<Item, Result>(
  tenantOf: (item: Item) => string,
  run: (database: Database, items: readonly Item[]) => Promise<readonly Result[]>,
): (database: Database, items: readonly Item[]) => Promise<readonly Result[]> {
  return async (database, items) => {
    if (!database.groupByTenant) return run(database, items);
    const answers = new Map<Item, Result>();
    for (const group of Map.groupBy(items, tenantOf).values()) {
      const results = await run(database, group);
      for (const [index, item] of group.entries()) answers.set(item, results[index] as Result);
    }
    return items.map((item) => answers.get(item) as Result);
  };
}

/** The payment that holds an authorization, of any tenant; null when it was never shown to us. Calls at one time share a query. */
export const findKnown: (database: Database, key: AuthorizationKey) => Promise<Payment | null> = gathered(listByAuthorization, {
  ...{ limit: LIMIT, lanes: 1, isOutage },
});

/** What speaks against taking a payment. Calls at one time share a query. */
export const findAdmission: (database: Database, ask: AdmissionAsk) => Promise<AdmissionFacts> = gathered(
  bySite(({ tenantId }: AdmissionAsk) => tenantId, readAdmissions),
  { limit: LIMIT, lanes: 1, isOutage },
);

/**
 * Stores a payment, or gives the one that holds its authorization. Calls at one time share a database transaction; two of one
 * purchase never do, since the second must see the first. Resolves after the commit.
 */
export const store: (database: Database, item: IntakeItem) => Promise<Intake> = gathered(
  bySite(({ payment }: IntakeItem) => payment.tenantId, insertPayments),
  { limit: LIMIT, lanes: 2, isOutage, apart: ({ payment }) => purchaseText(payment) },
);

/** Fixes the licence of a payment if none is fixed yet, and gives the one that stands (safety 13). Calls at one time share a statement. */
export const fixLicence: (
  database: Database,
  entry: { readonly ref: PaymentRef; readonly licence: StoredLicence },
) => Promise<StoredLicence> = gathered(
  bySite(
    ({ ref }: { readonly ref: PaymentRef; readonly licence: StoredLicence }) => ref.tenantId,
    (database, entries) => retryConflicts(() => fixLicences(database, entries)),
  ),
  { limit: LIMIT, lanes: 1, isOutage },
);
