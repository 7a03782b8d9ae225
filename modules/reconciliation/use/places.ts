import { raiseAlert } from '../../../db/alerts.ts';
import type { ChainLog } from '../../../platform/chain/evidence/evidence.ts';
import { addressOfTopic } from '../../../platform/chain/evidence/receipts.ts';
import { waitingOf } from '../../../platform/chain/router/split.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { payeeOfWord } from '../../kernel/money/splitPayouts.ts';
import { listSplitsAt, rememberPlace } from '../store/chainRounds.ts';
import { readSplits } from './splits.ts';
import type { RangeDeps } from './storeRange.ts';

/**
 * Remembers the places where parts wait of authors whom the token refused (`flushAround`, which anybody may call), and says so to those who
 * sell to them. True when one is new: what left it may stand in the same blocks, which are then read again.
 */
export async function findPlaces({ database, log, network, recipients }: RangeDeps, logs: readonly ChainLog[]): Promise<boolean> {
  const networkId = network.id;
  const splits = new Set(recipients.splits);
  const paidBy = new Map<Address, Set<Address>>();
  for (const { topics } of logs) {
    const [from, to] = [addressOfTopic(topics[1] ?? ''), addressOfTopic(topics[2] ?? '')];
    if (splits.has(from)) paidBy.set(from, (paidBy.get(from) ?? new Set()).add(to));
  }
  let isAnyNew = false;
  for (const { payTo: split, router, legWords } of await listSplitsAt(database, networkId, [...paidBy.keys()])) {
    const wallets = legWords.map((word) => payeeOfWord(word).wallet);
    for (const to of [...(paidBy.get(split) ?? [])].filter((end) => !wallets.includes(end))) {
      const found = wallets.map((one) => ({ wallet: one, ...waitingOf(one, router) })).find(({ payTo }) => payTo === to);
      if (found === undefined) continue;
      const { wallet, word } = found;
      const { isNew, tenantIds } = await rememberPlace(database, networkId, { payTo: to, router, legWords: [word] }, split);
      isAnyNew ||= isNew;
      if (isNew)
        log.warn(
          { networkId, split, wallet, place: to },
          'the token refuses to pay an author; his part of a split waits for him',
        );
      const detail = `${networkId} ${wallet}: his part of ${split} waits at ${to}`;
      for (const tenantId of tenantIds) await raiseAlert(database, 'payee_blocked', detail, tenantId);
    }
  }
  if (isAnyNew) await readSplits(database);
  return isAnyNew;
}
