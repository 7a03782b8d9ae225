import type { Sql } from '../../../db/database.ts';
import { payeeOfWord } from '../../kernel/money/splitPayouts.ts';
import { listUnreadSplits, recordSplitLegs } from '../store/chainRounds.ts';

/** Takes the words of splits apart, so that reports know their weights; called again it does what came since. */
export async function readSplits(sql: Sql): Promise<void> {
  for (;;) {
    const splits = await listUnreadSplits(sql);
    if (splits.length === 0) return;
    await recordSplitLegs(
      sql,
      splits.flatMap(({ network, payTo, legWords }) => {
        const payees = legWords.map(payeeOfWord);
        const totalWeight = payees.reduce((sum, { weight }) => sum + weight, 0n);
        return payees.map(({ wallet, weight }, ordinal) => ({ network, payTo, ordinal, toAddress: wallet, weight, totalWeight }));
      }),
    );
  }
}
