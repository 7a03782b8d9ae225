/**
 * The ledger as the query builder sees it: each table and view by its name, columns by the names of their properties. The entities are read as types
 * alone, so that a process which writes statements does not load MikroORM. Each table has an interface of its own: a compile error names it, where it would
 * print all of them.
 */
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import type { AlertMail, AnomalyRule } from './entities/anomalies.ts';
import type { AccountAlert, AccountApproval, AccountSpending, AccountSpent } from './entities/budgets.ts';
import type {
  ApiKey,
  ApiKeyHash,
  BuyerAccount,
  BuyerKey,
  ConsoleSession,
  OauthClient,
  OwnerToken,
  SigningKey,
  UsedOnce,
} from './entities/credentials.ts';
import type { AgentDirectory, AgentName, HostLiveness, Observation } from './entities/gate.ts';
import type { HostCaution, HostChallenge, HostCheckBucket, HostClaim, TenantHost } from './entities/hosts.ts';
import type { Crossing, Leg, UnannouncedCrossing } from './entities/ledger.ts';
import type {
  AccessScope,
  AccountLicence,
  AccountNotice,
  DeniedLicence,
  Licence,
  LicenceOffer,
  LicencePage,
  OpenLicenceOffer,
} from './entities/licences.ts';
import type {
  ArchivedChainTransfer,
  ArchivedCrossing,
  ArchivedLeg,
  ArchivedMonth,
  ArchivedPaymentIntake,
  ArchivedPaymentState,
  LedgerChainTransfer,
  LedgerCrossing,
  LedgerCrossingPart,
  LedgerLeg,
  LedgerPayment,
  LedgerPaymentIntake,
  LedgerPaymentState,
} from './entities/months.ts';
import type { OperatorAlert, OperatorAuditLog, RetentionProgress } from './entities/operator.ts';
import type { ReceiptBody } from './entities/receipts.ts';
import type { ChainCursor, ChainTransfer, LostSettlement } from './entities/reconciliation.ts';
import type {
  BlockedPayee,
  FacilitatorSubmission,
  GasUsage,
  NetworkGasUsage,
  PayerStrike,
  Relayer,
  RelayerNonce,
  RelayerTransaction,
  SettlementBatch,
  Split,
  SplitLeg,
  SplitSeller,
} from './entities/relayer.ts';
import type {
  CrossingDay,
  CrossingHour,
  CrossingMonth,
  CrossingPart,
  ObservationDay,
  ObservationMonth,
} from './entities/reports.ts';
import type { DiscoveryListing, SearchedPage } from './entities/search.ts';
import type {
  AuthorizationClaim,
  IdempotencyKey,
  Payment,
  PaymentIntake,
  PaymentState,
  TransferClaim,
} from './entities/settlement.ts';
import type {
  AccessEpoch,
  AuditLog,
  CreditsCopy,
  CreditsToken,
  ImportedPage,
  Member,
  MemberInviteHash,
  Tenant,
  TenantPricing,
} from './entities/tenants.ts';
import type { UsageReport } from './entities/usage.ts';
import type {
  Delivery,
  DeliveryAttempt,
  EndpointLease,
  EventWindow,
  WebhookEndpoint,
  WebhookEvent,
  WebhookEventLeg,
  WebhookSecret,
} from './entities/webhooks.ts';

type ByProperty = { columnNamingStrategy: 'property' };

interface AlertMailTable extends InferKyselyTable<typeof AlertMail, ByProperty> {}
interface AnomalyRuleTable extends InferKyselyTable<typeof AnomalyRule, ByProperty> {}
interface AccountAlertTable extends InferKyselyTable<typeof AccountAlert, ByProperty> {}
interface AccountApprovalTable extends InferKyselyTable<typeof AccountApproval, ByProperty> {}
interface AccountSpendingTable extends InferKyselyTable<typeof AccountSpending, ByProperty> {}
interface AccountSpentTable extends InferKyselyTable<typeof AccountSpent, ByProperty> {}
interface ApiKeyTable extends InferKyselyTable<typeof ApiKey, ByProperty> {}
interface ApiKeyHashTable extends InferKyselyTable<typeof ApiKeyHash, ByProperty> {}
interface BuyerAccountTable extends InferKyselyTable<typeof BuyerAccount, ByProperty> {}
interface BuyerKeyTable extends InferKyselyTable<typeof BuyerKey, ByProperty> {}
interface ConsoleSessionTable extends InferKyselyTable<typeof ConsoleSession, ByProperty> {}
interface OauthClientTable extends InferKyselyTable<typeof OauthClient, ByProperty> {}
interface OwnerTokenTable extends InferKyselyTable<typeof OwnerToken, ByProperty> {}
interface SigningKeyTable extends InferKyselyTable<typeof SigningKey, ByProperty> {}
interface UsedOnceTable extends InferKyselyTable<typeof UsedOnce, ByProperty> {}
interface AgentDirectoryTable extends InferKyselyTable<typeof AgentDirectory, ByProperty> {}
interface AgentNameTable extends InferKyselyTable<typeof AgentName, ByProperty> {}
interface HostLivenessTable extends InferKyselyTable<typeof HostLiveness, ByProperty> {}
interface ObservationTable extends InferKyselyTable<typeof Observation, ByProperty> {}
interface HostCautionTable extends InferKyselyTable<typeof HostCaution, ByProperty> {}
interface HostChallengeTable extends InferKyselyTable<typeof HostChallenge, ByProperty> {}
interface HostCheckBucketTable extends InferKyselyTable<typeof HostCheckBucket, ByProperty> {}
interface HostClaimTable extends InferKyselyTable<typeof HostClaim, ByProperty> {}
interface TenantHostTable extends InferKyselyTable<typeof TenantHost, ByProperty> {}
interface CrossingTable extends InferKyselyTable<typeof Crossing, ByProperty> {}
interface LegTable extends InferKyselyTable<typeof Leg, ByProperty> {}
interface UnannouncedCrossingTable extends InferKyselyTable<typeof UnannouncedCrossing, ByProperty> {}
interface AccessScopeTable extends InferKyselyTable<typeof AccessScope, ByProperty> {}
interface AccountLicenceTable extends InferKyselyTable<typeof AccountLicence, ByProperty> {}
interface AccountNoticeTable extends InferKyselyTable<typeof AccountNotice, ByProperty> {}
interface DeniedLicenceTable extends InferKyselyTable<typeof DeniedLicence, ByProperty> {}
interface LicenceTable extends InferKyselyTable<typeof Licence, ByProperty> {}
interface LicenceOfferTable extends InferKyselyTable<typeof LicenceOffer, ByProperty> {}
interface LicencePageTable extends InferKyselyTable<typeof LicencePage, ByProperty> {}
interface OpenLicenceOfferTable extends InferKyselyTable<typeof OpenLicenceOffer, ByProperty> {}
interface ArchivedMonthTable extends InferKyselyTable<typeof ArchivedMonth, ByProperty> {}
interface ArchivedChainTransferTable extends InferKyselyTable<typeof ArchivedChainTransfer, ByProperty> {}
interface ArchivedCrossingTable extends InferKyselyTable<typeof ArchivedCrossing, ByProperty> {}
interface ArchivedLegTable extends InferKyselyTable<typeof ArchivedLeg, ByProperty> {}
interface ArchivedPaymentIntakeTable extends InferKyselyTable<typeof ArchivedPaymentIntake, ByProperty> {}
interface ArchivedPaymentStateTable extends InferKyselyTable<typeof ArchivedPaymentState, ByProperty> {}
interface LedgerChainTransferTable extends InferKyselyTable<typeof LedgerChainTransfer, ByProperty> {}
interface LedgerCrossingTable extends InferKyselyTable<typeof LedgerCrossing, ByProperty> {}
interface LedgerLegTable extends InferKyselyTable<typeof LedgerLeg, ByProperty> {}
interface LedgerPaymentIntakeTable extends InferKyselyTable<typeof LedgerPaymentIntake, ByProperty> {}
interface LedgerPaymentStateTable extends InferKyselyTable<typeof LedgerPaymentState, ByProperty> {}
interface LedgerPaymentTable extends InferKyselyTable<typeof LedgerPayment, ByProperty> {}
interface LedgerCrossingPartTable extends InferKyselyTable<typeof LedgerCrossingPart, ByProperty> {}
interface OperatorAlertTable extends InferKyselyTable<typeof OperatorAlert, ByProperty> {}
interface OperatorAuditLogTable extends InferKyselyTable<typeof OperatorAuditLog, ByProperty> {}
interface RetentionProgressTable extends InferKyselyTable<typeof RetentionProgress, ByProperty> {}
interface ReceiptBodyTable extends InferKyselyTable<typeof ReceiptBody, ByProperty> {}
interface ChainCursorTable extends InferKyselyTable<typeof ChainCursor, ByProperty> {}
interface ChainTransferTable extends InferKyselyTable<typeof ChainTransfer, ByProperty> {}
interface LostSettlementTable extends InferKyselyTable<typeof LostSettlement, ByProperty> {}
interface BlockedPayeeTable extends InferKyselyTable<typeof BlockedPayee, ByProperty> {}
interface FacilitatorSubmissionTable extends InferKyselyTable<typeof FacilitatorSubmission, ByProperty> {}
interface GasUsageTable extends InferKyselyTable<typeof GasUsage, ByProperty> {}
interface NetworkGasUsageTable extends InferKyselyTable<typeof NetworkGasUsage, ByProperty> {}
interface PayerStrikeTable extends InferKyselyTable<typeof PayerStrike, ByProperty> {}
interface RelayerTable extends InferKyselyTable<typeof Relayer, ByProperty> {}
interface RelayerNonceTable extends InferKyselyTable<typeof RelayerNonce, ByProperty> {}
interface RelayerTransactionTable extends InferKyselyTable<typeof RelayerTransaction, ByProperty> {}
interface SettlementBatchTable extends InferKyselyTable<typeof SettlementBatch, ByProperty> {}
interface SplitTable extends InferKyselyTable<typeof Split, ByProperty> {}
interface SplitLegTable extends InferKyselyTable<typeof SplitLeg, ByProperty> {}
interface SplitSellerTable extends InferKyselyTable<typeof SplitSeller, ByProperty> {}
interface CrossingDayTable extends InferKyselyTable<typeof CrossingDay, ByProperty> {}
interface CrossingHourTable extends InferKyselyTable<typeof CrossingHour, ByProperty> {}
interface CrossingMonthTable extends InferKyselyTable<typeof CrossingMonth, ByProperty> {}
interface CrossingPartTable extends InferKyselyTable<typeof CrossingPart, ByProperty> {}
interface ObservationDayTable extends InferKyselyTable<typeof ObservationDay, ByProperty> {}
interface ObservationMonthTable extends InferKyselyTable<typeof ObservationMonth, ByProperty> {}
interface DiscoveryListingTable extends InferKyselyTable<typeof DiscoveryListing, ByProperty> {}
interface SearchedPageTable extends InferKyselyTable<typeof SearchedPage, ByProperty> {}
interface AuthorizationClaimTable extends InferKyselyTable<typeof AuthorizationClaim, ByProperty> {}
interface IdempotencyKeyTable extends InferKyselyTable<typeof IdempotencyKey, ByProperty> {}
interface PaymentIntakeTable extends InferKyselyTable<typeof PaymentIntake, ByProperty> {}
interface PaymentStateTable extends InferKyselyTable<typeof PaymentState, ByProperty> {}
interface TransferClaimTable extends InferKyselyTable<typeof TransferClaim, ByProperty> {}
interface PaymentTable extends InferKyselyTable<typeof Payment, ByProperty> {}
interface AccessEpochTable extends InferKyselyTable<typeof AccessEpoch, ByProperty> {}
interface AuditLogTable extends InferKyselyTable<typeof AuditLog, ByProperty> {}
interface CreditsCopyTable extends InferKyselyTable<typeof CreditsCopy, ByProperty> {}
interface CreditsTokenTable extends InferKyselyTable<typeof CreditsToken, ByProperty> {}
interface ImportedPageTable extends InferKyselyTable<typeof ImportedPage, ByProperty> {}
interface MemberTable extends InferKyselyTable<typeof Member, ByProperty> {}
interface MemberInviteHashTable extends InferKyselyTable<typeof MemberInviteHash, ByProperty> {}
interface TenantTable extends InferKyselyTable<typeof Tenant, ByProperty> {}
interface TenantPricingTable extends InferKyselyTable<typeof TenantPricing, ByProperty> {}
interface UsageReportTable extends InferKyselyTable<typeof UsageReport, ByProperty> {}
interface DeliveryTable extends InferKyselyTable<typeof Delivery, ByProperty> {}
interface DeliveryAttemptTable extends InferKyselyTable<typeof DeliveryAttempt, ByProperty> {}
interface EndpointLeaseTable extends InferKyselyTable<typeof EndpointLease, ByProperty> {}
interface EventWindowTable extends InferKyselyTable<typeof EventWindow, ByProperty> {}
interface WebhookEndpointTable extends InferKyselyTable<typeof WebhookEndpoint, ByProperty> {}
interface WebhookEventTable extends InferKyselyTable<typeof WebhookEvent, ByProperty> {}
interface WebhookEventLegTable extends InferKyselyTable<typeof WebhookEventLeg, ByProperty> {}
interface WebhookSecretTable extends InferKyselyTable<typeof WebhookSecret, ByProperty> {}

/** Tables and views, those of other schemas with the schema's name. */
export interface Tables {
  'archive.chain_transfer': ArchivedChainTransferTable;
  'archive.crossing': ArchivedCrossingTable;
  'archive.leg': ArchivedLegTable;
  'archive.month': ArchivedMonthTable;
  'archive.payment_intake': ArchivedPaymentIntakeTable;
  'archive.payment_state': ArchivedPaymentStateTable;
  'ledger.chain_transfer': LedgerChainTransferTable;
  'ledger.crossing': LedgerCrossingTable;
  'ledger.crossing_part': LedgerCrossingPartTable;
  'ledger.leg': LedgerLegTable;
  'ledger.payment': LedgerPaymentTable;
  'ledger.payment_intake': LedgerPaymentIntakeTable;
  'ledger.payment_state': LedgerPaymentStateTable;
  access_epoch: AccessEpochTable;
  access_scope: AccessScopeTable;
  account_alert: AccountAlertTable;
  account_approval: AccountApprovalTable;
  account_licence: AccountLicenceTable;
  account_notice: AccountNoticeTable;
  account_spending: AccountSpendingTable;
  account_spent: AccountSpentTable;
  agent_directory: AgentDirectoryTable;
  agent_name: AgentNameTable;
  alert_mail: AlertMailTable;
  anomaly_rule: AnomalyRuleTable;
  api_key: ApiKeyTable;
  api_key_hash: ApiKeyHashTable;
  audit_log: AuditLogTable;
  authorization_claim: AuthorizationClaimTable;
  blocked_payee: BlockedPayeeTable;
  buyer_account: BuyerAccountTable;
  buyer_key: BuyerKeyTable;
  chain_cursor: ChainCursorTable;
  chain_transfer: ChainTransferTable;
  console_session: ConsoleSessionTable;
  credits_copy: CreditsCopyTable;
  credits_token: CreditsTokenTable;
  crossing: CrossingTable;
  crossing_day: CrossingDayTable;
  crossing_hour: CrossingHourTable;
  crossing_month: CrossingMonthTable;
  crossing_part: CrossingPartTable;
  delivery: DeliveryTable;
  delivery_attempt: DeliveryAttemptTable;
  denied_licence: DeniedLicenceTable;
  discovery_listing: DiscoveryListingTable;
  endpoint_lease: EndpointLeaseTable;
  event_window: EventWindowTable;
  facilitator_submission: FacilitatorSubmissionTable;
  gas_usage: GasUsageTable;
  host_caution: HostCautionTable;
  host_challenge: HostChallengeTable;
  host_check_bucket: HostCheckBucketTable;
  host_claim: HostClaimTable;
  host_liveness: HostLivenessTable;
  idempotency_key: IdempotencyKeyTable;
  imported_page: ImportedPageTable;
  leg: LegTable;
  licence: LicenceTable;
  licence_offer: LicenceOfferTable;
  licence_page: LicencePageTable;
  lost_settlement: LostSettlementTable;
  member: MemberTable;
  member_invite_hash: MemberInviteHashTable;
  network_gas_usage: NetworkGasUsageTable;
  oauth_client: OauthClientTable;
  observation: ObservationTable;
  observation_day: ObservationDayTable;
  observation_month: ObservationMonthTable;
  open_licence_offer: OpenLicenceOfferTable;
  operator_alert: OperatorAlertTable;
  operator_audit_log: OperatorAuditLogTable;
  owner_token: OwnerTokenTable;
  payer_strike: PayerStrikeTable;
  payment: PaymentTable;
  payment_intake: PaymentIntakeTable;
  payment_state: PaymentStateTable;
  receipt_body: ReceiptBodyTable;
  relayer: RelayerTable;
  relayer_nonce: RelayerNonceTable;
  relayer_transaction: RelayerTransactionTable;
  retention_progress: RetentionProgressTable;
  searched_page: SearchedPageTable;
  settlement_batch: SettlementBatchTable;
  signing_key: SigningKeyTable;
  split: SplitTable;
  split_leg: SplitLegTable;
  split_seller: SplitSellerTable;
  tenant: TenantTable;
  tenant_host: TenantHostTable;
  tenant_pricing: TenantPricingTable;
  transfer_claim: TransferClaimTable;
  unannounced_crossing: UnannouncedCrossingTable;
  usage_report: UsageReportTable;
  used_once: UsedOnceTable;
  webhook_endpoint: WebhookEndpointTable;
  webhook_event: WebhookEventTable;
  webhook_event_leg: WebhookEventLegTable;
  webhook_secret: WebhookSecretTable;
}
