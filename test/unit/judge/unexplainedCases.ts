import type { Sight } from '../../../modules/kernel/payment/sight.ts';
import { PAYMENT_STATES } from '../../../modules/kernel/payment/state.ts';
import type { JudgedPayment } from '../../../modules/settlement/rules/judge.ts';
import { carrierOf, MOVED, MOVING, PASSED, paid, paymentIn, sightOf, spent } from './samples.ts';

/** What is seen of a payment, and whether a simulation must tell why it did not move. */
export interface UnexplainedCase {
  readonly name: string;
  readonly payment: JudgedPayment;
  readonly sight: Sight;
  readonly unexplained: boolean;
}

const sent = paymentIn('broadcast');
const ran = sightOf({ carrier: carrierOf() });
const refused = sightOf({ rail: { kind: 'refused', believed: null } });

/** Of what was sent, only what ran or was refused, and did not move, is simulated. */
export const UNEXPLAINED_CASES: readonly UnexplainedCase[] = [
  { name: 'its bytes were executed', payment: sent, sight: ran, unexplained: true },
  {
    name: 'its bytes reverted',
    payment: sent,
    unexplained: true,
    sight: sightOf({ carrier: carrierOf({ fate: 'reverted', size: 4 }) }),
  },
  { name: 'its rail refuses', payment: sent, sight: refused, unexplained: true },
  ...(['voided', 'overtaken'] as const).map((fate) => ({
    name: `its bytes were ${fate}: they never ran`,
    payment: sent,
    unexplained: false,
    sight: sightOf({ carrier: carrierOf({ fate }) }),
  })),
  {
    name: 'the bytes of another batch were executed',
    payment: sent,
    unexplained: false,
    sight: sightOf({ carrier: carrierOf({ batchId: 'batch-0' }) }),
  },
  {
    name: 'the bytes of another batch reverted',
    payment: sent,
    unexplained: false,
    sight: sightOf({ carrier: carrierOf({ batchId: 'batch-0', fate: 'reverted' }) }),
  },
  { name: 'nothing of it is mined', payment: sent, sight: sightOf(), unexplained: false },
  { name: 'its rail is moving it', payment: sent, sight: sightOf({ rail: MOVING }), unexplained: false },
  { name: 'its rail moved it', payment: sent, sight: sightOf({ rail: MOVED }), unexplained: false },
  { name: 'it moved', payment: sent, sight: spent(paid(), { carrier: carrierOf() }), unexplained: false },
  {
    name: 'a transfer is there, though the node says unused',
    payment: sent,
    unexplained: false,
    sight: sightOf({ spending: paid(), carrier: carrierOf() }),
  },
  { name: 'its nonce is used, no log says how', payment: sent, sight: spent(null, { carrier: carrierOf() }), unexplained: false },
  { name: 'it was simulated', payment: sent, unexplained: false, sight: sightOf({ carrier: carrierOf(), simulation: PASSED }) },
  ...PAYMENT_STATES.filter((state) => state !== 'broadcast').flatMap((state) => [
    {
      name: `${state}, its bytes were executed`,
      payment: paymentIn(state, { facts: { batchId: 'batch-1' } }),
      sight: ran,
      unexplained: false,
    },
    { name: `${state}, its rail refuses`, payment: paymentIn(state), sight: refused, unexplained: false },
  ]),
];
