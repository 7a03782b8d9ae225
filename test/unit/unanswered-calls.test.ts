/** Calls that one connection sends without waiting for answers, on connections of a real server. */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { answerCalls } from '../../process/api/calls.ts';
import { scaled } from '../support/patience.ts';

const MOST = 20;
const begun: ServerResponse[] = [];
let server: Server;
let calls: () => number;

beforeAll(async () => {
  server = createServer();
  calls = answerCalls(server, (_, response) => void begun.push(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
beforeEach(() => {
  begun.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function open(): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  return socket.on('error', () => undefined).resume();
}

function send(socket: Socket, count: number): void {
  socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n'.repeat(count));
}

test('a connection with more calls than it may have without an answer is cut, and another one is answered', async () => {
  const [greedy, other] = [open(), open()];
  send(greedy, 5_000);
  await expect.poll(() => greedy.destroyed, { timeout: scaled(10_000) }).toBe(true);
  expect(begun.length).toBe(MOST);
  await expect.poll(calls).toBe(0);
  send(other, 1);
  await expect.poll(() => begun.length).toBe(MOST + 1);
  begun.at(-1)?.end('answered');
  await once(other, 'data');
  expect(other.destroyed).toBe(false);
  other.destroy();
});

test('a connection that waits for its answers may send as many calls as it likes', async () => {
  const socket = open();
  for (let round = 1; round <= 3; round++) {
    send(socket, MOST);
    await expect.poll(() => begun.length).toBe(MOST * round);
    for (const response of begun.slice(-MOST)) response.end('answered');
    await expect.poll(calls).toBe(0);
  }
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});
