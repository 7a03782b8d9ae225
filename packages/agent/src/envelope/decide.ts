/** May this be bought? Decided from its arguments alone, in one place, for every way to buy. */
import { usdcOf } from '../money.ts';
import type { Envelope } from './envelope.ts';

/** What is about to be signed. Amounts are micro-USDC. */
export interface Ask {
  readonly host: string;
  readonly amountMicro: bigint;
  /** The most that the caller pays for this one; null for no limit besides the envelope. */
  readonly maxMicro: bigint | null;
  /** A person said yes to at least this price. */
  readonly isApproved: boolean;
  /** The id to approve it by; without one it is a page, and approved by its address. */
  readonly approvalId?: string | null;
}

/** What was signed in the period. */
export interface Spent {
  readonly totalMicro: bigint;
  readonly hostMicro: bigint;
}

/** Which limit says no, or that a person has to say yes first. */
export type Verdict =
  | { readonly may: true }
  | { readonly may: false; readonly limit: 'stopped' | 'max' | 'page' | 'host' | 'total' | 'approval'; readonly says: string };

/** Decides by the envelope and what was spent. A limit may be reached, and never exceeded by a micro. */
export function decide(envelope: Envelope, spent: Spent, ask: Ask): Verdict {
  const { amountMicro, host, maxMicro } = ask;
  const { pageMicro, hostMicro, totalMicro, period, approveAboveMicro } = envelope;
  const no = (limit: Extract<Verdict, { may: false }>['limit'], says: string): Verdict => ({ may: false, limit, says });
  const price = `it costs ${usdcOf(amountMicro)} USDC`;
  if (envelope.stop) return no('stopped', 'the envelope says stop, and nothing is bought until its owner takes that out');
  if (maxMicro !== null && amountMicro > maxMicro) return no('max', `${price}, and at most ${usdcOf(maxMicro)} is allowed here`);
  if (pageMicro !== null && amountMicro > pageMicro)
    return no('page', `${price}, and the envelope allows ${usdcOf(pageMicro)} for one page`);
  if (spent.totalMicro + amountMicro > totalMicro)
    return no('total', `${price}, and ${left(totalMicro, spent.totalMicro)} is left of the envelope this ${period}`);
  if (hostMicro !== null && spent.hostMicro + amountMicro > hostMicro)
    return no('host', `${price}, and ${left(hostMicro, spent.hostMicro)} is left for ${host} this ${period}`);
  if (approveAboveMicro !== null && amountMicro > approveAboveMicro && !ask.isApproved)
    return no(
      'approval',
      `${price}, and the envelope asks for a person's yes above ${usdcOf(approveAboveMicro)}; a person types: content-settlement-agent approve ${ask.approvalId ?? `URL --max ${usdcOf(amountMicro)}`}`,
    );
  return { may: true };
}

function left(limitMicro: bigint, spentMicro: bigint): string {
  return `${usdcOf(spentMicro > limitMicro ? 0n : limitMicro - spentMicro)} USDC`;
}
