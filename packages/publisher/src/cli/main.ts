#!/usr/bin/env node
import { runCommand } from './run.ts';

const { stdout, stderr } = process;
// biome-ignore lint/style/noProcessEnv: the one place of this command that reads its environment
const environment = process.env;
// The reader may close the pipe, as `head` does: the rest is not wanted.
stdout.on('error', () => process.exit(2));
process.exitCode = await runCommand({
  argv: process.argv.slice(2),
  environment,
  screen: {
    write: (text) => stdout.write(text),
    columns: stdout.columns ?? 100,
    hasColours: stdout.isTTY === true && !environment['NO_COLOR'],
  },
  complain: (text) => stderr.write(text),
  now: Date.now,
});
