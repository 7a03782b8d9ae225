/** Receivers' ways to check a signature, each run as it stands in the documentation, on deliveries that were really made. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { verifyWebhook, WebhookVerificationError } from '../../examples/webhook-receiver/verification.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { rotateSecret } from '../../modules/webhooks/use/rotateSecret.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { runPass } from '../support/webhook-pass.ts';

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const secretBox = createSecretBox(Buffer.alloc(32, 6));
const outbound = createOutbound({ allowLoopback: true });
let own: TestDatabase;
let database: Database;
let receiver: Receiver;
let received: Received;
/** Both sign while the secret is rotated. */
let secrets: readonly string[];

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  receiver = await startReceiver();
  const tenantId = await insertTenant(database);
  const made = await createEndpoint({ database, secretBox, outbound }, tenantId, { url: receiver.url });
  const rotated = await rotateSecret({ database, secretBox }, tenantId, made.endpointId);
  secrets = [rotated.secret, made.secret];
  await insertCrossing(database, { tenantId, secondsAgo: 5, legs: [{ toAddress: '0xa', amountMicro: 700, authorId: 'ünï' }] });
  await closeDueWindows(database, 1_000);
  await runPass({ database, outbound, secretBox });
  received = receiver.received[0] as Received;
});
afterAll(async () => {
  await receiver.stop();
  await outbound.close();
  await database.close();
  await own.drop();
});

const signature = (): string => String(received.headers['svc-signature']);
const tampered = (): string => received.body.replace('700', '7000');

test('the standardwebhooks package takes a delivery with either secret, and no tampered one', () => {
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(received.body, received.headers as Record<string, string>)).toMatchObject({
      type: 'settlement.completed',
      data: { gross: { microUsdc: 700 } },
    });
    expect(() => new Webhook(secret).verify(tampered(), received.headers as Record<string, string>)).toThrow();
  }
});

test('the TypeScript of the documentation takes it with either secret, and no tampered one', async () => {
  const code = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const url = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(code))}`;
  const { isFromService } = (await import(/* @vite-ignore */ url)) as {
    isFromService: (rawBody: Buffer, header: string, secret: string) => boolean;
  };
  for (const secret of secrets) {
    expect(isFromService(Buffer.from(received.body), signature(), secret)).toBe(true);
    expect(isFromService(Buffer.from(tampered()), signature(), secret)).toBe(false);
  }
});

test('the example for TypeScript users returns the event, and throws for what is not ours, tampered, old or unsigned', () => {
  for (const secret of secrets) {
    expect(verifyWebhook(received.body, signature(), secret)).toEqual(JSON.parse(received.body));
    expect(verifyWebhook(Buffer.from(received.body), signature(), secret).data['host']).toBe('alpha.example');
  }
  const [secret = ''] = secrets;
  const later = Date.now() / 1_000 + 400;
  const refused: [string, string | undefined, string, number?][] = [
    [received.body, signature(), 'whsec_b3RoZXI='],
    [tampered(), signature(), secret],
    [received.body, signature(), secret, later],
    [received.body, undefined, secret],
    [received.body, 't=1', secret],
    [received.body, signature().replace(/v1/g, 'v0'), secret],
  ];
  for (const parts of refused) expect(() => verifyWebhook(...parts)).toThrow(WebhookVerificationError);
});

test.skipIf(!hasPython)(
  'the Python of the documentation takes it with either secret, and nothing tampered, old or malformed',
  () => {
    const code = /```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const main = `
import json, sys
cases = json.load(sys.stdin)
print(json.dumps([is_from_service(c["body"].encode(), c["header"], c["secret"], c.get("now")) for c in cases]))
`;
    const [secret = '', old = ''] = secrets;
    const { body } = received;
    const cases = [
      { body, header: signature(), secret },
      { body, header: signature(), secret: old },
      { body: tampered(), header: signature(), secret },
      { body, header: signature(), secret: 'whsec_b3RoZXI=' },
      { body, header: signature(), secret, now: Date.now() / 1_000 + 400 },
      ...['', 't=', 't=x,v1=', 't=²,v1=é', 'v1=00'].map((header) => ({ body, header, secret })),
    ];
    const run = spawnSync('python3', ['-c', `${code}${main}`], { input: JSON.stringify(cases), encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(JSON.parse(run.stdout)).toEqual([true, true, ...Array.from({ length: 8 }, () => false)]);
  },
);
