import { defineEntity, p } from '@mikro-orm/postgresql';
import type { Address, Leg } from '../../modules/kernel/money/legs.ts';
import type { CrossingKind } from '../../modules/kernel/terms.ts';
import type { NoticeKind } from '../../modules/licences/rules/purchaseNews.ts';

export const AccessScope = defineEntity({
  name: 'AccessScope',
  tableName: 'access_scope',
  properties: {
    tenantId: p.uuid().primary(),
    jti: p.text().primary(),
    licenceJti: p.uuid(),
    paths: p.array().$type<readonly string[]>().nullable(),
    expiresAt: p.datetime(3),
  },
});

export const AccountLicence = defineEntity({
  name: 'AccountLicence',
  tableName: 'account_licence',
  properties: {
    accountId: p.uuid().primary(),
    jti: p.uuid().primary(),
    tenantId: p.uuid(),
    boughtAt: p.datetime(3),
  },
});

export const AccountNotice = defineEntity({
  name: 'AccountNotice',
  tableName: 'account_notice',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    position: p.smallint().primary(),
    kind: p.text().$type<NoticeKind>(),
    accountId: p.uuid(),
    at: p.datetime(3).defaultRaw('now()'),
  },
});

export const OpenPurchase = defineEntity({
  name: 'OpenPurchase',
  tableName: 'open_purchase',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    network: p.text(),
    heldUntil: p.datetime(3).defaultRaw('now()'),
  },
});

export const DeniedLicence = defineEntity({
  name: 'DeniedLicence',
  tableName: 'denied_licence',
  properties: {
    tenantId: p.uuid().primary(),
    jti: p.text().primary(),
    reason: p.text(),
    deniedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const Licence = defineEntity({
  name: 'Licence',
  tableName: 'licence',
  properties: {
    tenantId: p.uuid().primary(),
    jti: p.uuid().primary(),
    accountId: p.uuid(),
    paymentId: p.uuid(),
    offerId: p.uuid(),
    host: p.text(),
    patterns: p.array(),
    terms: p.array(),
    kind: p.text().$type<CrossingKind>(),
    periodFrom: p.datetime(3),
    periodUntil: p.datetime(3),
    priceMicro: p.bigint('string'),
    legs: p.json().$type<readonly { readonly toAddress: Address; readonly amountMicro: string }[]>(),
    holder: p.text().$type<Address>().nullable(),
    boughtAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    revokedReason: p.text().$type<'revoked' | 'payment_reverted'>().nullable(),
  },
});

/** Columns of an offer that a payment names, and of one that nobody paid for yet. */
const offered = {
  tenantId: p.uuid().primary(),
  offerId: p.uuid().primary(),
  accountId: p.uuid(),
  requestHash: p.text(),
  host: p.text(),
  patterns: p.array().$type<readonly string[]>(),
  terms: p.array().$type<readonly string[]>(),
  kind: p.text().$type<CrossingKind>(),
  periodFrom: p.datetime(3),
  periodUntil: p.datetime(3),
  priceMicro: p.bigint('string'),
  legs: p.json().$type<readonly (Omit<Leg, 'amountMicro'> & { readonly amountMicro: string })[]>(),
  legWords: p.array().$type<readonly `0x${string}`[]>().nullable(),
  payTo: p.text().$type<Address>(),
  network: p.text(),
  asset: p.text().$type<Address>(),
  router: p.text().$type<Address>(),
  holder: p.text().$type<Address>().nullable(),
  expiresAt: p.datetime(3),
};

export const LicenceOffer = defineEntity({
  name: 'LicenceOffer',
  tableName: 'licence_offer',
  properties: {
    ...offered,
    pages: p.json().$type<readonly { readonly path: string; readonly slug: string; readonly micro: string }[]>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const OpenLicenceOffer = defineEntity({
  name: 'OpenLicenceOffer',
  tableName: 'open_licence_offer',
  properties: { ...offered, pageCount: p.integer(), pagesDigest: p.text() },
});

export const LicencePage = defineEntity({
  name: 'LicencePage',
  tableName: 'licence_page',
  properties: {
    tenantId: p.uuid().primary(),
    jti: p.uuid().primary(),
    path: p.text().primary(),
    slug: p.text(),
    micro: p.bigint('string'),
  },
});
