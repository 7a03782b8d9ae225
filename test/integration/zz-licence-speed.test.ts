import { afterAll, beforeAll, expect, test } from 'vitest';
import { importPages } from '../../services/licences/offering.ts';
import { createBuyerAccount } from '../../services/tenants.ts';
import { startTestApi } from '../support/api.ts';
import { sellLicence } from '../support/buyers.ts';
let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => { api = await startTestApi(); });
afterAll(() => api.stop());
test('speed', async () => {
  const own = await api.site();
  const pages = Array.from({ length: 5000 }, (_, n) => ({ slug: `s${n}`, path: `/large/${n < 1000 ? 'a' : 'b'}${n}`, credits: { contributors: [0, 1, 2].map((k) => ({ authorId: `a${(n + k) % 40}`, wallet: `0x${String((n + k) % 40).padStart(40, '7')}` })) } }));
  await importPages(api.deps, { tenantId: own.tenantId, pages });
  const body = (scope: string) => ({ host: own.host, scope: [scope], terms: ['search'], periodDays: 30, kind: 'read' as const });
  const time = async (n: number, work: () => Promise<{ status: number }>) => {
    const times: number[] = [];
    for (let i = 0; i < n; i++) { const t = performance.now(); expect((await work()).status).toBe(200); times.push(performance.now() - t); }
    return { first: times[0], p50: times.slice().sort((a, b) => a - b)[Math.floor(n / 2)] };
  };
  console.log('quote 5000', await time(20, () => api.post('/_svc/licenses/quote', null, body('/large/'))));
  console.log('quote 1000', await time(40, () => api.post('/_svc/licenses/quote', null, body('/large/a*'))));
  const buyer = await createBuyerAccount(api.deps);
  const small = await sellLicence(api, buyer.accountId, body('/large/a1*'));
  console.log('access narrowed', await time(60, () => api.post(`/_svc/licenses/${small.jti}/access`, buyer.token, { paths: ['/large/a1'] })));
  const { license } = (await api.post(`/_svc/licenses/${small.jti}/access`, buyer.token, { paths: ['/large/a1'] })).body;
  console.log('check warm', await time(300, () => api.post('/_svc/license/check', own.key, { license, resource: `https://${own.host}/large/a1`, slug: 's1' })));
}, 60000);
