/** What analysts list of a site, each with its filter; graphql/** asks through these. */

import type { ReadingDeps } from '../../../paging/use/deps.ts';
import type { Owned } from '../../../paging/use/pages.ts';
import { listOf } from '../../../paging/use/pages.ts';
import type { AuditLogRow, HostRow, KeyShown } from '../../store/lists/account.ts';
import { AUDIT_LOG, HOSTS, KEYS } from '../../store/lists/account.ts';
import type { CrossingRow, LegRow } from '../../store/lists/crossings.ts';
import { CROSSINGS, LEGS, LEGS_OF_AUTHOR } from '../../store/lists/crossings.ts';
import type { ImportedPageShown, LicencePageRow, SoldLicenceRow } from '../../store/lists/licences.ts';
import { IMPORTED_PAGES, LICENCE_PAGES, SOLD_LICENCES } from '../../store/lists/licences.ts';
import type { ObservationRow } from '../../store/lists/observations.ts';
import { OBSERVATIONS } from '../../store/lists/observations.ts';
import type { BatchRow, PaymentRow } from '../../store/lists/payments.ts';
import { listBatches, PAYMENTS } from '../../store/lists/payments.ts';
import type { PriceChangeRow } from '../../store/lists/prices.ts';
import { PRICE_CHANGES } from '../../store/lists/prices.ts';
import type { AttemptRow, DeliveryShown, EndpointShown, EventRow } from '../../store/lists/webhooks.ts';
import { ATTEMPTS, DELIVERIES, ENDPOINTS, EVENTS } from '../../store/lists/webhooks.ts';

export type Crossing = Owned<CrossingRow>;
export type Leg = Owned<LegRow>;
export type Payment = Owned<PaymentRow>;
export type Batch = Owned<BatchRow>;
export type Observation = Owned<ObservationRow>;
export type SoldLicence = Owned<SoldLicenceRow>;
export type LicencePage = Owned<LicencePageRow>;
export type ImportedPage = Owned<ImportedPageShown>;
export type Endpoint = Owned<EndpointShown>;
export type WebhookEvent = Owned<EventRow>;
export type Delivery = Owned<DeliveryShown>;
export type Attempt = Owned<AttemptRow>;
export type PublisherKey = Owned<KeyShown>;
export type AuditLogEntry = Owned<AuditLogRow>;
export type Host = Owned<HostRow>;
export type PriceChange = Owned<PriceChangeRow>;

export const crossings = listOf(CROSSINGS);
export const legs = listOf(LEGS);
/** The same rows, found by the wallet that is paid. */
export const legsOfAuthor = listOf(LEGS_OF_AUTHOR);
export const payments = listOf(PAYMENTS);
export const observations = listOf(OBSERVATIONS);
export const soldLicences = listOf(SOLD_LICENCES);
export const licencePages = listOf(LICENCE_PAGES);
export const importedPages = listOf(IMPORTED_PAGES);
export const endpoints = listOf(ENDPOINTS);
export const webhookEvents = listOf(EVENTS);
export const deliveries = listOf(DELIVERIES);
export const attempts = listOf(ATTEMPTS);
export const publisherKeys = listOf(KEYS);
export const auditLog = listOf(AUDIT_LOG);
export const hosts = listOf(HOSTS);
export const priceChanges = listOf(PRICE_CHANGES);

/** The batch of each id, or null, in the order of the ids, as far as it holds a payment of the site. Throws database_unavailable. */
export async function batchesOf({ reading }: ReadingDeps, tenantId: string, ids: readonly string[]): Promise<(Batch | null)[]> {
  const found = await listBatches(reading, tenantId, ids);
  return ids.map((id) => {
    const batch = found.get(id);
    return batch ? { ...batch, tenantId } : null;
  });
}
