/** A TCP proxy that can be cut, so that a test plays the outage of a part without ending it for others. */
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A running proxy on 127.0.0.1. */
export interface CutProxy {
  readonly port: number;
  /** Ends every connection and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy to a port of this machine, which may become known later. */
export async function startProxy(targetPort: number | (() => number)): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const target = connect(typeof targetPort === 'number' ? targetPort : targetPort(), '127.0.0.1');
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend: () => {
      isCut = false;
    },
    close: () => {
      cut();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
