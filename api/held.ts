import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { beginInTurn } from '../platform/pacing/eventLoop.ts';
import { RateExceeded } from '../platform/pacing/rates.ts';

/** How long a caller above its rate waits to be told so, at least: who asks again at once asks twice a second a connection at most. */
const HELD_MS = 500;
/** And up to so much longer, each by chance: connections that were refused together would else be told together, and come back together. */
const SPREAD_MS = 250;
/** Refusals that wait at once in this process: each holds a connection. */
const MOST_HELD = 2_000;
/** Of these, refusals of one caller: nobody takes the places of all. */
const MOST_HELD_OF_ONE = 100;

/** The last refusal on each connection while it waits, or ends the connection; and how many wait of each caller. */
const waiting = new WeakMap<Socket, ServerResponse>();
const heldOf = new Map<string, number>();
let held = 0;

/**
 * Answers an error with `tell`: at once, or after half a second or a little more when it is that of a rate. To write a refusal costs nearly
 * what a cheap answer costs, and a client that does not wait would have thousands written a second; so it waits here, for nothing but a timer.
 * Its `Retry-After` counts from the answer. A connection has one such answer at a time: who sent more behind it without waiting is told once,
 * and the connection ends there. Where no place is left, the answer is told at once, and the connection ends with it.
 */
export function tellInTime(response: ServerResponse, error: unknown, tell: () => void): void {
  if (!(error instanceof RateExceeded) || response.headersSent) {
    tell();
    return;
  }
  const { socket } = response.req;
  const before = waiting.get(socket);
  if (before) {
    before.shouldKeepAlive = false;
    return;
  }
  const ofCaller = heldOf.get(error.by) ?? 0;
  waiting.set(socket, response);
  if (held >= MOST_HELD || ofCaller >= MOST_HELD_OF_ONE) {
    response.shouldKeepAlive = false;
    tell();
    return;
  }
  held += 1;
  heldOf.set(error.by, ofCaller + 1);
  const tellNow = (): void => {
    release(error.by);
    if (response.shouldKeepAlive) waiting.delete(socket);
    tell();
  };
  setTimeout(() => beginInTurn(tellNow), HELD_MS + Math.random() * SPREAD_MS);
}

function release(by: string): void {
  held -= 1;
  const left = (heldOf.get(by) ?? 1) - 1;
  if (left > 0) heldOf.set(by, left);
  else heldOf.delete(by);
}
