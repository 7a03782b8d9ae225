/** The lines of the ledger, and what they come to. Pure: no file, no clock. */
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
  /** The signed payment as it is sent. It pays its recipient alone, whoever sends it. */
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

/** A person says yes to one purchase, for a day. */
const approved = z.strictObject({ type: z.literal('approved'), atMs: z.number().int(), url: z.string(), maxMicro: micro });

const line = z.discriminatedUnion('type', [signed, paid, refused, approved]);

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
  readonly transaction: string | null;
  readonly licence: string | null;
  readonly licenceUntilMs: number | null;
}

const APPROVAL_MS = 24 * 3_600_000;

/** All payments and approvals of a ledger. */
export class Ledger {
  readonly #payments = new Map<string, LedgerPayment>();
  /** The newest payment for each purchase. */
  readonly #newest = new Map<string, string>();
  #approvals: { readonly atMs: number; readonly url: string; readonly maxMicro: bigint }[] = [];

  /** Takes one line; throws RangeError for a line that is none. */
  take(text: string): void {
    const read = line.safeParse(parsed(text));
    if (!read.success) throw new RangeError('not a line of a ledger');
    const entry = read.data;
    if (entry.type === 'signed') this.#sign(entry);
    else if (entry.type === 'approved') this.#approvals.push({ ...entry, maxMicro: BigInt(entry.maxMicro) });
    else this.#answer(entry);
  }

  #answer(entry: z.infer<typeof paid> | z.infer<typeof refused>): void {
    const known = this.#payments.get(entry.id);
    if (!known) throw new RangeError('it answers a payment that is not in the ledger');
    // What was paid stays paid: a later refusal only says that it cannot be paid again.
    if (entry.type === 'paid') {
      const { transaction, licence, licenceUntilMs } = entry;
      this.#payments.set(entry.id, { ...known, state: 'paid', transaction, licence, licenceUntilMs });
    } else if (known.state === 'open') this.#payments.set(entry.id, { ...known, state: 'refused' });
  }

  #sign({ type: _, ...entry }: z.infer<typeof signed>): void {
    const amountMicro = BigInt(entry.amountMicro);
    this.#payments.set(entry.id, {
      ...entry,
      amountMicro,
      state: 'open',
      transaction: null,
      licence: null,
      licenceUntilMs: null,
    });
    this.#newest.set(entry.purchase, entry.id);
    // An approval is used by the first signature that it covers.
    const used = this.#approvals.findIndex((approval) => covers(approval, entry.url, amountMicro, entry.atMs));
    if (used !== -1) this.#approvals.splice(used, 1);
  }

  /** The newest payment for a purchase. */
  newestOf(purchase: string): LedgerPayment | null {
    return this.#payments.get(this.#newest.get(purchase) ?? '') ?? null;
  }

  /** Payments of a span, oldest first. */
  payments(fromMs = 0, untilMs = Number.POSITIVE_INFINITY): readonly LedgerPayment[] {
    return [...this.#payments.values()].filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  }

  /** What was signed in a span, and of it at one host. Whatever was signed counts: nobody here can know that it will not be settled. */
  spent(span: { readonly fromMs: number; readonly untilMs: number }, host: string): { totalMicro: bigint; hostMicro: bigint } {
    const sum = { totalMicro: 0n, hostMicro: 0n };
    for (const payment of this.payments(span.fromMs, span.untilMs)) {
      sum.totalMicro += payment.amountMicro;
      if (payment.host === host) sum.hostMicro += payment.amountMicro;
    }
    return sum;
  }

  /** Did a person say yes to this, within a day? */
  isApproved(url: string, amountMicro: bigint, nowMs: number): boolean {
    return this.#approvals.some((approval) => covers(approval, url, amountMicro, nowMs));
  }
}

function covers(
  approval: { readonly atMs: number; readonly url: string; readonly maxMicro: bigint },
  url: string,
  amountMicro: bigint,
  nowMs: number,
): boolean {
  return approval.url === url && amountMicro <= approval.maxMicro && nowMs < approval.atMs + APPROVAL_MS;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
