import { mutation } from '../../core/mutate.ts';

/** Licences that were sold, and how many stand how. */
export const LICENCES_DOCUMENT = `query licences($tenantId: ID, $filter: SoldLicenceFilter, $orderBy: LicenceOrder, $after: String) {
  tenant(tenantId: $tenantId) {
    licencesSold(filter: $filter, orderBy: $orderBy, after: $after, first: 25) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { jti accountId host patterns terms kind pages from until micro holder boughtAt revokedAt revokedReason payment { paymentId }
        reportedUse { use count outside } }
    }
    inForce: licencesSold(filter: { inForce: true }, first: 1) { totalCount }
    ending: licencesSold(filter: { endsWithinDays: 14 }, first: 1) { totalCount }
  }
}`;

/** A licence as it is now. */
export const LICENCE_DOCUMENT = `query licence($tenantId: ID, $jti: ID!) {
  tenant(tenantId: $tenantId) { licenceSold(jti: $jti) { jti host pages micro until revokedAt } }
}`;

/** What is sold as a licence. */
export const OFFERING_DOCUMENT = `query offering($tenantId: ID) {
  tenant(tenantId: $tenantId) { version priceUsdc licenceOffering { sellsTraining periodFactors { upToDays factor } } }
}`;

export const REVOKE_LICENCE_DOCUMENT = mutation('revokeLicence', 'jti');
export const DENY_TOKEN_DOCUMENT = mutation('denyToken', 'jti');
export const SET_OFFERING_DOCUMENT = mutation('setLicenceOffering', 'sellsTraining');

/** A licence that was sold. */
export interface Licence {
  readonly jti: string;
  readonly accountId: string;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly kind: string;
  readonly pages: number;
  readonly from: number;
  readonly until: number;
  readonly micro: string;
  readonly holder: string | null;
  readonly boughtAt: number;
  readonly revokedAt: number | null;
  readonly revokedReason: string | null;
  readonly payment: { readonly paymentId: string } | null;
  /** What its buyer says it used it for: nobody checked it. */
  readonly reportedUse: readonly ReportedUse[];
}

/** What a buyer reports of one use. */
export interface ReportedUse {
  readonly use: string;
  readonly count: number;
  readonly outside: number;
}

/** What a site sells as a licence. */
export interface Offering {
  readonly sellsTraining: boolean;
  readonly periodFactors: readonly { readonly upToDays: number; readonly factor: string }[] | null;
}
