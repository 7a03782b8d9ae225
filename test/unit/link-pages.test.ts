import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { STATEMENT_PAGE } from '../../api/linkPages.ts';

/** Opens the page of a statement in a browser that has no more than the page's script needs; `status`: what the service answers. */
function open(token: string, status: number) {
  const shown = new Map(['h1', 'main p', 'button', 'output'].map((name) => [name, { textContent: '', disabled: false }]));
  const button = shown.get('button') as unknown as { onclick: () => Promise<void> };
  const script = /<script>(.*)<\/script>/s.exec(STATEMENT_PAGE.page)?.[1] ?? '';
  runInNewContext(script, {
    ...{ atob, TextDecoder, Uint8Array, URL: { createObjectURL: () => 'blob:' } },
    location: { hash: `#${token}` },
    document: { querySelector: (name: string) => shown.get(name), createElement: () => ({ click: () => undefined }) },
    fetch: async () => new Response('%PDF', { status }),
  });
  return { click: () => button.onclick(), words: () => [...shown.values()].map(({ textContent }) => textContent).join('\n') };
}

const tokenOf = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
const said = { sub: 'Ann Ä', svc: { host: 'news.example', month: '2026-10' } };

test('words of a link are shown once the service has accepted it, and before that its month alone', async () => {
  const page = open(tokenOf(said), 200);
  await setImmediate();
  expect(page.words()).toContain('October 2026');
  expect(page.words()).not.toMatch(/Ann|news\.example/);
  await page.click();
  expect(page.words()).toContain('Ann Ä · news.example');
});

test.each([404, 503])('nothing of a link that is answered with %i is shown but a month', async (status) => {
  const page = open(tokenOf({ ...said, sub: 'Call us at once', svc: { host: 'evil.example', month: '2026-10' } }), status);
  await page.click();
  expect(page.words()).not.toMatch(/Call us|evil\.example/);
  const strange = open(tokenOf({ sub: 'Ann', svc: { month: '2026-10 Call us' } }), status);
  expect(strange.words()).not.toMatch(/Ann|Call us/);
});
