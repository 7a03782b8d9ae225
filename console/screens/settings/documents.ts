import { mutation } from '../../core/mutate.ts';

/** What an owner sets besides pages and prices. */
export const SETTINGS_DOCUMENT = `query settings($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    tenantId version status plan defaultHost originUrl licenseIssuer createdAt creditsApiUrl defaultPayee { authorId wallet }
    networks { taken configured } discovery { summary tags relay } receiptsPublic legalName legalAddress readAgainHours alertEmail isAlertEmailConfirmed
    anomalyRules(first: 20) { nodes { ruleId metric range threshold host enabled phase firedAt } }
  }
}`;

export const SET_NETWORKS_DOCUMENT = mutation('setNetworks', 'networks { taken }');
export const SET_DISCOVERY_DOCUMENT = mutation('setDiscovery', 'discovery { summary tags relay }');
export const SET_RECEIPTS_DOCUMENT = mutation('setReceipts', 'isPublic');
export const SET_LEGAL_DETAILS_DOCUMENT = mutation('setLegalDetails', 'legalName legalAddress');
export const SET_READ_AGAIN_DOCUMENT = mutation('setReadAgain', 'version');
export const SET_PAYEE_DOCUMENT = mutation('setPrices', 'version');
export const SET_CREDITS_TOKEN_DOCUMENT = mutation('setCreditsToken', 'origin');
export const SET_ALERT_ADDRESS_DOCUMENT = mutation('setAlertAddress', 'email');
export const CONFIRM_ALERT_ADDRESS_DOCUMENT = mutation('confirmAlertAddress', 'email');
export const CREATE_RULE_DOCUMENT = mutation('createAnomalyRule', 'ruleId');
export const UPDATE_RULE_DOCUMENT = mutation('updateAnomalyRule', 'ruleId');
export const DELETE_RULE_DOCUMENT = mutation('deleteAnomalyRule', 'ruleId');

/** A rule that tells when a figure goes out of bounds. */
export interface Rule {
  readonly ruleId: string;
  readonly metric: string;
  readonly range: string;
  readonly threshold: number;
  readonly host: string | null;
  readonly enabled: boolean;
  readonly phase: string;
  readonly firedAt: number | null;
}

/** What an owner sets besides pages and prices. */
export interface SiteSettings {
  readonly tenantId: string;
  readonly version: number;
  readonly status: string;
  readonly plan: string | null;
  readonly defaultHost: string | null;
  readonly originUrl: string | null;
  readonly licenseIssuer: string | null;
  readonly createdAt: number;
  readonly creditsApiUrl: string | null;
  readonly defaultPayee: { readonly authorId: string; readonly wallet: string } | null;
  readonly networks: { readonly taken: readonly string[]; readonly configured: readonly string[] };
  readonly discovery: { readonly summary: string | null; readonly tags: readonly string[]; readonly relay: boolean };
  readonly receiptsPublic: boolean | null;
  readonly legalName: string | null;
  readonly legalAddress: string | null;
  /** Null: for as long as the licence of the page. */
  readonly readAgainHours: number | null;
  readonly alertEmail: string | null;
  readonly isAlertEmailConfirmed: boolean | null;
  readonly anomalyRules: { readonly nodes: readonly Rule[] };
}
