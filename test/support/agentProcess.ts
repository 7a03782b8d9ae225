/** The buyer's command in processes of its own, and what stands between it and a site. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { AgentHome } from './agentHome.ts';

/** The command as it stands in this repository. */
export const AGENT_COMMAND = fileURLToPath(new URL('../../packages/agent/src/cli/main.ts', import.meta.url));

/** What a command said. */
export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Starts the command; `said` when it has ended. */
export function startAgent(
  home: Pick<AgentHome, 'folder'>,
  argv: readonly string[],
  given: { readonly environment?: Readonly<Record<string, string>>; readonly input?: string } = {},
): { readonly child: ChildProcess; readonly said: Promise<Said> } {
  const environment = { ...process.env, NODE_OPTIONS: '', CONTENT_SETTLEMENT_HOME: home.folder, ...given.environment };
  const child = spawn(process.execPath, [AGENT_COMMAND, ...argv], { env: environment, stdio: 'pipe' });
  child.stdin.end(given.input ?? '');
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  return { child, said: once(child, 'close').then(([code]) => ({ code: code as number | null, out, err })) };
}

/** Runs the command to its end. */
export function runAgent(...args: Parameters<typeof startAgent>): Promise<Said> {
  return startAgent(...args).said;
}

/** Stands in front of a site and sees payments pass. */
export interface Passage {
  readonly url: string;
  /** Payments that came by, in their order. */
  readonly payments: string[];
  /** Called with the number of a payment (from 1) when the site has answered it, before the buyer hears of it; true drops the answer. */
  after: (number: number) => boolean;
  close(): Promise<void>;
}

/** Opens a passage to `target`. */
export async function openPassage(target: string): Promise<Passage> {
  const payments: string[] = [];
  const passage = { after: (_number: number): boolean => false };
  const server = createServer((asked, answer) => {
    const payment = asked.headers['payment-signature'];
    const number = typeof payment === 'string' ? payments.push(payment) : 0;
    const { method, headers } = asked;
    const onward = send(new URL(asked.url ?? '/', target), { method, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        if (number > 0 && passage.after(number)) answer.destroy();
        else answer.writeHead(reply.statusCode ?? 500, reply.headers).end(Buffer.concat(chunks));
      });
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return Object.assign(passage, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, payments, close });
}
