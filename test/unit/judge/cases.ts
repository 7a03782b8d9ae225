import { isDeepStrictEqual } from 'node:util';
import type { Sight } from '../../../modules/kernel/payment/sight.ts';
import type { JudgedPayment, Moment, Verdict } from '../../../modules/settlement/rules/judge.ts';
import { SENT_CASES } from './sentCases.ts';
import { SETTLED_CASES } from './settledCases.ts';
import { SPENT_CASES } from './spentCases.ts';
import { UNEXPLAINED_CASES } from './unexplainedCases.ts';
import { UNSENT_CASES } from './unsentCases.ts';

/** What the module of the judgement gives. */
type Judgement = Pick<typeof import('../../../modules/settlement/rules/judge.ts'), 'judge' | 'isUnexplained'>;

/** One row of the table: what is seen of a payment, in words, and what it means. */
export interface Case {
  readonly name: string;
  readonly payment: JudgedPayment;
  readonly sight: Sight | null;
  readonly now: Moment;
  readonly verdict: Verdict | 'wait';
}

/** State × sight → verdict: every rule of the judgement and every branch of it. */
export const CASES: readonly Case[] = [...SETTLED_CASES, ...SPENT_CASES, ...UNSENT_CASES, ...SENT_CASES];

/** The first row that a judgement gets wrong; null when it gets all right. A judgement that throws is wrong. */
export function firstWrong({ judge, isUnexplained }: Judgement): string | null {
  const wrong = (row: () => boolean): boolean => {
    try {
      return !row();
    } catch {
      return true;
    }
  };
  const judged = CASES.find(({ payment, sight, now, verdict }) =>
    wrong(() => isDeepStrictEqual(judge(payment, sight, now), verdict)),
  );
  const asked = UNEXPLAINED_CASES.find((row) => wrong(() => isUnexplained(row.payment, row.sight) === row.unexplained));
  return (judged ?? asked)?.name ?? null;
}
