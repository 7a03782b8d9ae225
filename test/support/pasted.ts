/** Steps of a document, pasted into one shell after the other, as a reader would. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { scaled } from './patience.ts';

/** A block of a document between fences. */
export interface Block {
  /** What stands behind the opening fence; empty when nothing does. */
  readonly language: string;
  readonly text: string;
}

/** How long what a shell started may take to end by itself. */
const END_MS = 4_000;

/** All blocks of a document, in their order. */
export function blocksOf(document: string): readonly Block[] {
  const found = readFileSync(document, 'utf8').matchAll(/^```(.*?)\n(.*?)^```$/gms);
  return [...found].map(([, language = '', text = '']) => ({ language, text }));
}

/** The blocks of a document that are marked ```sh, in their order: what can be pasted as it is. */
export function shellBlocks(document: string): readonly string[] {
  return blocksOf(document).flatMap(({ language, text }) => (language === 'sh' ? [text] : []));
}

/** The GraphQL documents of a chapter, each with its heading, in their order. */
export function graphqlSteps(document: string, chapter: string): readonly { readonly title: string; readonly query: string }[] {
  const [, text = ''] = readFileSync(document, 'utf8').split(`\n## ${chapter}\n`);
  const steps = (text.split('\n## ')[0] ?? '').matchAll(/^### (.*?)\n.*?^```graphql\n(.*?)^```$/gms);
  return [...steps].map(([, title = '', query = '']) => ({ title, query }));
}

/** A block in which `export` gives these values; every name that was given is taken off the map. */
export function filledIn(block: string, values: Map<string, string>): string {
  return block.replace(/^export .*$/gm, (line) =>
    line.replace(/\b([A-Z_]+)=('[^']*'|"[^"]*"|\S+)/g, (whole, name: string) => {
      const value = values.get(name);
      if (value === undefined) return whole;
      values.delete(name);
      return `${name}='${value}'`;
    }),
  );
}

/** A shell that is given one block after the other. */
export interface Shell {
  /** What the block printed; rejects with it when one of its commands failed, or after `limitMs`. */
  paste(block: string, limitMs: number): Promise<string>;
  /** Ends it and everything it started. */
  end(): Promise<void>;
}

/** Starts `bash` in a folder; a block ends at the first command that fails, and the shell with it. Blocks are kept in `scratch`. */
export function openShell(options: {
  readonly folder: string;
  readonly scratch: string;
  readonly environment: Readonly<Record<string, string>>;
}): Shell {
  // Names of files come over a pipe of their own, so that no command of a block reads the next one.
  const child: ChildProcess = spawn('bash', ['-c', 'set -eo pipefail; while read -r block <&3; do . "$block"; done'], {
    cwd: options.folder,
    env: { ...process.env, ...options.environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      said += text;
    });
  }
  const blocks = child.stdio[3] as Duplex;
  blocks.on('error', () => undefined); // it ended: the exit code says why
  let count = 0;
  const paste = async (block: string, limitMs: number): Promise<string> => {
    const from = said.length;
    count += 1;
    const mark = `::block ${count} is done::`;
    const file = join(options.scratch, `block-${count}.sh`);
    writeFileSync(file, `${block}\necho '${mark}'\n`, { mode: 0o600 });
    blocks.write(`${file}\n`);
    const deadline = performance.now() + scaled(limitMs);
    while (!said.includes(mark)) {
      const isLate = performance.now() > deadline;
      const why = child.exitCode !== null ? `ended with ${child.exitCode}` : isLate ? 'took too long' : null;
      if (why !== null) throw new Error(`the shell ${why} in\n${block}\nand said\n${said.slice(from)}`);
      await sleep(50);
    }
    return said.slice(from, said.indexOf(mark));
  };
  const group = -(child.pid as number);
  const end = async (): Promise<void> => {
    const isThere = signalled(group, 'SIGTERM');
    for (let waitedMs = 0; isThere && signalled(group, 0) && waitedMs < END_MS; waitedMs += 50) await sleep(50);
    signalled(group, 'SIGKILL');
    await exited;
  };
  return { paste, end };
}

/** False when all of the group has ended. */
function signalled(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(group, signal);
  } catch {
    return false;
  }
}
