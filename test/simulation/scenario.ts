import type { Address } from '../../modules/kernel/money/legs.ts';
import { canonicalPayees, splitAmounts } from '../../modules/kernel/money/legs.ts';
import type { Random } from './random.ts';
import type { NewPayment } from './store.ts';
import type { Authorization } from './token.ts';
import { address, word } from './token.ts';

/** A thing that is sold: its payTo, authors and price in micro. */
export interface Resource {
  readonly name: string;
  readonly payTo: Address;
  readonly authors: readonly string[];
  readonly price: number;
  readonly legs: NewPayment['legs'];
}

function resource(name: string, payTo: string, price: number, weights: readonly (readonly [string, bigint])[]): Resource {
  const payees = canonicalPayees(weights.map(([wallet, weight]) => ({ wallet: address(wallet), weight })));
  const amounts = splitAmounts(BigInt(price), payees);
  const legs = payees.map((payee, i) => ({ toAddress: payee.wallet, amountMicro: amounts[i] ?? 0n }));
  return { name, payTo: address(payTo), authors: payees.map((payee) => payee.wallet), price, legs };
}

/** What the simulated publisher sells: one author, three, two; prices of one and of two confirmations. */
export const RESOURCES: readonly Resource[] = [
  resource('solo', 'a1', 100, [['a1', 1n]]),
  resource('trio', 's1', 121, [
    ['a1', 5n],
    ['a2', 3n],
    ['a3', 2n],
  ]),
  resource('duo', 's2', 60, [
    ['a2', 1n],
    ['a3', 1n],
  ]),
];
/** Prices from here on wait for two confirmations. */
export const TWO_CONFIRMATIONS_MICRO = 110;

/** An authorization a buyer will present, and how often it is posted. */
export interface Order {
  readonly payment: Omit<NewPayment, 'seenBlock' | 'seenReorgs' | 'auth'>;
  readonly payer: Address;
  readonly payTo: Address;
  readonly price: number;
  readonly lifeSeconds: number;
  readonly fickle: boolean;
  readonly posts: number;
}

/** Which faults a schedule knows; each schedule draws its own mix, so that rare ones meet in plenty. */
export interface Faults {
  readonly crash: number;
  readonly outage: number;
  readonly lostReply: number;
  readonly reorg: number;
  readonly deepReorg: boolean;
  readonly stranger: number; // someone else submits, cancels, spends, drains
  readonly node: number; // drops, fee spikes, blocked authors
  readonly starved: number;
  readonly refused: number;
  readonly gasEmpty: number;
  /** How often a node answers that is some blocks behind. */
  readonly behind: number;
  /** How often somebody uses the relayer's key besides us. */
  readonly elsewhere: number;
}

/** Draws the faults of a schedule. */
export function drawFaults(random: Random): Faults {
  const some = (probability: number, value: number) => (random.chance(probability) ? value : 0);
  return {
    crash: random.pick([0, 0.02, 0.05, 0.12]) ?? 0,
    outage: some(0.4, 0.03),
    lostReply: some(0.4, 0.2),
    reorg: some(0.5, 0.04),
    deepReorg: random.chance(0.35),
    stranger: random.pick([0, 0.02, 0.05, 0.1]) ?? 0,
    node: some(0.5, 0.03),
    starved: some(0.3, 0.4),
    refused: some(0.2, 0.3),
    gasEmpty: some(0.1, 0.02),
    behind: some(0.4, 0.3),
    elsewhere: some(0.15, 0.02),
  };
}

/** Draws what buyers want: often several authorizations of one payer for the same thing. */
export function drawOrders(random: Random): Order[] {
  const orders: Order[] = [];
  const count = random.between(2, 7);
  let what = { payer: address('p1'), resource: RESOURCES[0] as Resource, kind: 'read' as 'read' | 'citation' };
  for (let i = 0; i < count; i += 1) {
    if (i === 0 || random.chance(0.6)) {
      const kind = random.chance(0.5) ? 'read' : 'citation';
      what = {
        payer: address(random.pick(['p1', 'p1', 'p2', 'p2', 'c1']) ?? 'p1'),
        resource: random.pick(RESOURCES) as Resource,
        kind,
      };
    }
    const { payer, resource: thing, kind } = what;
    const isWallet = payer === address('c1');
    const payerKind: NewPayment['payerKind'] = isWallet ? 'contract' : 'plain';
    const payment = { id: `pay${i + 1}`, resource: thing.name, kind, legs: thing.legs, payerKind };
    const [lifeSeconds, posts] = [random.between(14, random.pick([40, 70, 240]) ?? 70), random.between(1, 3)];
    const fickle = isWallet && random.chance(0.6);
    orders.push({ payment, payer, payTo: thing.payTo, price: thing.price, lifeSeconds, posts, fickle });
  }
  return orders;
}

/** The authorization of an order, signed now (epoch seconds) and valid for the order's life. */
export function signOrder(order: Order, nowSeconds: number): Authorization {
  const validBefore = nowSeconds + order.lifeSeconds;
  const { payer, payTo: to, price: value, fickle } = order;
  return { payer, nonce: word(`n${order.payment.id}`), to, value, validAfter: 0, validBefore, fickle };
}
