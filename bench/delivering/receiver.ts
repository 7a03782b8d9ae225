/**
 * The receiver of webhook benches, a process of its own: answers 200, hangs on `/hang`, and says on `/arrivals` when each delivery
 * arrived (epoch ms). Tells its parent the port, and ends with it.
 */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A running receiver. */
export interface BenchReceiver {
  readonly origin: string;
  readonly pid: number;
  /** When each delivery arrived, by its id. */
  arrivals(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

/** Starts one. */
export async function startBenchReceiver(): Promise<BenchReceiver> {
  const child = fork(fileURLToPath(import.meta.url));
  const port = await new Promise<number>((resolve) => child.once('message', (value) => resolve(Number(value))));
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    pid: child.pid as number,
    arrivals: async () => new Map((await (await fetch(`${origin}/arrivals`)).json()) as [string, number][]),
    stop: () => stop(child),
  };
}

function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.disconnect();
  return ended;
}

function receive(): void {
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    if (request.url === '/arrivals') return void response.end(JSON.stringify([...arrivals]));
    if (request.url === '/hang') return void request.resume();
    const id = request.headers['svc-id'];
    request.resume().on('end', () => {
      if (id !== undefined) arrivals.set(String(id), Date.now());
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) receive();
