import { randomInt } from 'node:crypto';
import type { Server } from 'node:net';
import { createServer, Socket } from 'node:net';

const HOST = '127.0.0.1';
const STEPS = 100;
/**
 * Any free port is one of these: below 32768, from where on systems give ports to connections that go out, one of which might have it before it is
 * bound. Temporal's Postgres schema keeps ports in a `smallint`, too.
 */
const LOWEST_PORT = 20_000;
const PORT_SPAN = 12_000;
/** A port lost this often is not lost by chance. */
const ATTEMPTS = 5;
/** Ports this process has given out: a part may bind its port some time after it was chosen. */
const givenOut = new Set<number>();

/**
 * A free TCP port on 127.0.0.1 that this process has not given out before: `preferred` if nobody has it, else the next free
 * one above. `preferred` 0 is any free one.
 * Every call gives another port. Throws `RangeError` for a number that is no port.
 */
export async function choosePort(preferred = 0): Promise<number> {
  if (!Number.isInteger(preferred) || preferred < 0 || preferred > 65_535) {
    throw new RangeError(`${preferred} is not a port: use 0 (any free one) to 65535`);
  }
  const wanted =
    preferred > 0 ? Array.from({ length: STEPS }, (_, step) => preferred + step).filter((port) => port <= 65_535) : [];
  for (const port of [...wanted, ...Array.from({ length: STEPS }, () => LOWEST_PORT + randomInt(PORT_SPAN))]) {
    if (givenOut.has(port)) continue;
    // Taken before it is tried, so that calls at the same time do not try the same one.
    givenOut.add(port);
    if (await isFree(port)) return port;
    givenOut.delete(port);
  }
  throw new Error(`no free TCP port on ${HOST}`);
}

/**
 * Starts something on a port chosen for it, and on another one when somebody took that between choosing and binding. Returns what `start`
 * returns, and throws what it throws for any other reason. What `start` leaves running when it throws is its own to end.
 */
export async function onFreePort<T>(
  preferred: number,
  start: (port: number) => Promise<T>,
  choose: typeof choosePort = choosePort,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await choose(preferred);
    try {
      return await start(port);
    } catch (error) {
      releasePort(port);
      if (attempt === ATTEMPTS || !isPortTaken(error)) throw error;
    }
  }
}

/**
 * As Node, Postgres, Temporal and anvil say it. Temporal's development server looks for further ports by itself, and where one is taken
 * from under it while it looks, it ends by a nil pointer in `buildServer`.
 */
function isPortTaken(error: unknown): boolean {
  return (
    error instanceof Error && /EADDRINUSE|address already in use|devserver\.\(\*StartOptions\)\.buildServer/i.test(error.message)
  );
}

/** A server of ours on 127.0.0.1 and the port it has. See `onFreePort`. */
export function listenOnFreePort(server: Server, preferred: number, choose?: typeof choosePort): Promise<number> {
  const listen = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, HOST, () => {
        server.off('error', reject);
        resolve(port);
      });
    });
  return onFreePort(preferred, listen, choose);
}

/** Says that a part which had this port has stopped, so that the port may be chosen again. */
export function releasePort(port: number): void {
  givenOut.delete(port);
}

/** Asks both ways: a listener on all addresses does not stop a bind to one address on every system. */
async function isFree(port: number): Promise<boolean> {
  return !(await answers(port)) && (await canListen(port));
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new Socket();
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(500, () => settle(false));
    socket.once('error', () => settle(false));
    socket.connect(port, HOST, () => settle(true));
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
