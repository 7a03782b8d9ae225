import { randomUUID } from 'node:crypto';
import { importJWK, jwtVerify } from 'jose';
import { audienceOf, findEntitlement, reReadClaims } from '../modules/kernel/licence/licence.ts';
import { createKeyring, publicHalf } from '../platform/tokens/jws.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { LIBRARY, withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { rateBesideBare } from './harness/http.ts';
import type { BenchService } from './harness/service.ts';
import { sharedService } from './harness/service.ts';

const HOST = 'licensed.example';
const ISSUER = 'https://svc.example';
const SLUG = 'solo';
const TENANT = randomUUID();

/** License checks: cold beside a loop of jose over the same tokens, warm over HTTP beside a bare node:http server. */
export const licenseCheckBench: Bench = {
  id: 'license-check',
  title: 'License checks',
  run: async ({ quick }) => {
    const service = await sharedService();
    return [await cold(service, quick), await warm(service, quick)];
  },
};

/** Signs licences as the service does. */
async function openSigner({ secrets }: BenchService) {
  const key = secrets.licenceKey;
  const { kid, publicJwk } = await publicHalf(key);
  const open = async () => {
    const keyring = await createKeyring({ privateKeys: [key], clock: Date.now });
    await keyring.schedule([{ kid, publicJwk: { ...publicJwk }, activeFromMs: 0, retiredAtMs: null }]);
    return keyring;
  };
  const keyring = await open();
  const sign = (tenantId: string = TENANT): Promise<string> => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const amountMicro = 1_000n;
    const claims = reReadClaims(
      {
        issuer: ISSUER,
        tenantId,
        host: HOST,
        slug: SLUG,
        kind: 'read',
        payer: `0x${'b'.repeat(40)}`,
        network: 'eip155:84532',
        amountMicro,
        settlementRef: `0x${'c'.repeat(64)}`,
        settlementRefKind: 'txHash',
        jti: randomUUID(),
        kid,
        payees: [{ toAddress: `0x${'a'.repeat(40)}`, amountMicro }],
        issuedAtSeconds: nowSeconds,
        expiresAtSeconds: nowSeconds + 3_600,
      },
      (text) => text,
    );
    return keyring.sign(kid, claims);
  };
  return { sign, open, publicJwk };
}

/** Every token for the first time: signature and claims, in process. */
async function cold(service: BenchService, quick: boolean): Promise<Figure> {
  const signer = await openSigner(service);
  const count = quick ? 50 : 10_000;
  const tokens: string[] = [];
  for (let made = 0; made < count; made++) tokens.push(await signer.sign());
  const perSecond = (check: (token: string) => Promise<boolean>): Promise<Turn> =>
    withCpu(LIBRARY, async () => {
      const startedAt = performance.now();
      for (const token of tokens) if (!(await check(token))) throw new Error('a good licence was refused');
      return { value: count / ((performance.now() - startedAt) / 1000), operations: count };
    });
  const key = await importJWK({ ...signer.publicJwk }, 'EdDSA');
  const audience = audienceOf(HOST);
  const rounds = await alternate({
    rounds: quick ? 1 : 5,
    sides: {
      ours: async () => {
        const keyring = await signer.open(); // one that has not seen them
        const asked = {
          issuer: ISSUER,
          tenantId: TENANT,
          host: HOST,
          path: '/articles/solo',
          slug: SLUG,
          kind: 'read',
          mode: 'live',
        } as const;
        return perSecond(async (token) => {
          const claims = await keyring.verify(token);
          return claims !== null && findEntitlement(claims, { ...asked, nowSeconds: Math.floor(Date.now() / 1000) }) !== null;
        });
      },
      reference: () =>
        perSecond(async (token) => {
          const { payload } = await jwtVerify(token, key, { issuer: ISSUER, audience, algorithms: ['EdDSA'] });
          return payload.jti !== undefined;
        }),
    },
  });
  return makeFigure({
    id: 'license-check.cold',
    isDetail: true,
    what: 'checking a licence that was never seen, in process',
    unit: 'checks/s',
    referenceName: 'jose jwtVerify over the same tokens',
    rounds,
    target: { atLeast: 0.75 },
  });
}

/** One licence again and again, over HTTP; key, site and deny-list are read from Postgres for every call (safety 24). */
async function warm(service: BenchService, quick: boolean): Promise<Figure> {
  const signer = await openSigner(service);
  const { key, tenantId } = await service.site({
    hosts: [HOST],
    pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'] },
  });
  const request: HttpRequest = {
    method: 'POST',
    path: '/_svc/license/check',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ license: await signer.sign(tenantId), resource: `https://${HOST}/articles/${SLUG}`, slug: SLUG }),
  };
  const { path, ...rest } = request;
  const answer = (await (await fetch(`${service.baseUrl}${path}`, rest)).json()) as { entitled?: unknown };
  if (answer.entitled !== true) throw new Error(`a good licence is refused: ${JSON.stringify(answer)}`);
  const { rounds } = await rateBesideBare(service, request, quick);
  return makeFigure({
    id: 'license-check.warm',
    what: 'POST /_svc/license/check of a licence seen before',
    unit: 'req/s',
    referenceName: 'bare node:http that takes in the body',
    rounds,
    target: { atMost: 0.1, of: 'cpu' },
    notes: "50 connections; judged by the servers' CPU, since the client holds up the bare server",
  });
}
