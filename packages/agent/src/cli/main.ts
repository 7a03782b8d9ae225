#!/usr/bin/env node
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { runCommand } from './run.ts';

const { stdin, stdout, stderr } = process;
// The reader may close the pipe, as `head` does: the rest is not wanted.
stdout.on('error', () => process.exit(1));
process.exitCode = await runCommand({
  argv: process.argv.slice(2),
  // biome-ignore lint/style/noProcessEnv: the one place of this command that reads its environment
  environment: process.env,
  write: (told) => stdout.write(told),
  complain: (told) => stderr.write(told),
  readInput: () => text(stdin),
  readLine: async () => {
    try {
      for await (const line of createInterface({ input: stdin })) return line;
      return '';
    } finally {
      // A terminal stays open, and would keep the process alive.
      stdin.destroy();
    }
  },
});
