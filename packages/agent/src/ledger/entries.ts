/** The lines of the ledger, and what they come to. Pure: no file, no clock. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const micro = z.string().regex(/^\d{1,18}$/);

/** A payment was signed. It stands on disk before the signature leaves the process. */
const signed = z.strictObject({
  type: z.literal('signed'),
  /** The nonce of the authorization. */
  id: z.string(),
  atMs: z.number().int(),
  /** What is bought: method, address, and a digest of the body where there is one. */
  purchase: z.string(),
  url: z.string(),
  host: z.string(),
  amountMicro: micro,
  payer: z.string(),
  validBeforeS: z.number().int(),
  /** The signed payment as it is sent. It can pay its recipient only, so a third party may send it. */
  payload: z.record(z.string(), z.unknown()),
});

/** The gate settled it: page and receipt came. */
const paid = z.strictObject({
  type: z.literal('paid'),
  id: z.string(),
  atMs: z.number().int(),
  transaction: z.string(),
  licence: z.string().nullable(),
  licenceUntilMs: z.number().nullable(),
});

/** The gate refused it at its first sending. It may still be settled until it runs out, and counts. */
const refused = z.strictObject({ type: z.literal('refused'), id: z.string(), atMs: z.number().int(), error: z.string() });

/** A purchase waits for a person's yes under an id, since its address does not say what it buys. */
const asked = z.strictObject({
  type: z.literal('asked'),
  atMs: z.number().int(),
  id: z.string(),
  url: z.string(),
  /** What is bought, as the person reads it. */
  words: z.string(),
  amountMicro: micro,
});

/** A person says yes to one purchase, for a day: to a page by its address, to anything else by the id that it was asked under. */
const approved = z.strictObject({
  type: z.literal('approved'),
  atMs: z.number().int(),
  url: z.string(),
  id: z.string().optional(),
  maxMicro: micro,
});

const line = z.discriminatedUnion('type', [signed, paid, refused, asked, approved]);

/** True for a text that a ledger can read again. */
export function isLine(text: string): boolean {
  return line.safeParse(parsed(text)).success;
}

/** A line of the ledger. */
export type LedgerLine = z.infer<typeof line>;

/** A payment as its lines tell it. */
export interface LedgerPayment extends Omit<z.infer<typeof signed>, 'type' | 'amountMicro'> {
  readonly amountMicro: bigint;
  readonly state: 'open' | 'paid' | 'refused';
  /** A person said yes to it, before it was signed or since. */
  readonly isApproved: boolean;
  readonly transaction: string | null;
  readonly licence: string | null;
  readonly licenceUntilMs: number | null;
}

/** What a payment is for, as its line tells it. */
export type Bought = Pick<LedgerPayment, 'purchase' | 'url' | 'host' | 'amountMicro'>;

/** What a person is asked. */
export type Asked = Omit<z.infer<typeof asked>, 'type'>;

interface Approval {
  readonly atMs: number;
  readonly url: string;
  readonly id: string | null;
  readonly maxMicro: bigint;
}

const APPROVAL_MS = 24 * 3_600_000;
/** 128 bits: two orders of the same digest are not to be found. */
const ID_DIGITS = 32;

/**
 * The id under which a person says yes to a purchase that its address does not name: a digest of method, address, body, host and amount, 32 hex digits.
 * Null for a page, which is approved by its address.
 */
export function approvalIdOf({ purchase, url, host, amountMicro }: Bought): string | null {
  if (purchase === `GET ${url}`) return null;
  const facts = JSON.stringify([purchase, host, String(amountMicro)]);
  return createHash('sha256').update(facts).digest('hex').slice(0, ID_DIGITS);
}

/** All payments and approvals of a ledger. */
export class Ledger {
  readonly #payments = new Map<string, LedgerPayment>();
  /** The payment for each purchase, and of each payer for it, that was signed or paid last. */
  readonly #newest = new Map<string, string>();
  readonly #asked = new Map<string, Asked>();
  #approvals: Approval[] = [];

  /** Takes one line; throws RangeError for a line that is none. */
  take(text: string): void {
    const read = line.safeParse(parsed(text));
    if (!read.success) throw new RangeError('not a line of a ledger');
    const entry = read.data;
    if (entry.type === 'signed') this.#sign(entry);
    else if (entry.type === 'asked') this.#asked.set(entry.id, entry);
    else if (entry.type === 'approved') this.#approve({ ...entry, id: entry.id ?? null, maxMicro: BigInt(entry.maxMicro) });
    else this.#answer(entry);
  }

  /** A yes is good once: for the payment that waits for it, signed already, or for the next signature. */
  #approve(approval: Approval): void {
    const waiting = [...this.#newest.values()]
      .map((id) => this.#payments.get(id))
      .find((payment) => payment !== undefined && isWaiting(payment, approval.atMs) && covers(approval, payment, approval.atMs));
    if (waiting) this.#payments.set(waiting.id, { ...waiting, isApproved: true });
    else this.#approvals.push(approval);
  }

  #answer(entry: z.infer<typeof paid> | z.infer<typeof refused>): void {
    const known = this.#payments.get(entry.id);
    if (!known) throw new RangeError('it answers a payment that is not in the ledger');
    // What was paid stays paid: a later refusal only says that it cannot be paid again.
    if (entry.type === 'paid') {
      const { transaction, licence, licenceUntilMs } = entry;
      this.#payments.set(entry.id, { ...known, state: 'paid', transaction, licence, licenceUntilMs });
      // Another key may have signed for the same since.
      this.#remember(known);
    } else if (known.state === 'open') this.#payments.set(entry.id, { ...known, state: 'refused' });
  }

  #sign({ type: _, ...entry }: z.infer<typeof signed>): void {
    const amountMicro = BigInt(entry.amountMicro);
    // An approval is used by the first signature that it covers.
    const used = this.#approvals.findIndex((approval) => covers(approval, { ...entry, amountMicro }, entry.atMs));
    if (used !== -1) this.#approvals.splice(used, 1);
    this.#payments.set(entry.id, {
      ...entry,
      amountMicro,
      isApproved: used !== -1,
      state: 'open',
      transaction: null,
      licence: null,
      licenceUntilMs: null,
    });
    this.#remember(entry);
  }

  #remember({ id, purchase, payer }: Pick<LedgerPayment, 'id' | 'purchase' | 'payer'>): void {
    this.#newest.set(purchase, id);
    this.#newest.set(newestKey(purchase, payer), id);
  }

  /** The payment for a purchase that was signed or paid last; where a payer is named, of that wallet. */
  newestOf(purchase: string, payer: string | null = null): LedgerPayment | null {
    const key = payer === null ? purchase : newestKey(purchase, payer);
    return this.#payments.get(this.#newest.get(key) ?? '') ?? null;
  }

  /** Payments of a span, oldest first. */
  payments(fromMs = 0, untilMs = Number.POSITIVE_INFINITY): readonly LedgerPayment[] {
    return [...this.#payments.values()].filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  }

  /**
   * What was signed in a span, and of it at one host, without the payment `but`. Whatever was signed counts: nobody here can know that it will
   * not be settled.
   */
  spent(
    span: { readonly fromMs: number; readonly untilMs: number },
    host: string,
    but: string | null = null,
  ): { totalMicro: bigint; hostMicro: bigint } {
    const sum = { totalMicro: 0n, hostMicro: 0n };
    for (const payment of this.payments(span.fromMs, span.untilMs)) {
      if (payment.id === but) continue;
      sum.totalMicro += payment.amountMicro;
      if (payment.host === host) sum.hostMicro += payment.amountMicro;
    }
    return sum;
  }

  /** Did a person say yes to this, within a day? */
  isApproved(bought: Bought, nowMs: number): boolean {
    return this.#approvals.some((approval) => covers(approval, bought, nowMs));
  }

  /** What was asked under an id; null where nothing was. */
  askedUnder(id: string): Asked | null {
    return this.#asked.get(id) ?? null;
  }
}

function newestKey(purchase: string, payer: string): string {
  return `${payer.toLowerCase()} ${purchase}`;
}

/** True for a payment that may be sent again, and that no person said yes to. */
function isWaiting({ state, isApproved, validBeforeS }: LedgerPayment, nowMs: number): boolean {
  return state !== 'paid' && !isApproved && nowMs < validBeforeS * 1_000;
}

function covers({ atMs, url, id, maxMicro }: Approval, bought: Bought, nowMs: number): boolean {
  return url === bought.url && id === approvalIdOf(bought) && bought.amountMicro <= maxMicro && nowMs < atMs + APPROVAL_MS;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
