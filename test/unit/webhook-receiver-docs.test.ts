import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { signHeaders, signingKeyOf } from '../../modules/webhooks/use/sign.ts';

type Verify = (rawBody: Buffer, header: string, secret: string, nowSeconds?: number) => boolean;

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');

/** The page's verification code, run as it stands. */
async function verifyOfThePage(): Promise<Verify> {
  const code = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const url = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(code))}`;
  return ((await import(/* @vite-ignore */ url)) as { isFromService: Verify }).isFromService;
}

test('the verification code of the documentation accepts what we sign, and nothing else', async () => {
  const isFromService = await verifyOfThePage();
  const [body, now, secret, old] = ['{"a":"ü"}', 1_793_270_000, 'whsec_bmV3', 'whsec_b2xk'];
  const header = signHeaders('dlv_1', body, [secret, old].map(signingKeyOf), now)['svc-signature'] ?? '';
  const raw = Buffer.from(body);
  expect(isFromService(raw, header, secret, now)).toBe(true);
  expect(isFromService(raw, header, old, now + 299)).toBe(true);
  expect(isFromService(raw, header, secret, now + 301)).toBe(false);
  expect(isFromService(raw, header, secret, now - 301)).toBe(false);
  expect(isFromService(raw, header, 'whsec_b3RoZXI=', now)).toBe(false);
  expect(isFromService(Buffer.from('{"a":"u"}'), header, secret, now)).toBe(false);
  expect(isFromService(raw, header.replace(`t=${now}`, `t=${now + 1}`), secret, now)).toBe(false);
  const withoutPrefix = createHmac('sha256', 'bmV3').update(`${now}.${body}`).digest('hex');
  expect(isFromService(raw, `t=${now},v1=${withoutPrefix}`, secret, now)).toBe(false);
  for (const noise of ['', 't=', 't=x,v1=', `t=${now}`, `v1=00`, `t=${now},v1=zz`])
    expect(isFromService(raw, noise, secret, now)).toBe(false);
});

test('the documentation names every wait of the schedule', () => {
  expect(page).toContain('| after | 0 | 5 s | 5 min | 30 min | 2 h | 5 h | 10 h | 10 h |');
});
