/** Tools of the MCP endpoint besides pages: licences of an account, receipts, and what a site's owner reads by its key. */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { signReceipt } from '../../modules/settlement/use/answer/signReceipt.ts';
import { startTestApi } from '../support/api.ts';
import { sellLicence } from '../support/buyers.ts';
import type { Told } from '../support/mcp.ts';
import { mcpClients } from '../support/mcp.ts';
import { payTo, receiptOf } from '../support/verifyApi.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
const settled: SettleRequest[] = [];
beforeAll(async () => {
  api = await startTestApi({
    settle: async (request) => {
      await request.lastLook?.({ hasMoved: false });
      settled.push(request);
      const licence = { jti: 'the-licence', priceMicro: request.terms.priceMicro };
      return { ...receiptOf(request), licence, responseHeader: Buffer.from('{"success":true}').toString('base64') };
    },
  });
});
afterAll(() => api.stop());

const { ask, toolsOf } = mcpClients(() => api.url);
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const buyer = privateKeyToAccount(generatePrivateKey());
const namesOf = async (token?: string) => (await toolsOf(token)).map(({ name }) => name).toSorted();

test('anybody sees what he may call: licences are an account’s, reports a key’s by its scopes', async () => {
  const site = await api.site();
  const { token: account } = await createBuyerAccount(api.deps);
  const anyone = await namesOf();
  expect(anyone).not.toContain('buy_licence');
  expect(await namesOf(account)).toEqual([...anyone, 'buy_licence', 'list_licences'].toSorted());
  expect(await namesOf(site.key)).toEqual(['audit_summary', 'earnings_summary', 'enforcement_status']);
  const { token: gate } = await mintKey(api.deps, { tenantId: site.tenantId, name: 'gate', scopes: ['tenant.read'] });
  expect(await namesOf(gate)).toEqual(['enforcement_status']);
});

test('a publisher’s tools answer what REST answers the same key, of its own site alone', async () => {
  const site = await api.site();
  const status = await ask({ name: 'enforcement_status', arguments: {} }, bearer(site.key));
  expect(status.structuredContent).toEqual((await api.request('/_svc/enforce-status', { key: site.key })).body);
  const asked = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00+01:00', groupBy: 'author' };
  const query = `from=${Date.parse(asked.from)}&to=${Date.parse(asked.to)}&groupBy=author`;
  for (const [name, path] of [
    ['earnings_summary', 'earnings'],
    ['audit_summary', 'audit'],
  ] as const) {
    const told = (await ask({ name, arguments: asked }, bearer(site.key))).structuredContent;
    const { body } = await api.request(`/_svc/${path}?${query}&limit=10`, { key: site.key });
    expect({ ...told, generatedAt: 0 }).toEqual({ ...body, generatedAt: 0 });
  }
  const other = await api.site();
  const foreign = (await ask({ name: 'earnings_summary', arguments: { host: other.host } }, bearer(site.key))).structuredContent;
  expect(foreign.tenants.map(({ id }: Told) => id)).toEqual([site.tenantId]);
  const odd = await ask(
    { name: 'earnings_summary', arguments: { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' } },
    bearer(site.key),
  );
  expect([odd.isError, odd.content[0].text]).toEqual([true, expect.stringMatching(/^invalid_parameter: /)]);
});

test('a licence is quoted to anybody, offered in every dialect, sold to the account that calls, and listed as its own', async () => {
  const site = await api.site();
  const { token, accountId } = await createBuyerAccount(api.deps);
  const asked = { scope: ['/articles/*'], terms: ['search'], periodDays: 30, kind: 'read' as const, host: site.host };
  const quote = (await ask({ name: 'quote_licence', arguments: asked })).structuredContent;
  expect(quote).toMatchObject({ resourceCount: 3, terms: ['search'] });
  const offered = await ask({ name: 'buy_licence', arguments: asked }, bearer(token));
  expect(offered.structuredContent.accepts[0].amount).toBe(String(quote.priceMicro));
  expect(offered._meta['x402/error']).toEqual(offered.structuredContent);
  const { payTo: to, amount } = offered.structuredContent.accepts[0];
  const payment = await payTo(api, buyer, to, Number(amount));
  const bought = await ask({ name: 'buy_licence', arguments: asked, _meta: { 'x402/payment': payment } }, bearer(token));
  expect(bought.structuredContent).toEqual({
    state: 'bought',
    license: 'a.b.c',
    jti: 'the-licence',
    priceMicro: quote.priceMicro,
  });
  expect(bought._meta['x402/payment-response']).toEqual({ success: true });
  expect(settled.at(-1)?.purchase?.accountId).toBe(accountId);
  expect((await ask({ name: 'list_licences', arguments: {} }, bearer(token))).structuredContent).toEqual({ licences: [] });
  const sold = await sellLicence(api, accountId, asked);
  const { licences } = (await ask({ name: 'list_licences', arguments: {} }, bearer(token))).structuredContent;
  expect(licences.map(({ jti, resourceCount }: Told) => [jti, resourceCount])).toEqual([[sold.paymentId, 3]]);
  const { token: stranger } = await createBuyerAccount(api.deps);
  expect((await ask({ name: 'list_licences', arguments: {} }, bearer(stranger))).structuredContent).toEqual({ licences: [] });
});

test('a receipt of ours is told apart from a licence, from one byte changed, and from one in a name that sold nothing', async () => {
  const site = await api.site();
  const { kid } = api.deps.keyring.current();
  const resource = `https://${site.host}/articles/solo`;
  const facts = {
    purpose: 'page',
    resource,
    paymentId: 'p',
    network: 'eip155:84532',
    payer: '0xabc',
    issuedAtSeconds: 5,
    transaction: '0x1',
    kid,
  } as const;
  const check = async (jws: string) => (await ask({ name: 'check_receipt', arguments: { jws } })).structuredContent;
  const signer = { signer: api.deps.keyring, baseUrl: api.deps.baseUrl };
  for (const name of ['service', 'host'] as const) {
    const { signature } = (await signReceipt(signer, { ...facts, name })).info.receipt;
    expect(await check(signature)).toMatchObject({
      valid: true,
      signedBy: name === 'service' ? 'did:web:svc.example' : `did:web:${site.host}`,
      receipt: { resourceUrl: resource, payer: '0xabc', transaction: '0x1' },
    });
    const at = signature.indexOf('.') + 5;
    const flipped = `${signature.slice(0, at)}${signature[at] === 'A' ? 'B' : 'A'}${signature.slice(at + 1)}`;
    expect(await check(flipped)).toMatchObject({ valid: false });
  }
  const claims = { version: 1, network: 'eip155:1', resourceUrl: resource, payer: '0xabc', issuedAt: 5 };
  const other = await api.deps.keyring.sign(kid, claims, { kid: `did:web:evil.example#${kid}` });
  expect(await check(other)).toMatchObject({ valid: false, says: expect.stringMatching(/a party that did not sell/) });
  expect(await check(await api.deps.keyring.sign(kid, claims))).toMatchObject({ valid: false });
  expect(await check('x')).toMatchObject({ valid: false });
});
