import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Calls of one connection that are without an answer at once. HTTP lets a client send calls behind each other without waiting; browsers, proxies
 * and the clients of this service send one. Node parses whatever comes and keeps it until it is answered: a refusal that is held
 * back, or a call that waits for its turn, would let one connection fill the memory.
 */
const MOST_UNANSWERED = 20;

/**
 * Answers the calls of a server; a connection that has too many without an answer is cut, and none of them goes on. Returns how many are on
 * their way: connections that a proxy opened ahead of time carry none.
 */
export function answerCalls(server: Server, answer: RequestListener): () => number {
  const connections = new WeakMap<Socket, { unanswered: number }>();
  const connectionOf = (socket: Socket): { unanswered: number } => {
    const known = connections.get(socket);
    if (known) return known;
    const connection = { unanswered: 0 };
    connections.set(socket, connection);
    return connection;
  };
  let calls = 0;
  server.on('request', (request, response) => {
    const { socket } = request;
    const connection = connectionOf(socket);
    if (connection.unanswered >= MOST_UNANSWERED) socket.destroy();
    // What was read in one go with the call that was too many still comes here, one by one.
    if (socket.destroyed) return;
    connection.unanswered += 1;
    calls += 1;
    response.once('close', () => {
      calls -= 1;
      connection.unanswered -= 1;
    });
    answer(request, response);
  });
  return () => calls;
}
