import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';

/** An EIP-3009 authorization as the fake chain sees it: amounts in micro, times in seconds. */
export interface Authorization {
  readonly payer: Address;
  readonly nonce: Hex;
  readonly to: Address;
  readonly value: number;
  readonly validAfter: number;
  readonly validBefore: number;
  /** Its payer is a wallet of code that says yes when asked and no when it counts. */
  readonly fickle: boolean;
}

/** A log with its place among the logs of its transaction. `used` is the token's AuthorizationUsed. */
export interface Log {
  readonly kind: 'used' | 'cancelled' | 'transfer' | 'itemFailed' | 'groupFailed';
  readonly index: number;
  readonly key?: string; // payer:nonce, of used, cancelled and itemFailed
  readonly from?: string;
  readonly to?: string;
  readonly value?: number;
}

/** What may change in the token: the part of the chain's state that a reorg puts back. */
export interface TokenState {
  readonly balances: Map<string, number>;
  readonly spent: Map<string, 'used' | 'cancelled'>;
  readonly blocked: Set<string>;
}

/** The address of somebody with a short name. */
export function address(name: string): Address {
  return `0x${Buffer.from(name).toString('hex').padStart(40, '0')}`;
}

/** The 32 bytes that stand for a short name. */
export function word(name: string): Hex {
  return `0x${Buffer.from(name).toString('hex').padStart(64, '0')}`;
}

/** The key under which a token remembers an authorization. */
export function authorizationKey(payer: string, nonce: string): string {
  return `${payer}:${nonce}`;
}

/** A copy that later changes do not touch. */
export function copyToken(state: TokenState): TokenState {
  return { balances: new Map(state.balances), spent: new Map(state.spent), blocked: new Set(state.blocked) };
}

/** Why the token would refuse it at this time, or null when it would pay. `asked`: it is only simulated. */
export function whyRefused(state: TokenState, auth: Authorization, time: number, asked = false): string | null {
  if (state.spent.has(authorizationKey(auth.payer, auth.nonce))) return 'nonce_used';
  if (time <= auth.validAfter) return 'too_early';
  if (time >= auth.validBefore) return 'expired';
  if (auth.fickle && !asked) return 'signature_refused';
  if ((state.balances.get(auth.payer) ?? 0) < auth.value) return 'insufficient_funds';
  if (state.blocked.has(auth.to)) return 'blocked';
  return null;
}

/** Moves value and appends its Transfer log; the caller has checked the balance. */
export function move(state: TokenState, logs: Log[], from: string, to: string, value: number): void {
  state.balances.set(from, (state.balances.get(from) ?? 0) - value);
  state.balances.set(to, (state.balances.get(to) ?? 0) + value);
  logs.push({ kind: 'transfer', index: logs.length, from, to, value });
}

/** transferWithAuthorization: true when it paid, with AuthorizationUsed and Transfer as two logs in a row. */
export function pull(state: TokenState, logs: Log[], auth: Authorization, time: number): boolean {
  if (whyRefused(state, auth, time) !== null) return false;
  const key = authorizationKey(auth.payer, auth.nonce);
  state.spent.set(key, 'used');
  logs.push({ kind: 'used', index: logs.length, key });
  move(state, logs, auth.payer, auth.to, auth.value);
  return true;
}
