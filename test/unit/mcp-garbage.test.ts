import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { openMcp } from '../../api/mcp/server.ts';

const ROUNDS = 5;
const MESSAGES = 100;
/** The protocol library itself leaves 19 KB behind; tools that are registered anew for each message left 31. */
const MOST_BYTES_A_MESSAGE = 25_000;

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as (how?: { readonly type: 'minor' }) => void;

function oldBytes(): number {
  return v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
}

test('a message of MCP leaves little in the old space, so that an agent in a loop stops nobody for long', async () => {
  const mcp = openMcp('1.0.0');
  const authInfo = { token: '', clientId: 'anyone', scopes: [], extra: { call: { who: { kind: 'anyone' } } } };
  const ask = async (): Promise<void> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = new Request('https://svc.example/_svc/mcp', { method: 'POST', headers });
    const parsedBody = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    expect(await (await mcp.fetch(request, { parsedBody, authInfo })).text()).toContain('"buy_page"');
  };
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    collect();
    const before = oldBytes();
    for (let done = 0; done < MESSAGES; done++) {
      await ask();
      // As calls come: each in a turn of its own, and young collections between them. What has been through two lies in the old space.
      await new Promise((resolve) => setImmediate(resolve));
      if (done % 10 === 9) collect({ type: 'minor' });
    }
    collect({ type: 'minor' });
    rounds.push((oldBytes() - before) / MESSAGES);
  }
  expect(Math.min(...rounds)).toBeLessThan(MOST_BYTES_A_MESSAGE);
});
