import type { HostService } from '../../modules/hosts/use/deps.ts';
import type { AccountCaller } from '../../modules/identity/use/accounts/authenticate.ts';
import type { BearerDeps } from '../../modules/identity/use/accounts/deps.ts';
import type { Owner, OwnerDeps } from '../../modules/identity/use/owners/authenticate.ts';
import { ownerKey } from '../../modules/identity/use/owners/authenticate.ts';
import type { KeyState } from '../../modules/kernel/access/key.ts';
import type { Log } from '../../modules/kernel/log.ts';
import type { ReadingDatabase, ReadingReplicas } from '../../modules/paging/use/deps.ts';
import type { PublisherDeps } from '../../modules/quotes/use/deps.ts';
import type { TestPurchaseDeps } from '../../modules/storefront/use/testPurchase.ts';
import type { EndpointDeps } from '../../modules/webhooks/use/endpoints.ts';
import type { HeavyWork } from '../../platform/pacing/heavy.ts';
import { accountName, siteName } from '../../platform/pacing/heavy.ts';
import type { Holder, Rates } from '../../platform/pacing/rates.ts';
import type { Budget } from '../limits/budget.ts';

/** What questions are answered with, and nothing else: all that a thread of its own is given. */
export interface ReaderDeps extends Pick<PublisherDeps, 'pepper' | 'clock' | 'priceFloorMicro'> {
  readonly log: Log;
  /** CAIP-2 ids of the networks configured, the cheapest first. */
  readonly networkIds: readonly string[];
  /** A pool of its own, with a limit on each statement: analysts cannot slow settlement. */
  readonly reading: ReadingDatabase;
  /** Standbys that questions about sites are read from while they may answer; none: everything is read through `reading`. */
  readonly replicas?: ReadingReplicas;
}

/** What the handler lets callers in and makes changes with. */
export interface GraphqlDeps
  extends PublisherDeps,
    Omit<EndpointDeps, 'database' | 'outbound'>,
    Pick<OwnerDeps, 'oidc' | 'signUp'>,
    BearerDeps {
  readonly log: Log;
  /**
   * Counts the calls of owners by their user, since each may have as many tokens as he likes, and all questions by what they cost; none:
   * they are not counted.
   */
  readonly rates?: Pick<Rates, 'count' | 'queue'>;
  /** Room for heavy work, which REST shares: questions are. */
  readonly heavy: HeavyWork;
  /** Settles payments; here those of test purchases, by the rail of test keys. */
  readonly settle: TestPurchaseDeps['settle'];
  readonly codeWallets: TestPurchaseDeps['codeWallets'];
  /** The client for other people's servers. */
  readonly outbound: Pick<TestPurchaseDeps['outbound'], 'send'> & EndpointDeps['outbound'];
  /** Host verification. */
  readonly hosts: HostService;
  /** Most imported pages of a site (modules/storefront/use/licences/offering.ts). */
  readonly sitePages?: number;
}

/** Who asks: exactly one of `key`, `owner` and `account`. Plain data, so that it can be handed to another thread. */
export interface Visitor {
  readonly requestId: string;
  /** The publisher key of the call, as Postgres had it when the call began; scopes and plan are asked for per field. */
  readonly key: KeyState | null;
  readonly owner: Owner | null;
  /** A buyer account: it sees itself and no site, as keys and owners of a site see no account. */
  readonly account: AccountCaller | null;
}

/** The name of the one site, or of the account, a caller is of; of an owner of several sites, the owner's. */
export function siteOf({ key, owner, account }: Pick<Visitor, 'key' | 'owner' | 'account'>): string {
  if (account) return accountName(account.accountId);
  const [only, ...others] = key ? [key.tenantId] : (owner?.tenantIds ?? []);
  return only !== undefined && others.length === 0 ? siteName(only) : owner ? ownerKey(owner) : '';
}

/**
 * Whose questions count together, with a rate as large as a key's or an account's and apart from it, so that they take nothing from
 * quotes and purchases: those of all keys of a site, of an owner, and of an account.
 */
export function questionsOf({ key, owner, account }: Pick<Visitor, 'key' | 'owner' | 'account'>): Holder[number] {
  if (account) return ['account', `questions of ${accountName(account.accountId)}`];
  return ['key', `questions of ${key ? siteName(key.tenantId) : owner ? ownerKey(owner) : ''}`];
}

/** What every resolver sees: who asks, what questions are answered with, and what this execution may still take. */
export interface GraphqlContext extends Visitor {
  readonly deps: ReaderDeps;
  /** What changes are made with; null where only questions are answered. */
  readonly changes: GraphqlDeps | null;
  readonly budget: Budget;
}
