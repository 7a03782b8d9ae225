import type { PageAnswer } from '../../modules/receipts/rules/answer.ts';
import { isAsSent } from '../../modules/receipts/rules/answer.ts';
import { readAnswers } from '../../modules/receipts/use/answers.ts';
import { ROW_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import { keyIn, loadBySite } from '../schema/loading.ts';
import { PaymentType } from './refs.ts';

const AnswerOutcome = builder.enumType('PageAnswerOutcome', {
  description: 'How an answer ended, as the site saw it.',
  values: {
    DELIVERED: { value: 'delivered', description: 'All of it was handed to the connection.' },
    LOST: { value: 'lost', description: 'Its reader was gone before that.' },
  } as const,
});

const PageAnswerType = builder.objectRef<PageAnswer>('PageAnswer').implement({
  description: 'How the answer with a page went, as its site and its buyer say.',
  fields: (t) => ({
    outcome: t.field({
      type: AnswerOutcome,
      nullable: true,
      description: 'Of the newest answer; null: the site did not say.',
      resolve: ({ outcome }) => outcome,
    }),
    lostAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When an answer was lost for the first time.',
      resolve: ({ lostAtMs }) => lostAtMs,
    }),
    servedAgain: t.exposeInt('servedAgain', { description: 'Answers after the first one.' }),
    sentSha256: t.string({
      nullable: true,
      description: 'SHA-256 of the page that the site says it sent first, in hex.',
      resolve: ({ body }) => body?.sha256 ?? null,
    }),
    heldSha256: t.string({
      nullable: true,
      description: 'SHA-256 of the page that the buyer says it holds, in hex; its signature stands in the public record.',
      resolve: ({ held }) => held?.sha256 ?? null,
    }),
    isHeldAsSent: t.boolean({
      nullable: true,
      description:
        'Whether the buyer holds a page that the site says it sent, first or again; null where one of them did not say.',
      resolve: (answer) => answer.held && isAsSent(answer, answer.held.sha256),
    }),
  }),
});

builder.objectField(PaymentType, 'answer', (t) =>
  t.loadable({
    type: PageAnswerType,
    nullable: true,
    description: 'How the answer with its page went; null where nobody said.',
    complexity: ROW_COST,
    load: (keys: string[], { deps }) =>
      loadBySite(keys, async (tenantId, ids) => {
        const answers = await readAnswers(deps, tenantId, ids);
        return ids.map((id) => answers.get(id) ?? null);
      }),
    resolve: (payment) => keyIn(payment, payment.paymentId),
  }),
);
