import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../sandbox/limits.ts';
import { askQuote, payFor, sell } from '../support/buying.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService({ environment: limits({ drainNoticeMs: 5_000, settleWaitMs: 60_000 }) });
  site = await service.site();
});
afterAll(() => service.stop());

test('after SIGTERM the API says it is not ready, then takes no more calls, and still answers the payment on its way', async () => {
  const [[api], [worker]] = [service.apis, service.workers];
  if (!api || !worker) throw new Error('the service does not run');
  const quote = await askQuote(api.url, site.key, 'solo');
  const payment = await payFor(await service.payer(100_000n), quote);
  process.kill(worker.process.pid, 'SIGSTOP'); // nobody settles until the API refuses calls
  const answered = sell(api.url, site.key, quote, payment);
  await expect.poll(async () => (await service.database.query("select 1 from payment where state = 'accepted'")).length).toBe(1);

  process.kill(api.process.pid, 'SIGTERM');
  await expect.poll(async () => (await fetch(`${api.url}/readyz`)).status, { interval: 50 }).toBe(503);
  expect(await (await fetch(`${api.url}/readyz`)).json()).toMatchObject({
    ok: false,
    checks: { process: 'failed', database: 'ok' },
  });
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  await expect
    .poll(() =>
      fetch(`${api.url}/healthz`).then(
        () => 'answers',
        () => 'refuses',
      ),
    )
    .toBe('refuses');
  process.kill(worker.process.pid, 'SIGCONT');
  const answer = await answered;
  expect(answer.status).toBe(200);
  expect(answer.body.settlementRef).toMatch(/^0x[0-9a-f]{64}$/);
  expect((await api.process.exited).code).toBe(0);
});
