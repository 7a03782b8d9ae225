import type { Capability, CheckReason, CodeArtifact } from '../../modules/hosts/rules/challenge.ts';
import type {
  Basis,
  EnforcementStatus,
  EnforcementVerdict,
  NextAction,
  Track,
} from '../../modules/hosts/rules/enforcementStatus.ts';
import type { Actor } from '../../modules/kernel/access/auditEntry.ts';
import type { Plan, TenantStatus } from '../../modules/kernel/access/key.ts';
import type { ErrorCode, FailureReason } from '../../modules/kernel/errors.ts';
import type { WITHOUT_402 } from '../../modules/kernel/payment/answered.ts';
import type { NO_CREDITS } from '../../modules/pricing/rules/pricing.ts';
import type { Batch, Payment, SoldLicence } from '../../modules/reports/use/lists/lists.ts';
import { builder } from './builder.ts';

/** Closed sets whose values are written as the REST API and the rows have them, in lower case. */

/** An enum whose names are the words themselves. */
export function words<T extends string>(name: string, description: string, meanings: Record<T, string>) {
  const values = Object.fromEntries(
    Object.entries<string>(meanings).map(([value, meaning]) => [value, { value, description: meaning }]),
  ) as Record<T, { value: T; description: string }>;
  return builder.enumType(name, { description, values });
}

/** Where a site stands. */
export const TenantStatusName = words<TenantStatus>('TenantStatus', 'Where a site stands.', {
  pending: 'It has no proven host yet: nothing is quoted.',
  active: 'It sells.',
  suspended: 'The operator stopped it: it is only read.',
  closed: 'It is closed permanently; its money and its ledger stay.',
});

/** Plans. */
export const PlanName = words<Plan>('Plan', 'What a site has booked; API access begins with `studio`.', {
  free: 'Nothing booked: no API access, and the shortest retention.',
  starter: 'No API access; longer retention than free.',
  studio: 'The first plan with API access.',
  scale: 'As studio, with longer retention.',
  enterprise: 'As scale, with the longest retention.',
});

/** Who sends payments. */
export const SettlerName = words<'relayer' | 'facilitator' | 'mock'>('Settler', 'Who sends a payment to the chain.', {
  relayer: 'This service’s own key.',
  facilitator: 'A facilitator of x402.',
  mock: 'Nobody: a payment of a test key.',
});

/** Payer kinds. */
export const PayerKindName = words<Payment['payerKind']>('PaymentLane', 'With which others a payment shares a batch.', {
  plain: 'Its payer is a key.',
  contract: 'Its payer is a contract, whose code runs: such payments go out among themselves.',
});

/** States of batches. */
export const BatchStateName = words<Batch['state']>('BatchState', 'Where a batch stands.', {
  open: 'Signed, and not seen mined.',
  mined: 'In a block that a reorganisation may still take.',
  safe: 'In a block that stays.',
});

/** Phases of anomaly rules. */
export const RulePhaseName = words<'armed' | 'breached' | 'throttled'>('AnomalyRulePhase', 'What a rule does now.', {
  armed: 'It watches.',
  breached: 'Its figure is out of bounds.',
  throttled: 'Its figure is in bounds again; it told so lately that it keeps quiet for a while.',
});

/** Who enforces on a host. */
export const EnforcementModeName = words<EnforcementVerdict>('EnforcementMode', 'Who enforces on a host.', {
  fleet: 'Our fleet, in front of the host.',
  in_app: 'The site itself, with our package or plugin.',
  idle: 'Nobody at the moment: the site has not been heard for a day.',
  conflict: 'Both our fleet and the site: readers are asked twice.',
  unverified: 'Nobody: the host is not proven.',
});

/** How sure a verdict is. */
export const ConfidenceName = words<EnforcementStatus['confidence']>('Confidence', 'How sure a verdict is.', {
  high: 'Something seen or heard lately says so.',
  medium: 'Only ownership or reports say so.',
  low: 'Nothing but silence says so.',
});

/** What a verdict rests on. */
export const BasisName = words<Basis>('EnforcementBasis', 'What a verdict about a host rests on.', {
  dns_cname: 'Its DNS leads to our fleet.',
  live_probe: 'A request to it was answered by our fleet, or by something else.',
  inapp_quote: 'The site asked what a page costs.',
  inapp_verify: 'The site had a payment checked.',
  observe: 'The site reported what it observed.',
  challenge: 'Its challenge: open, or met.',
});

/** What somebody should do about a host. */
export const NextActionName = words<NextAction>('NextAction', 'What somebody should do about a host.', {
  none: 'Nothing.',
  verify_host: 'Prove it.',
  remove_cname: 'Take away the DNS name that leads to our fleet: the site enforces itself.',
  reconnect_sdk: 'See why the site has gone quiet.',
  install_code: 'Install the package or the plugin.',
  fix_dns: 'Let the DNS name lead to our fleet again.',
  rotate_key: 'Give the site a key that works: the one it shows is refused.',
  upgrade_plan: 'Take a plan with API access.',
  wait: 'Nothing yet: it was set up a short while ago.',
});

/** The ways a host is held. */
export const TrackName = words<keyof EnforcementStatus['tracks']>('EnforcementTrackName', 'One way a host is held.', {
  fleet: 'Our fleet in front of it.',
  in_app: 'Code of ours in the site.',
  ownership: 'That the host is proven to be the site’s.',
  key: 'A key that works.',
});

/** States of the ways a host is held. */
export const TrackStateName = words<Track>('EnforcementTrackState', 'Where one way of holding a host stands.', {
  ok: 'It is there.',
  missing: 'It never was.',
  stale: 'It was there and is not any more.',
});

/** Why a licence ended early. */
export const RevokedReasonName = words<NonNullable<SoldLicence['revokedReason']>>('RevokedReason', 'Why a licence ended early.', {
  revoked: 'The owner revoked it.',
  payment_reverted: 'The chain took its payment back.',
});

/** Why an endpoint is disabled. */
export const DisabledReasonName = words<'owner' | 'gone' | 'failing'>('DisabledReason', 'Why an endpoint is disabled.', {
  owner: 'Its owner disabled it.',
  gone: 'It answered 410 Gone.',
  failing: 'It failed for days, delivery after delivery.',
});

/** Why a check of a host proved nothing. */
export const CheckReasonName = words<CheckReason>('HostCheckReason', 'Why a check of a host proved nothing.', {
  no_challenge: 'No challenge is open, or its token is too old: open it again.',
  not_verified: 'Nothing was found where the token should be.',
  dns_mismatch: 'The DNS record has another value.',
  host_taken: 'Another site has proven it.',
  redirect: 'It leads to another address.',
  tls_error: 'Its certificate is not good.',
  blocked_address: 'It leads to an address that is not public.',
  timeout: 'It did not answer in time.',
  wrong_token: 'Another token was found.',
});

/** What a site lets its owner install. */
export const CapabilityName = words<Capability>('SiteCapability', 'What a site lets its owner install, by the look of it.', {
  code: 'Code of ours fits.',
  prefer_code: 'Code of ours probably fits.',
  dns_only: 'DNS alone: it is made with a site builder.',
  locked: 'Nothing: its name belongs to a platform.',
  unknown: 'It does not say.',
});

/** What of ours fits a site. */
export const CodeArtifactName = words<CodeArtifact>('CodeArtifact', 'What of ours fits a site.', {
  npm: 'The package for JavaScript.',
  wordpress_plugin: 'The plugin for WordPress.',
});

/** How who made a change had signed in. */
export const ActorViaName = words<Actor['via']>('ActorVia', 'How the user who made a change had signed in.', {
  oidc: 'With the identity provider.',
  token: 'With an owner token.',
  operator: 'With the operator’s command line.',
  invitation: 'As an author, with the invitation.',
});

/** Why an observation says what it does. */
export const ObservationReasonName = words<FailureReason | typeof NO_CREDITS | typeof WITHOUT_402>(
  'ObservationReason',
  'Why a payment failed, why a page was free, or that a sale answers no 402.',
  {
    insufficient_funds: 'The payer’s balance was too low.',
    authorization_invalid: 'The signed authorization does not fit, or could not be used.',
    malformed_payment: 'The payment could not be read.',
    network_unsupported: 'It was for a chain or token that the site does not take.',
    settlement_failed: 'The chain refused it.',
    no_credits: 'An agent got the page free, because no author is named to be paid.',
    without_402: 'This service sold it at its own address: no gate observed a 402 before.',
  },
);

/** Codes of errors. */
export const ErrorCodeName = words<ErrorCode>('ErrorCode', 'What went wrong: the machine codes of the whole API.', {
  malformed_body: 'The body cannot be read.',
  agent_refused: 'A price rule of the site refuses the page to this agent.',
  body_too_large: 'The body is too long.',
  invalid_parameter: 'A member has a value that cannot be used; `parameter` says which.',
  query_limit: 'The query goes beyond a limit; `extensions.limit` says which.',
  invalid_resource: 'The resource is no http or https URL.',
  money_verdict: 'A verdict about money is the service’s to give, not a gate’s.',
  missing_credential: 'A credential is needed.',
  unknown_credential: 'The credential is not recognised, or not any more.',
  scope_missing: 'The credential may not do this.',
  site_suspended: 'The site is suspended: it is only read.',
  cross_site: 'The call does not come from the console’s own page.',
  resource_not_owned: 'The resource is on no host of the site.',
  outside_period: 'The licence is not in force at the moment.',
  plan_gate: 'The plan of the site lacks API access.',
  not_found: 'There is nothing of this id, or it is somebody else’s.',
  conflict: 'The state of things does not allow it now.',
  idempotency_conflict: 'The request key was used for another request.',
  insufficient_funds: 'The payer’s balance is too low.',
  authorization_invalid: 'The signed authorization does not fit, or cannot be used.',
  malformed_payment: 'The payment cannot be read.',
  network_unsupported: 'The chain or token is not taken.',
  settlement_failed: 'The chain refused the payment.',
  settlement_pending: 'The payment is on its way; ask again.',
  quote_expired: 'The price has changed since it was quoted.',
  budget_exceeded: 'The budget of the buyer’s account does not let it pay.',
  approval_required: 'The owner of the buyer’s account has to say yes first.',
  throttled: 'Too often: wait.',
  credits_unavailable: 'The credits API of the site does not answer.',
  payee_blocked: 'The token pays nothing to one of the authors.',
  chain_unavailable: 'The chain cannot be asked at the moment.',
  database_unavailable: 'The database cannot be reached, or took too long.',
  workflows_unavailable: 'The workflows cannot be reached.',
  signing_key_unavailable: 'The key that signs licences cannot be used.',
  identity_unavailable: 'The identity provider cannot be asked.',
  overloaded: 'There is no room at the moment; ask again.',
  payer_limited: 'Payments of this payer keep failing on the chain; they wait for an hour.',
  gas_budget_spent: 'The site’s gas of the day is spent.',
  internal: 'Something went wrong on our side.',
});
