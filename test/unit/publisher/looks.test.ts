/** An answer that was looked at and is not sent. */
import { expect, test } from 'vitest';
import { unlessSiteHas } from '../../../packages/publisher/src/looking.ts';
import { lookAt } from '../../../packages/publisher/src/selling/lookAtResponse.ts';

test('a document of ours goes out where the site has none, without waiting for the end of what the site said instead', async () => {
  const endless = new ReadableStream({
    pull: (to) => to.enqueue(new Uint8Array(1_000)),
    cancel: () => new Promise(() => undefined),
  });
  const look = unlessSiteHas(async () => ({ status: 200, headers: {}, body: 'ours' }));
  const missing = () => new Response(endless, { status: 404, headers: { 'content-type': 'text/html' } });
  const { answer, isOwn } = await lookAt(look, new Request('https://alpha.example/license.xml'), missing);
  expect([answer.status, await answer.text(), isOwn]).toEqual([200, 'ours', false]);
});
