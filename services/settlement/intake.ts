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

/** The payment that holds an authorization, of any tenant; null when it was never shown to us. Calls at one time share a query. */
export const findKnown: (database: Database, key: AuthorizationKey) => Promise<Payment | null> = gathered(listByAuthorization, {
  ...{ limit: LIMIT, lanes: 1, isOutage },
});

/** What speaks against taking a payment. Calls at one time share a query. */
export const findAdmission: (database: Database, ask: AdmissionAsk) => Promise<AdmissionFacts> = gathered(readAdmissions, {
  ...{ limit: LIMIT, lanes: 1, isOutage },
});

/**
 * Stores a payment, or gives the one that holds its authorization. Calls at one time share a database transaction; two of one
 * purchase never do, since the second must see the first. Resolves after the commit.
 */
export const store: (database: Database, item: IntakeItem) => Promise<Intake> = gathered(insertPayments, {
  ...{ limit: LIMIT, lanes: 2, isOutage },
  apart: ({ payment }) => purchaseText(payment),
});

/** Fixes the licence of a payment if none is fixed yet, and gives the one that stands (safety 13). Calls at one time share a statement. */
export const fixLicence: (
  database: Database,
  entry: { readonly ref: PaymentRef; readonly licence: StoredLicence },
) => Promise<StoredLicence> = gathered((database, entries) => retryConflicts(() => fixLicences(database, entries)), {
  ...{ limit: LIMIT, lanes: 1, isOutage },
});
