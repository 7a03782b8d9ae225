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
  const unanswered = new WeakMap<Socket, number>();
  let calls = 0;
  server.on('request', (request, response) => {
    const { socket } = request;
    const ofConnection = (unanswered.get(socket) ?? 0) + 1;
    if (ofConnection > MOST_UNANSWERED) socket.destroy();
    // What was read in one go with the call that was too many still comes here, one by one.
    if (socket.destroyed) return;
    unanswered.set(socket, ofConnection);
    calls += 1;
    response.once('close', () => {
      calls -= 1;
      unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    });
    answer(request, response);
  });
  return () => calls;
}
