import type { ReconcileDeps } from '../../reconciliation/use/deps.ts';
import { readChain } from '../../reconciliation/use/readChain.ts';
import { listLost } from '../../settlement/store/lostSettlements.ts';
import { adoptCount } from '../../settlement/store/relayer.ts';
import type { SettlementDeps } from '../../settlement/use/deps.ts';
import { agreedCount } from '../../settlement/use/relayer/nonce.ts';
import type { UnexplainedTransfer } from '../store/operations.ts';
import { listRelayers, listUnexplained } from '../store/operations.ts';
import type { UnreadNonces } from './lostSettlements.ts';
import { findLostSettlements } from './lostSettlements.ts';

/** What recovering a network found. */
export interface Recovery {
  readonly network: string;
  readonly relayers: readonly {
    readonly address: string;
    readonly before: bigint;
    readonly after: bigint;
  }[];
  /** What our own keys settled and no row tells of, with its payees: sales that the backup did not have, and nobody showed again since. */
  readonly lost: Awaited<ReturnType<typeof listLost>>;
  /** Nonces of our keys that the chain counts, no batch holds, and no block that was read shows. */
  readonly unread: readonly UnreadNonces[];
  /** Money that reached addresses of ours by authorizations we hold no row of, and that no key of ours sent. */
  readonly unexplained: readonly UnexplainedTransfer[];
}

/** Blocks are read in rounds; a chain that is further away than this takes another call. */
const MOST_ROUNDS = 10_000;
/** Lost settlements that are listed; all are stored. */
const MOST_LISTED = 10_000;

/**
 * After a restore from a backup that is older than the chain: finds what our keys settled meanwhile and stores it as lost, adopts the
 * chain's nonce for each relayer key, so that no nonce is taken twice, reads the chain from where the backup stood, and lists what no row
 * explains. No payment gets an outcome here: rows that exist are judged by their evidence as always, by the sweeper (safety 1, 3). In this
 * order, so that a call that broke off is simply made again; a second call finds the same. Throws chain_unavailable.
 */
export async function recoverNetwork(deps: SettlementDeps & ReconcileDeps, networkId: string): Promise<Recovery> {
  const unread = await findLostSettlements(deps, networkId);
  const relayers = [];
  for (const { network, address, nextNonce } of await listRelayers(deps.database)) {
    if (network !== networkId) continue;
    const count = await agreedCount(deps, { network, address });
    await adoptCount(deps.database, { network, address }, count);
    const isAhead = count > nextNonce;
    relayers.push({ address, before: nextNonce, after: isAhead ? count : nextNonce });
  }
  for (let round = 0; round < MOST_ROUNDS && (await readChain(deps, networkId)).behind; round++);
  const [lost, unexplained] = [
    await listLost(deps.database, networkId, MOST_LISTED),
    await listUnexplained(deps.database, networkId),
  ];
  return { network: networkId, relayers, lost, unread, unexplained };
}
