import type { Answered } from '../../../modules/kernel/payment/answered.ts';
import { builder } from '../../schema/builder.ts';

/** What became of requests that were told a price. */
export const AnsweredType = builder.interfaceRef<Answered>('Answered').implement({
  description:
    'How many 402s their askers answered with a payment, and what the others leave missed. Of a filter that leaves the paid requests out, nothing is ' +
    'answered.',
  fields: (t) => ({
    answered: t.exposeInt('answered', {
      description:
        'Paid requests that a gate had denied before, as x402 has it. Licences, and pages that this service sold at its own address, had no such 402.',
    }),
    unanswered: t.exposeInt('unanswered', { description: 'Denied requests less those answered, at least 0.' }),
    unansweredMicro: t.field({
      type: 'Micro',
      description:
        '`missedMicro` less what answered requests paid: what denied requests without a payment, and blocked ones, would have paid.',
      resolve: ({ unansweredMicro }) => unansweredMicro,
    }),
    conversion: t.exposeFloat('conversion', {
      nullable: true,
      description: 'Which part of the denied requests was answered, 0 … 1; null when none was denied.',
    }),
  }),
});
