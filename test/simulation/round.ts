import type { Carrier, Sight } from '../../modules/kernel/payment/sight.ts';
import type { Verdict } from '../../modules/settlement/rules/judge.ts';
import { isUnexplained, judge } from '../../modules/settlement/rules/judge.ts';
import { verdictsOf } from '../../modules/settlement/rules/verdicts.ts';
import type { Call } from './actor.ts';
import { ask } from './actor.ts';
import type { View } from './chain.ts';
import { judgedOf, look, momentOf, simulateOne } from './look.ts';
import type { Applied, PaymentRow } from './store.ts';
import type { World } from './world.ts';

/** What a round over one payment did: whether something was decided, and whether its bytes must go out again. */
interface Round {
  readonly isDecided: boolean;
  readonly resend: boolean;
  /** It is at the safe block, and that was left to be written. */
  readonly safe: Safe | null;
}

/** What was judged of a payment at the safe block. */
export interface Safe {
  readonly row: PaymentRow;
  readonly verdict: Verdict;
  readonly judged: { readonly sight: Sight; readonly reorgs: number };
}

/**
 * One payment judged as `modules/settlement/use/batch/round.ts` does: what the chain shows, what that means, written; what ran and moved nothing
 * is simulated and judged once more. `carrierIn` says what became of its bytes, of the same node. Throws RpcDown.
 */
export function* runRound(
  world: World,
  row: PaymentRow,
  options: { readonly atSafe: boolean; readonly carrierIn?: (view: View) => Carrier | null; readonly leaveSafe?: true },
): Generator<Call, Round, unknown> {
  const { sight, reorgs } = yield* ask(() =>
    world.rpc((view) => {
      const carrier = options.carrierIn?.(view) ?? null;
      return { sight: { ...look(world, view, row, options.atSafe), carrier }, reorgs: world.chain.reorgs };
    }),
  );
  const payment = judgedOf(row);
  const now = momentOf(world);
  const verdicts = verdictsOf(payment, sight, now);
  const results: Applied[] = [];
  const last = verdicts.at(-1);
  if (options.leaveSafe && last?.event.type === 'safe')
    return { isDecided: false, resend: false, safe: { row, verdict: last, judged: { sight, reorgs } } };
  for (const verdict of verdicts) results.push(yield* world.decide(row, verdict, { sight, reorgs }));
  if (verdicts.length === 0 && isUnexplained(payment, sight)) {
    const simulation = yield* ask(() => world.rpc((view) => simulateOne(world, view, row)));
    const explained: Sight = { ...sight, simulation };
    const verdict = judge(payment, explained, now);
    if (verdict !== 'wait') results.push(yield* world.decide(row, verdict, { sight: explained, reorgs }));
  }
  return {
    isDecided: results.some(({ outcome }) => outcome === 'changed'),
    resend: results.some(({ effects }) => effects.some(({ type }) => type === 'resend')),
    safe: null,
  };
}

/** The same without a node that answers: only clocks speak. */
export function* runBlindRound(world: World, row: PaymentRow): Generator<Call, void, unknown> {
  const verdict = judge(judgedOf(row), null, momentOf(world));
  if (verdict !== 'wait') yield* world.decide(row, verdict, { sight: null, reorgs: world.chain.reorgs });
}
