import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { alertSecretContext, setAlertUrl } from '../../modules/budgets/use/alerts.ts';
import { examineSystem } from '../../modules/operations/use/doctor.ts';
import { resealSecrets } from '../../modules/operations/use/secrets.ts';
import { openCreditsToken, setCreditsToken } from '../../modules/quotes/use/credits/token.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { rotateSecret } from '../../modules/webhooks/use/rotateSecret.ts';
import { secretContext } from '../../modules/webhooks/use/secret.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
/** What processes run with before, in the two steps of a rotation, and after it. */
const before = createSecretBox(OLD);
const first = createSecretBox(OLD, NEW);
const second = createSecretBox(NEW, OLD);
const after = createSecretBox(NEW);

let urls: TestDatabase;
let database: Database;
const outbound = createOutbound();
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, poolSize: 4 });
});
afterAll(async () => {
  await outbound.close();
  await database.close();
  await urls.drop();
});

interface Endpoint {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly secret: string;
}
async function endpoint(secretBox = before): Promise<Endpoint> {
  const tenantId = await insertTenant(database);
  return {
    tenantId,
    ...(await createEndpoint({ database, outbound, secretBox }, tenantId, { url: 'https://hooks.example.com/' })),
  };
}

/** The secrets of an endpoint as a process with this box reads them, the newest first. */
async function opened({ tenantId, endpointId }: Endpoint, box = after): Promise<string[]> {
  const rows = await database.query<{ sealed: Buffer }>(
    'select sealed from webhook_secret where tenant_id = $1 and endpoint_id = $2 order by created_at desc',
    [tenantId, endpointId],
  );
  return rows.map(({ sealed }) => box.open(sealed, secretContext(tenantId, endpointId)));
}

/** What the doctor says while SECRETS_KEY is NEW and the one before OLD. */
async function doctor(): Promise<string[]> {
  const networks = { ids: [], list: [], get: () => undefined };
  // biome-ignore lint/suspicious/noExplicitAny: without a network the doctor looks at the database alone
  const settlement: any = { database, networks, now: Date.now };
  const pepper = pepperOf({ apiKeyPepper: 'p'.repeat(32) });
  const findings = await examineSystem({
    settlement,
    temporal: null,
    licenceKeys: null,
    pepper,
    secretBox: second,
    version: '0.0.0',
  });
  return findings.flatMap(({ check, found }) => (check === 'secrets key' ? [found] : []));
}

test('in each step of a rotation every process opens what every other one seals', () => {
  for (const [seals, opens] of [
    [before, first],
    [first, before],
    [first, second],
    [second, first],
    [second, after],
  ] as const) {
    expect(opens.open(seals.seal('s', 'row'), 'row')).toBe('s');
  }
  expect(() => after.open(before.seal('s', 'row'), 'row')).toThrow();
  expect(() => second.open(before.seal('s', 'row'), 'another row')).toThrow();
  expect([before.keyId, first.keyId]).toEqual([before.keyId, before.keyId]);
  expect(second.keyId).not.toBe(before.keyId);
});

test('webhook secrets are sealed anew under the present key without changing; the doctor counts what is left', async () => {
  const [plain, unknown, turning] = [await endpoint(), await endpoint(), await endpoint()];
  // Whose key is not known.
  await database.query('update webhook_secret set key_id = null where endpoint_id = $1', [unknown.endpointId]);
  const { secret: next } = await rotateSecret({ database, secretBox: second }, turning.tenantId, turning.endpointId);
  expect(await doctor()).toEqual(['3 sealed secrets are not known to be under SECRETS_KEY']);
  await expect(opened(plain)).rejects.toThrow();

  expect(await resealSecrets({ database, secretBox: second })).toEqual({ resealed: 3, unreadable: [] });
  expect(await doctor()).toEqual(['0 sealed secrets are not known to be under SECRETS_KEY']);
  for (const one of [plain, unknown]) expect(await opened(one)).toEqual([one.secret]);
  expect(await opened(turning)).toEqual([next, turning.secret]);
  expect(await resealSecrets({ database, secretBox: second })).toEqual({ resealed: 0, unreadable: [] });
});

test('the token of a credits API is sealed anew beside them', async () => {
  const creditsApiUrl = 'https://credits.example.com/v1';
  const site = { hosts: ['sealed.example'], pricing: { priceUsdc: '0.01', creditsApiUrl } };
  const { tenantId } = await createTenant({ database }, site);
  await setCreditsToken({ database, secretBox: before }, { tenantId, actor: operatorNamed('ops') }, 'a-token');
  expect(await doctor()).toEqual(['1 sealed secrets are not known to be under SECRETS_KEY']);
  expect(await resealSecrets({ database, secretBox: second })).toEqual({ resealed: 1, unreadable: [] });
  expect(await openCreditsToken({ database, secretBox: after }, { tenantId, apiUrl: creditsApiUrl })).toBe('a-token');
});

test('the secret of an account’s alerts is sealed anew beside them', async () => {
  const accountId = randomUUID();
  await database.query('insert into buyer_account (account_id) values ($1)', [accountId]);
  const outbound = { checkUrl: () => ({ ok: true }) as const };
  const { secret } = await setAlertUrl({ database, secretBox: before, outbound }, accountId, 'https://hooks.example/budget');
  expect(await doctor()).toEqual(['1 sealed secrets are not known to be under SECRETS_KEY']);
  expect(await resealSecrets({ database, secretBox: second })).toEqual({ resealed: 1, unreadable: [] });
  const [row] = await database.query<{ endpoint_id: string; sealed: Buffer }>(
    'select alert_endpoint_id as endpoint_id, alert_sealed as sealed from buyer_account',
  );
  expect(row && after.open(row.sealed, alertSecretContext(accountId, row.endpoint_id))).toBe(secret);
  expect(() => row && after.open(row.sealed, alertSecretContext(randomUUID(), row.endpoint_id))).toThrow();
});

test('a secret that neither key opens is named and stays; one that an owner replaces at the same moment is not brought back', async () => {
  const lost = await endpoint(createSecretBox(randomBytes(32)));
  const busy = await endpoint();
  const racing = {
    ...second,
    open: (sealed: Uint8Array, context: string) => {
      if (context === secretContext(busy.tenantId, busy.endpointId)) moved = move();
      return second.open(sealed, context);
    },
  };
  const move = async () => rotateSecret({ database, secretBox: second }, busy.tenantId, busy.endpointId, 0);
  let moved: ReturnType<typeof move> | undefined;
  const { unreadable } = await resealSecrets({ database, secretBox: racing });
  expect(unreadable).toEqual([{ tenantId: lost.tenantId, endpointId: lost.endpointId }]);
  const secret = (await moved)?.secret;
  expect((await opened(busy, second))[0]).toBe(secret);
  const ending = await database.query('select 1 from webhook_secret where endpoint_id = $1 and expires_at is null', [
    busy.endpointId,
  ]);
  expect(ending).toHaveLength(1);
});
