import { expect, test } from 'vitest';
import type { RowOf } from '../../db/shown.ts';
import { both, columnsOf, columnsOfAny, workedOut } from '../../db/shown.ts';
import { builder } from '../../graphql/schema/builder.ts';
import type { Delivery } from '../../modules/reports/use/lists/lists.ts';

test('a list asks for columns by the names of their properties, beside what SQL works out', () => {
  const shown = both(columnsOf('delivery d', ['deliveryId', 'state']), workedOut<{ size: number }>('length(d.body) as size'));
  expect(shown.text).toBe('d.delivery_id as "deliveryId", d.state as "state", length(d.body) as size');
});

test('rows of a list have the types of their entity: a column that is not there, and one that may be null and is taken for set, do not compile', () => {
  const delivery = columnsOf('delivery d', ['dueAt', 'decidedAt']);
  const row: RowOf<typeof delivery> = { dueAt: new Date(0), decidedAt: null };
  const due: Date = row.dueAt;
  // @ts-expect-error an open delivery is not decided
  const decided: Date = row.decidedAt;
  // @ts-expect-error a delivery has no such column
  const none = columnsOf('delivery d', ['sentAt']);
  const joined = columnsOfAny('delivery d', ['dueAt']);
  // @ts-expect-error there may be no delivery beside the row
  const beside: RowOf<typeof joined>['dueAt'] extends Date ? Date : never = due;
  expect([due, decided, none.text, beside]).toEqual([new Date(0), null, 'd.sent_at as "sentAt"', new Date(0)]);
});

/** Fields over rows of a list, which nothing adds to the schema: they are to be compiled alone. */
const fieldsOf = (): unknown =>
  builder.objectRef<Delivery>('OnlyCompiled').implement({
    description: 'A delivery.',
    fields: (t) => ({
      dueAt: t.field({ type: 'EpochMs', description: 'When it is due.', resolve: ({ dueAt }) => dueAt }),
      // @ts-expect-error an open delivery is not decided: the field must be nullable
      decidedAt: t.field({ type: 'EpochMs', description: 'When it was decided.', resolve: ({ decidedAt }) => decidedAt }),
      // @ts-expect-error the column may be null, the field may not
      reason: t.exposeString('reason', { description: 'Why it failed.' }),
    }),
  });

test('a field of the schema over a column that may be null does not compile unless the schema says so', () => {
  expect(fieldsOf).toBeTypeOf('function');
});
