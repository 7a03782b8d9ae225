import type { Authorization, Log, TokenState } from './token.ts';
import { authorizationKey, copyToken, move, pull } from './token.ts';

/** Authorizations to one payTo; `authors` are the wallets of its legs (one: payTo is that wallet). */
export interface Group {
  readonly to: string;
  readonly authors: readonly string[];
  readonly items: readonly Authorization[];
}

/** What a transaction does when it is mined. */
export type TxBody =
  | { readonly kind: 'batch'; readonly groups: readonly Group[]; readonly direct: boolean; readonly starved: boolean }
  | { readonly kind: 'self' }
  | { readonly kind: 'submit'; readonly auth: Authorization }
  | { readonly kind: 'cancel'; readonly payer: string; readonly nonce: string }
  | { readonly kind: 'transfer'; readonly from: string; readonly to: string; readonly value: number | 'all' }
  // Twenty authorizations to oneself and one real transfer, all in one transaction (safety 1).
  | { readonly kind: 'decoy'; readonly decoys: readonly Authorization[]; readonly real: Authorization }
  | { readonly kind: 'block'; readonly author: string; readonly blocked: boolean };

/** A transaction: `nonce` counts only for those of the relayer's key; `refused` ones no node ever takes. */
export interface ChainTx {
  readonly hash: string;
  /** `elsewhere`: somebody used the relayer's key besides us, so that it takes one of its nonces. */
  readonly from: 'relayer' | 'other' | 'elsewhere';
  readonly nonce: number;
  readonly fee: number;
  readonly body: TxBody;
  readonly refused: boolean;
}

/** The authorizations that a batch's bytes carry. */
export function itemsOf(tx: ChainTx | undefined): readonly Authorization[] {
  return tx?.body.kind === 'batch' ? tx.body.groups.flatMap((group) => group.items) : [];
}

/** Runs a transaction on the state. `ok` false: reverted, nothing changed. */
export function execute(state: TokenState, tx: ChainTx, time: number): { ok: boolean; logs: Log[] } {
  const logs: Log[] = [];
  const body = tx.body;
  if (body.kind === 'batch') return executeBatch(state, body, time);
  if (body.kind === 'submit') return { ok: pull(state, logs, body.auth, time), logs };
  if (body.kind === 'cancel') return { ok: cancel(state, logs, authorizationKey(body.payer, body.nonce)), logs };
  if (body.kind === 'transfer') {
    const balance = state.balances.get(body.from) ?? 0;
    const value = body.value === 'all' ? balance : body.value;
    if (balance < value) return { ok: false, logs };
    move(state, logs, body.from, body.to, value);
  } else if (body.kind === 'decoy') {
    for (const decoy of body.decoys) pull(state, logs, decoy, time);
    pull(state, logs, body.real, time);
  } else if (body.kind === 'block') {
    if (body.blocked) state.blocked.add(body.author);
    else state.blocked.delete(body.author);
  }
  return { ok: true, logs };
}

function cancel(state: TokenState, logs: Log[], key: string): boolean {
  if (state.spent.has(key)) return false;
  state.spent.set(key, 'cancelled');
  logs.push({ kind: 'cancelled', index: logs.length, key });
  return true;
}

function executeBatch(state: TokenState, body: TxBody & { kind: 'batch' }, time: number) {
  const logs: Log[] = [];
  if (body.starved) return { ok: false, logs };
  if (body.direct) {
    const auth = body.groups[0]?.items[0];
    return { ok: auth !== undefined && pull(state, logs, auth, time), logs };
  }
  for (const group of body.groups) executeGroup(state, logs, group, time);
  return { ok: true, logs };
}

/** All pulls in try/catch, then each author once; an author that refuses takes the whole group back. */
function executeGroup(state: TokenState, logs: Log[], group: Group, time: number): void {
  const before = copyToken(state);
  const mark = logs.length;
  let pulled = 0;
  for (const auth of group.items) {
    if (pull(state, logs, auth, time)) pulled += auth.value;
    else logs.push({ kind: 'itemFailed', index: logs.length, key: authorizationKey(auth.payer, auth.nonce) });
  }
  const refused = group.authors.length > 1 && group.authors.some((author) => state.blocked.has(author));
  if (pulled === 0 || refused) {
    logs.length = mark;
    logs.push({ kind: 'groupFailed', index: logs.length });
    restore(state, before);
  } else if (group.authors.length > 1) {
    const share = Math.floor(pulled / group.authors.length);
    group.authors.forEach((author, i) => {
      move(state, logs, group.to, author, i === 0 ? pulled - share * (group.authors.length - 1) : share);
    });
  }
}

function restore(state: TokenState, before: TokenState): void {
  state.balances.clear();
  for (const [who, value] of before.balances) state.balances.set(who, value);
  state.spent.clear();
  for (const [key, how] of before.spent) state.spent.set(key, how);
}
