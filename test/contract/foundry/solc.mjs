#!/usr/bin/env node
/** The pinned solc of npm behind the command line that forge expects: `--version`, or standard JSON from stdin to stdout. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const solc = createRequire(import.meta.url)('solc');
if (process.argv.includes('--version')) console.log(`solc, the solidity compiler\nVersion: ${solc.version()}`);
else process.stdout.write(solc.compile(readFileSync(0, 'utf8')));
