/**
 * Hostile callers, in a process of their own: reads `Attack` as JSON from the first line of its input, calls as fast as it is answered over so many
 * kept connections each, says so once it was answered, until its input ends, and then tells how often it was answered what. Started with
 * a low priority.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import type { HttpRequest } from './http.ts';

/** What hostile callers do: each kind of caller sends its requests in turns. */
export interface Attack {
  readonly url: string;
  readonly callers: readonly { readonly connections: number; readonly requests: readonly HttpRequest[] }[];
}

const [line] = (await once(createInterface({ input: process.stdin }), 'line')) as [string];
const attack = JSON.parse(line) as Attack;
const statuses: Record<string, number> = {};

function note(status: number | string): void {
  if (Object.keys(statuses).length === 0) process.stdout.write('running\n');
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function call(agent: Agent, { path, body, ...rest }: HttpRequest): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(`${attack.url}${path}`, { ...rest, agent }, (response) => {
      note(response.statusCode ?? 0);
      response.resume().once('close', resolve);
    });
    sent.once('error', () => {
      note('cut');
      resolve();
    });
    sent.end(body);
  });
}

for (const { connections, requests } of attack.callers) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let turn = 0;
  const goOn = async (): Promise<void> => {
    for (;;) await call(agent, requests[turn++ % requests.length] as HttpRequest);
  };
  for (let connection = 0; connection < connections; connection++) void goOn();
}
process.stdin.resume().once('close', () => {
  process.stdout.write(JSON.stringify(statuses), () => process.exit(0));
});
