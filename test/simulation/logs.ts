import type { Hex } from '../../modules/kernel/x402/payload.ts';
import type { ChainEvidence, ChainLog } from '../../platform/chain/evidence/evidence.ts';
import { evidenceFromLogs, TOPICS } from '../../platform/chain/evidence/evidence.ts';
import type { Receipt } from './chain.ts';
import type { Log } from './token.ts';
import { address } from './token.ts';

/** The token and the router of the simulated network. */
const NETWORK = { asset: address('token'), router: address('router') };

const READ = new WeakMap<Receipt, ChainEvidence>();

/** What the service reads in a receipt: its logs as a node gives them, through `evidenceFromLogs`. */
export function evidenceIn(receipt: Receipt): ChainEvidence {
  const evidence =
    READ.get(receipt) ??
    evidenceFromLogs(
      receipt.logs.map((log) => chainLog(receipt, log)),
      NETWORK,
    );
  READ.set(receipt, evidence);
  return evidence;
}

function chainLog(receipt: Receipt, log: Log): ChainLog {
  const isRouters = log.kind === 'itemFailed' || log.kind === 'groupFailed';
  return {
    address: isRouters ? NETWORK.router : NETWORK.asset,
    ...topicsAndData(log),
    transactionHash: receipt.tx.hash as Hex,
    logIndex: receipt.firstLog + log.index,
    blockNumber: BigInt(receipt.block),
    blockHash: receipt.blockHash as Hex,
  };
}

function topicsAndData(log: Log): { readonly topics: readonly Hex[]; readonly data: Hex } {
  const [payer = '0x', nonce = '0x'] = (log.key ?? '').split(':') as Hex[];
  switch (log.kind) {
    case 'used':
      return { topics: [TOPICS.authorizationUsed, padded(payer), nonce], data: '0x' };
    case 'cancelled':
      return { topics: [TOPICS.authorizationCanceled, padded(payer), nonce], data: '0x' };
    case 'transfer':
      return { topics: [TOPICS.transfer, padded(log.from), padded(log.to)], data: padded(`0x${(log.value ?? 0).toString(16)}`) };
    case 'itemFailed':
      return { topics: [TOPICS.itemFailed, padded('0x0'), padded('0x0')], data: padded('0x0') };
    case 'groupFailed':
      return { topics: [TOPICS.groupFailed, padded('0x0')], data: padded('0x0') };
  }
}

function padded(value = '0x'): Hex {
  return `0x${value.slice(2).padStart(64, '0')}`;
}
