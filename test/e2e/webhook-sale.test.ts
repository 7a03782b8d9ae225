import { Client, Connection } from '@temporalio/client';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SettlementDelivery } from '../../api/schemas/webhooks.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { redeliver } from '../../modules/webhooks/use/redeliver.ts';
import { rotateSecret } from '../../modules/webhooks/use/rotateSecret.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { scaled } from '../support/patience.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { listDeliveries } from '../support/webhookLog.ts';

let service: TestService;
let site: TestSite;
let receiver: Receiver;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

async function buy(slug: string): Promise<{ readonly ref: string; readonly price: number }> {
  const quote = await askQuote(service.baseUrl, site.key, slug);
  const payer = await service.payer(100_000n);
  const answer = await sellUntilDecided(service.baseUrl, site.key, quote, await payFor(payer, quote));
  return { ref: answer.body.settlementRef, price: quote.price };
}

/** The delivery's body, its headers verified by the standardwebhooks package. */
function verified(n: number, secret: string) {
  const one = receiver.received[n];
  if (!one) throw new Error(`there is no delivery ${n}`);
  new Webhook(secret).verify(one.body, one.headers as Record<string, string>);
  // biome-ignore lint/suspicious/noExplicitAny: the envelope of any event
  return { headers: one.headers, body: JSON.parse(one.body) as any };
}

test('a sale on chain reaches its receiver through a failure, again on demand, and over a rotation of the secret', async () => {
  const { database } = service;
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(Buffer.from(service.secrets.secretsKey, 'base64url'));
  const deps = { database, secretBox, outbound };
  const { endpointId, secret } = await createEndpoint(deps, site.tenantId, { url: receiver.url });
  receiver.answer((response, count) => {
    response.statusCode = count === 1 ? 500 : 200;
    response.end();
  });

  const sales = await Promise.all([buy('trio'), buy('solo')]);
  await receiver.until(1);
  const first = verified(0, secret);
  expect(SettlementDelivery.parse(first.body)).toEqual(first.body);
  // The two sales may be of two windows: the other event may come between the failure and the second attempt.
  const deliveryId = String(first.headers['svc-id']);
  const attempts = () => receiver.received.flatMap(({ headers }, n) => (headers['svc-id'] === deliveryId ? [n] : []));
  await expect.poll(attempts).toHaveLength(2);
  expect(verified(attempts()[1] ?? -1, secret).body).toEqual(first.body);
  const gross = sales.reduce((sum, sale) => sum + sale.price, 0);
  const events = await database.query('select 1 from webhook_event where tenant_id = $1', [site.tenantId]);
  if (events.length === 1) {
    expect(first.body.data.gross.microUsdc).toBe(gross);
    expect([...first.body.data.settlementRefs].sort()).toEqual([...new Set(sales.map((sale) => sale.ref))].sort());
  }
  expect(first.body.data.legs.reduce((sum: number, leg: { amountMicro: number }) => sum + leg.amountMicro, 0)).toBe(
    first.body.data.gross.microUsdc,
  );

  await expect
    .poll(
      async () => (await listDeliveries(deps, site.tenantId, endpointId)).every((delivery) => delivery.state === 'delivered'),
      {
        timeout: scaled(60_000),
        interval: 200,
      },
    )
    .toBe(true);
  const log = (await listDeliveries(deps, site.tenantId, endpointId)).find((delivery) => delivery.deliveryId === deliveryId);
  expect(log?.attempts.map((attempt) => attempt.status)).toEqual([500, 200]);
  const connection = await Connection.connect({ address: service.temporal.address });
  const client = new Client({ connection, namespace: service.temporal.namespace });
  const retries = client.workflow.getHandle(`endpoint:${endpointId}`);
  await expect.poll(async () => (await retries.describe()).status.name).toBe('COMPLETED');
  await connection.close();

  const before = receiver.received.length;
  const again = await redeliver(deps, site.tenantId, deliveryId);
  await receiver.until(before + 1);
  const third = verified(before, secret);
  expect(third.headers['svc-id']).toBe(again.deliveryId);
  expect(third.body.eventId).toBe(first.body.eventId);

  const rotated = await rotateSecret(deps, site.tenantId, endpointId);
  const sale = await buy('duo');
  await receiver.until(before + 2);
  expect(verified(before + 1, rotated.secret).body.data.settlementRefs).toEqual([sale.ref]);
  expect(verified(before + 1, secret).body.data.settlementRefs).toEqual([sale.ref]);
  await outbound.close();
});
