import { expect } from 'vitest';
import { EXAMPLES } from '../../graphql/schema/examples.ts';
import { askGraph } from './graphql.ts';
import { scaled } from './patience.ts';

/** What of the sandbox's contract the questions need. */
interface Place {
  readonly graphqlUrl: string;
  readonly temporal: { readonly uiUrl: string };
  readonly webhookSink: { readonly url: string };
  readonly publishers: { readonly alpha: { readonly ownerToken: string } };
}

/**
 * GraphiQL of the sandbox has the eighteen questions with a credential that answers them, and each answer is right: alpha sold the page of
 * three authors `sales` times for 1,000 micro, and nothing else happened.
 */
export async function expectTenAnswers(place: Place, sales: number): Promise<void> {
  const token = place.publishers.alpha.ownerToken;
  const page = await (await fetch(place.graphqlUrl, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain(token);
  for (const { name, question } of EXAMPLES) {
    expect(page).toContain(question);
    expect(page).toContain(`query ${name} {`);
  }
  const ask = async (name: string) => {
    const { query } = EXAMPLES.find((example) => example.name === name) ?? { query: '' };
    const { errors, data } = await askGraph(place.graphqlUrl, token, query);
    expect(errors, name).toEqual([]);
    return data.tenant;
  };
  const micro = (each: number): string => String(each * sales);
  const total = micro(1_000);

  const { agents } = await ask('earnedByAgent');
  expect(agents.nodes).toHaveLength(1);
  expect(agents.nodes[0]).toMatchObject({ earnedMicro: total, paid: sales });
  await expect
    .poll(async () => (await ask('authorsWaiting')).reconciliation, { timeout: scaled(120_000) }) // it is read once a minute
    .toEqual({
      outstanding: { legs: 0, amountMicro: '0' },
      waiting: { nodes: [] },
    });
  const refused = (await ask('pathsRefused')).audit.breakdown.nodes;
  expect(refused.map(({ key, denied }: { key: string; denied: number }) => [key, denied])).toEqual([['trio', sales]]);
  expect((await ask('weekAgainstWeek')).earnings).toEqual({
    totals: { grossMicro: total, events: sales, reads: sales, citations: 0, authors: 3 },
    previous: { grossMicro: '0', events: 0 },
  });
  expect((await ask('bestPages')).earnings.breakdown).toEqual({
    totalCount: 1,
    nodes: [{ key: 'trio', grossMicro: total, reads: sales, citations: 0 }],
  });
  const { statements, totalMicro } = (await ask('statements')).statements;
  expect(totalMicro).toBe(total);
  const paid = statements.nodes.map(({ authorId, grossMicro }: { authorId: string; grossMicro: string }) => [
    authorId,
    grossMicro,
  ]);
  expect(paid).toEqual([
    ['ann', micro(500)],
    ['bob', micro(300)],
    ['cyd', micro(200)],
  ]);
  expect(statements.nodes[1].lines.nodes).toHaveLength(sales);
  const failed = await ask('failedPayments');
  expect([failed.audit.totals.paymentFailed, failed.payments.nodes]).toEqual([0, []]);
  const { payments } = await ask('paymentOnChain');
  expect(payments.nodes).toHaveLength(sales);
  for (const { evidence, batch, crossings } of payments.nodes) {
    expect(evidence.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(batch.workflowId).toMatch(/^settle:/);
    expect(crossings[0].legs.map((leg: { amountMicro: string }) => leg.amountMicro)).toEqual(['500', '300', '200']);
  }
  const { totals } = (await ask('masqueraders')).audit;
  expect(totals.masqueradeAttempts).toBe(0);
  const { webhookEndpoints, deliveries } = await ask('webhooksHealth');
  expect(webhookEndpoints.nodes).toMatchObject([
    { origin: new URL(place.webhookSink.url).origin, enabled: true, failuresInRow: 0 },
  ]);
  expect(deliveries.totalCount).toBe(sales);
  for (const { state, event, attempts } of deliveries.nodes) {
    expect([state, event.type, attempts.at(-1).status]).toEqual(['DELIVERED', 'SETTLEMENT_COMPLETED', 200]);
  }
}
