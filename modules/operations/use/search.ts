import type { Database, Sql } from '../../../db/database.ts';
import { rethrow } from '../../../db/outage.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Page, Place } from '../../paging/store/page.ts';
import type { OperatorEntry } from '../../tenants/store/auditLog.ts';
import { listOperatorEntries } from '../../tenants/store/auditLog.ts';
import type { BuyerWanted, TenantWanted } from '../store/finds/parties.ts';
import { findLicence, listBuyers, listLicences, listTenants } from '../store/finds/parties.ts';
import type { PaymentWanted } from '../store/finds/payments.ts';
import { findPayments, findPaymentsOfTransaction } from '../store/finds/payments.ts';

/** What the operator's finds need. */
export interface FindDeps {
  readonly database: Sql;
}

/** How much of a list is asked for; `after` is the `next` of the page before. */
export interface PageAsked {
  readonly limit: number;
  readonly after: string | null;
}

/** A page of a list; `next` asks for the one behind it, null: this was the last. */
export interface Listed<T> {
  readonly items: readonly Omit<T, 'id'>[];
  readonly next: string | null;
}

/** Most rows of a page. */
export const MOST_ROWS = 200;
const WEEK_MS = 7 * 86_400_000;

/**
 * Payments by what is known of them, the newest first. A transaction stands for itself. Without it and without a payer, only the seven
 * days before `until` are looked at unless `since` says otherwise, so that no search reads a year by mistake. Throws
 * invalid_parameter.
 */
export function searchPayments(
  deps: FindDeps,
  asked: PageAsked,
  { txHash, ...wanted }: PaymentWanted & { readonly txHash: string | null },
): Promise<Listed<Awaited<ReturnType<typeof findPayments>>[number]>> {
  if (txHash !== null) {
    if (Object.values(wanted).some((one) => one !== null)) {
      throw new ServiceError('invalid_parameter', 'a transaction is looked up alone: leave out the other options');
    }
    return listed(asked, (page) => findPaymentsOfTransaction(deps.database, page, txHash));
  }
  const { payer, since, until } = wanted;
  const from = since ?? (payer === null ? new Date((until?.getTime() ?? Date.now()) - WEEK_MS) : null);
  return listed(asked, (page) => findPayments(deps.database, page, { ...wanted, since: from }));
}

/** Sites, the newest first. */
export function searchTenants(deps: FindDeps, asked: PageAsked, wanted: TenantWanted) {
  return listed(asked, (page) => listTenants(deps.database, page, wanted));
}

/** A site with its pricing, hosts and how many keys are active. Throws not_found. */
export async function showTenant(deps: { readonly database: Database }, tenantId: string) {
  const wanted = { tenantId, host: null, ownerUserId: null, status: null };
  const { items } = await searchTenants(deps, { limit: 1, after: null }, wanted);
  if (!items[0]) throw new ServiceError('not_found', 'there is no such site');
  const { findTenantStory } = await import('../store/finds/site.ts'); // with MikroORM, which other commands do without
  return { ...items[0], ...(await findTenantStory(deps.database, tenantId).catch(rethrow)) };
}

/** Buyer accounts, the newest first. */
export function searchBuyers(deps: FindDeps, asked: PageAsked, wanted: BuyerWanted) {
  return listed(asked, (page) => listBuyers(deps.database, page, wanted));
}

/** Licences of a site or an account, the newest first. Throws invalid_parameter when neither is named. */
export function searchLicences(
  deps: FindDeps,
  asked: PageAsked,
  of: { readonly tenantId: string | null; readonly accountId: string | null },
) {
  if (of.tenantId === null && of.accountId === null) {
    throw new ServiceError('invalid_parameter', 'licence list takes --tenant, --account, or both');
  }
  return listed(asked, (page) => listLicences(deps.database, page, of));
}

/** One licence, by the id of the payment that bought it. Throws not_found. */
export async function showLicence(deps: FindDeps, jti: string): Promise<Record<string, unknown>> {
  const found = await findLicence(deps.database, jti);
  if (!found) throw new ServiceError('not_found', 'there is no such licence');
  const { at: _at, id: _id, ...licence } = found;
  return licence;
}

/** What operators changed anywhere, or all changes of one site, the newest first. */
export function searchAudit(deps: FindDeps, asked: PageAsked, tenantId: string | null): Promise<Listed<OperatorEntry>> {
  return listed(asked, (page) => listOperatorEntries(deps.database, page, tenantId));
}

/** Reads one row more than asked: it tells whether there is another page. */
async function listed<T extends Place>(asked: PageAsked, read: (page: Page) => Promise<readonly T[]>): Promise<Listed<T>> {
  const { limit } = asked;
  const rows = await read({ limit: limit + 1, after: placeOf(asked.after) });
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map(({ id: _id, ...row }) => row),
    next: last === undefined ? null : `${last.at.toISOString()}_${last.id}`,
  };
}

function placeOf(text: string | null): Place | null {
  if (text === null) return null;
  const [time = '', id = ''] = text.split('_');
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || !/^[0-9a-f-]{36}$/.test(id)) {
    throw new ServiceError('invalid_parameter', '--after takes the "next" of the previous page');
  }
  return { at, id };
}
