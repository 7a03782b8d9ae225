import type { Database } from '../../../../db/database.ts';
import { retryConflicts } from '../../../../db/database.ts';
import { isTransientError } from '../../../../db/outage.ts';
import { findAccountsWithCode } from '../../../../platform/chain/calls/codeSize.ts';
import { listBalances, listHighestBalances, lookAtNonces } from '../../../../platform/chain/evidence/states.ts';
import type { Network, Networks } from '../../../../platform/chain/network.ts';
import { askEach, isDecided, QUORUM } from '../../../../platform/chain/rpc/quorum.ts';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import { gathered } from '../../../../platform/pacing/gather.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import type { Authorization, ParsedPayment } from '../../../kernel/x402/payload.ts';
import type { GuardDecision } from '../../rules/guard.ts';
import type { AdmissionAsk, AdmissionFacts } from '../../store/admission.ts';
import { readAdmissions } from '../../store/admission.ts';
import type { AuthorizationKey, Intake, IntakeItem } from '../../store/intake.ts';
import { foreseePayments, insertPayments, listByAuthorization } from '../../store/intake.ts';
import { purchaseText } from '../../store/lock.ts';
import type { Payment, PaymentRef, StoredLicence } from '../../store/payment.ts';
import { fixLicences } from '../../store/payment.ts';
import { atLedger } from '../answer/ledger.ts';

/** Whose nonce is looked at. */
type NonceAsk = Pick<Authorization, 'from' | 'nonce'> & { readonly network: Network };

/** A payment, and the licence it would be answered with. */
interface LicenceEntry {
  readonly ref: PaymentRef;
  readonly licence: StoredLicence;
}

const LIMIT = 100;
const isOutage = isTransientError;

/** The payment that holds an authorization, of any tenant; null when it was never shown to us. Calls at one time share a query. */
export const findKnown: (database: Database, key: AuthorizationKey) => Promise<Payment | null> = gathered(listByAuthorization, {
  limit: LIMIT,
  concurrency: 1,
  isOutage,
});

/** The payment that holds the authorization a buyer shows, at any site; null: none does. Throws outages as `atLedger`. */
export function findShown(
  { database, networks }: { readonly database: Database; readonly networks: Networks },
  payment: ParsedPayment,
): Promise<Payment | null> {
  const { id: network, asset } = networks.findForPayment(payment) ?? networks.first;
  const { from: payer, nonce } = payment.authorization;
  return atLedger(() => findKnown(database, { network, asset, payer, nonce }));
}

/** What the chain said of a nonce before its payment had a row. */
export interface NonceLook {
  readonly blockNumber: bigint;
  readonly used: boolean;
}

/**
 * Looks at a nonce before its payment is stored, without its signature (safety 2): seen unused here, whatever uses it on chain
 * later came after our look. Calls at one time share a question, never one that was sent before they asked. All of one connection
 * are of its network. Throws ServiceError `chain_unavailable` in an outage.
 */
export const lookAtNonce: (rpc: Rpc, ask: NonceAsk) => Promise<NonceLook> = gathered(
  async (rpc: Rpc, asks: readonly NonceAsk[]) => {
    const [{ network }] = asks as [NonceAsk];
    const pairs = asks.map(({ from: payer, nonce }) => ({ payer, nonce }));
    const { blockNumber, used } = await lookAtNonces(rpc, network, pairs);
    return used.map((isUsed) => ({ blockNumber, used: isUsed }));
  },
  { limit: 200, concurrency: 1, isOutage: () => true },
);

/**
 * The same by two nodes, asked before somebody is refused since one calls a nonce used, in a line of its own. What two call used is; what two
 * call unused is unused, since the lower of their blocks. Null where the nodes are at odds, or too few answer: then nobody can tell.
 */
export const lookAtNonceByTwo: (rpc: Rpc, ask: NonceAsk) => Promise<NonceLook | null> = gathered(
  async (rpc: Rpc, asks: readonly NonceAsk[]) => {
    const [{ network }] = asks as [NonceAsk];
    const pairs = asks.map(({ from: payer, nonce }) => ({ payer, nonce }));
    const countUsed = (words: readonly { readonly used: readonly boolean[] }[], at: number): number =>
      words.filter((word) => word.used[at] === true).length;
    const words = await askEach(
      rpc,
      (node) => lookAtNonces(node, network, pairs),
      (soFar) => asks.every((_, at) => isDecided(countUsed(soFar, at), soFar.length)),
    );
    const lowest = words.reduce<bigint | null>((low, { blockNumber: at }) => (low === null || at < low ? at : low), null);
    return asks.map((_, at): NonceLook | null => {
      const used = countUsed(words, at);
      return lowest !== null && isDecided(used, words.length) ? { blockNumber: lowest, used: used >= QUORUM } : null;
    });
  },
  { limit: 200, concurrency: 1, isOutage: () => true },
);

/** Whose balance is asked. */
interface BalanceAsk {
  readonly network: Network;
  readonly account: Address;
}

type FindBalance = (rpc: Rpc, ask: BalanceAsk) => Promise<bigint>;

function balancesBy(list: typeof listBalances): FindBalance {
  const run = (rpc: Rpc, asks: readonly BalanceAsk[]) =>
    list(
      rpc,
      (asks[0] as BalanceAsk).network,
      asks.map(({ account }) => account),
    );
  return gathered(run, { limit: 200, concurrency: 1, isOutage: () => true, same: ({ account }) => account });
}

/** What an account holds of a network's asset, in micro. Calls at one time share a question. Throws ServiceError `chain_unavailable` in an outage. */
export const findBalance = balancesBy(listBalances);

/**
 * The same, the most that any node shows: asked before somebody is refused for want of money, in a line of its own, since it waits for nodes
 * that are silent.
 */
export const findHighestBalance = balancesBy(listHighestBalances);

/** Whether an account has code. Concurrent calls share a question, since any invented signature asks it. */
export const findWithCode: (rpc: Rpc, account: Address) => Promise<boolean> = gathered(
  async (rpc: Rpc, accounts: readonly Address[]) => {
    const withCode = await findAccountsWithCode(rpc, accounts);
    return accounts.map((account) => withCode.has(account));
  },
  { limit: 200, concurrency: 1, isOutage: () => true, same: (account) => account },
);

/** What speaks against taking a payment. Calls at one time share a query. */
export const findAdmission: (database: Database, ask: AdmissionAsk) => Promise<AdmissionFacts> = gathered(
  (database, asks) => readAdmissions(database, asks),
  { limit: LIMIT, concurrency: 1, isOutage },
);

type Store = (database: Database, item: IntakeItem) => Promise<Intake>;
/** The second of a purchase, or of a request key, must see what became of the first. */
const apart = ({ payment, requestKeys = [] }: IntakeItem): readonly string[] => [
  purchaseText(payment),
  ...requestKeys.map((key) => `${payment.tenantId} ${key}`),
];
const storeMost: Store = gathered(insertPayments, { limit: LIMIT, concurrency: 2, isOutage, apart });
/** Payments of accounts wait for the lock of their account; in runs of their own they keep nobody else waiting. */
const storeSpendings: Store = gathered(insertPayments, { limit: LIMIT, concurrency: 2, isOutage, apart });

/**
 * Stores a payment, or gives the one that holds its authorization. Calls at one time share a database transaction; two of one
 * purchase or request key never do. Resolves after the commit.
 */
export const store: Store = (database, item) =>
  item.payment.spenders?.length ? storeSpendings(database, item) : storeMost(database, item);

/** What a payment would become if it were stored now. Calls at one time share a query. No lock is held: `store` decides. */
export const foresee: (database: Database, item: IntakeItem) => Promise<GuardDecision> = gathered(foreseePayments, {
  limit: LIMIT,
  concurrency: 1,
  isOutage,
});

/** Fixes the licence of a payment if none is fixed yet, and gives the one that stands (safety 13). Calls at one time share a statement. */
export const fixLicence: (database: Database, entry: LicenceEntry) => Promise<StoredLicence> = gathered(
  (database, entries) => retryConflicts(() => fixLicences(database, entries)),
  { limit: LIMIT, concurrency: 1, isOutage },
);
