import { expect, test } from 'vitest';
import type { z } from 'zod';
import { DESCRIBED, describeService } from '../../api/app.ts';
import { EXAMPLES } from '../../api/examples/index.ts';
import { AnomalyDelivery, DELIVERY_EXAMPLES, SettlementDelivery } from '../../api/schemas/webhooks.ts';

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema?: z.ZodType; readonly example?: unknown }>>;
}
const operations = DESCRIBED.flatMap(({ operation }) => (operation ? [operation] : []));
const schemaOf = (described: unknown): z.ZodType | undefined =>
  Object.entries((described as Described | undefined)?.content ?? {}).find(([type]) =>
    /^application\/(did\+)?json$/.test(type),
  )?.[1].schema;

test('every example stands for an operation there is', () => {
  const ids = new Set(operations.map(({ operationId }) => operationId));
  expect(Object.keys(EXAMPLES).filter((id) => !ids.has(id))).toEqual([]);
});

test.each(operations.map((operation) => [operation.operationId ?? '', operation] as const))(
  'the examples of %s are what its schemas say',
  (id, operation) => {
    const { parameters = {}, request, response } = EXAMPLES[id] ?? {};
    const success = Object.entries(operation.responses).find(([status]) => /^20[012]$/.test(status))?.[1];
    if (request !== undefined) expect(schemaOf(operation.requestBody)?.safeParse(request).error).toBeUndefined();
    if (response !== undefined) expect(schemaOf(success)?.parse(response)).toEqual(response);
    const query = operation.requestParams?.query as z.ZodType | undefined;
    if (query) expect(query.safeParse(parameters).error).toBeUndefined();
    const takesJson = schemaOf(operation.requestBody) !== undefined;
    expect([takesJson, schemaOf(success) !== undefined]).toEqual([
      request !== undefined,
      response !== undefined || id === 'getOauthMetadata' || id === 'getOpenApi',
    ]);
  },
);

test('the description shows examples of parameters, bodies and answers, and both webhooks', () => {
  const document = describeService('https://api.example') as {
    paths: Record<string, Record<string, { parameters?: { name: string; example?: string }[] }>>;
    webhooks: object;
  };
  expect(Object.keys(document.webhooks)).toEqual(['settlement.completed', 'anomaly.detected']);
  const shown = document.paths['/_svc/quote']?.['get']?.parameters?.map(({ name, example }) => [name, example !== undefined]);
  expect(shown).toEqual([
    ['resource', true],
    ['slug', true],
    ['kind', true],
    ['agent', true],
    ['category', true],
    ['terms', true],
    ['build', false],
    ['signIn', false],
    ['sign', false],
    ['error', false],
  ]);
  expect(SettlementDelivery.parse(DELIVERY_EXAMPLES.settlement)).toEqual(DELIVERY_EXAMPLES.settlement);
  expect(AnomalyDelivery.parse(DELIVERY_EXAMPLES.anomaly)).toEqual(DELIVERY_EXAMPLES.anomaly);
});
