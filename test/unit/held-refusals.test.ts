/** How refusals by a rate are told, on connections of a real server. */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { tellInTime } from '../../api/held.ts';
import { RateExceeded } from '../../platform/pacing/rates.ts';

let server: Server;
let told = 0;
const sockets: Socket[] = [];

/** Refuses every call for the rate of the caller that its path names. */
beforeAll(async () => {
  server = createServer((request, response) =>
    tellInTime(response, new RateExceeded(1, request.url ?? ''), () => {
      told += 1;
      response.writeHead(429, ['content-length', '0']).end();
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** A connection that sends so many calls without waiting; what it was answered when it ended, or when the first answer came. */
async function send(caller: string, calls: number, until: 'close' | 'data'): Promise<{ answers: string; afterMs: number }> {
  const startedAtMs = performance.now();
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  let answers = '';
  socket.on('data', (data) => (answers += data.toString()));
  socket.write(`GET ${caller} HTTP/1.1\r\nhost: here\r\n\r\n`.repeat(calls));
  await once(socket, until);
  return { answers, afterMs: performance.now() - startedAtMs };
}

test('a connection that asks on without waiting is told once, after half a second, and ends', async () => {
  told = 0;
  const { answers, afterMs } = await send('/pipelined', 1_000, 'close');
  expect([told, answers.match(/429/g)?.length, /connection: close/i.test(answers)]).toEqual([1, 1, true]);
  expect(afterMs).toBeGreaterThan(450);
});

test('one caller holds a hundred places at most: beyond, its connection ends with the one answer, and another caller still waits', async () => {
  const held = Array.from({ length: 100 }, () => send('/many', 1, 'data'));
  const [beyond, other] = await Promise.all([send('/many', 100, 'close'), send('/other', 1, 'data')]);
  expect([beyond.answers.match(/429/g)?.length, /connection: close/i.test(other.answers)]).toEqual([1, false]);
  expect(other.afterMs).toBeGreaterThan(450);
  const waited = await Promise.all(held);
  expect(waited.filter(({ answers }) => /connection: close/i.test(answers))).toEqual([]);
  // Its places are free again.
  expect((await send('/many', 1, 'data')).afterMs).toBeGreaterThan(450);
});

test('a refusal is told after half a second and up to a quarter more, by chance: calls refused together do not come back together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const chances = [0, 0.5, 0.999];
    vi.spyOn(Math, 'random').mockImplementation(() => chances.shift() ?? 0);
    const order: string[] = [];
    for (const name of ['soonest', 'middle', 'latest']) {
      const response = { req: { socket: {} }, headersSent: false, shouldKeepAlive: true } as unknown as ServerResponse;
      tellInTime(response, new RateExceeded(1, name), () => void order.push(name));
    }
    const toldAfter = async (ms: number): Promise<number> => {
      vi.advanceTimersByTime(ms);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve)); // each is told in a turn of the event loop
      return order.length;
    };
    const steps = [499, 1, 124, 1, 123, 2];
    const counts: number[] = [];
    for (const ms of steps) counts.push(await toldAfter(ms));
    expect(counts).toEqual([0, 1, 1, 2, 2, 3]);
    expect(order).toEqual(['soonest', 'middle', 'latest']);
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});
