import { findBlockedPayees } from '../../../../platform/chain/router/payees.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import { listBlocked, touchBlocked, unblockPayee } from '../../store/sweep.ts';
import type { SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';

const LIMIT = 20;

/** The wallets behind a recipient: the legs of a split, or the recipient itself. */
export function walletsOf(payTo: Address, legWords: readonly string[] | null): readonly Address[] {
  return legWords?.map((word) => `0x${word.slice(-40)}` as const) ?? [payTo];
}

/** Looks again at recipients that a transfer reverted for, and lifts the mark of those that can be paid (safety 18). */
export async function recheckPayees(deps: SettlementDeps, networkId: string): Promise<void> {
  const { network, rpc } = chainOf(deps, networkId);
  for (const blocked of await listBlocked(deps.database, networkId, LIMIT)) {
    const refused = await findBlockedPayees(rpc, network, walletsOf(blocked.payTo, blocked.legWords));
    if (refused?.length !== 0) {
      await touchBlocked(deps.database, networkId, blocked.payTo);
      continue;
    }
    await unblockPayee(deps.database, networkId, blocked.payTo);
    deps.log.info({ networkId, payTo: blocked.payTo }, 'a recipient can be paid again');
  }
}
