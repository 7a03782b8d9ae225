/** docs/wire.md tells visitors apart in another language as the package does. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { KNOWN_VISITORS } from '../../packages/publisher/src/cli/knownVisitors.ts';
import type { AgentLists, Who } from '../../packages/publisher/src/core/who.ts';
import { createClassifier } from '../../packages/publisher/src/core/who.ts';
import { blocksOf } from '../support/pasted.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'wire-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const blocks = blocksOf(join(ROOT, 'docs/wire.md'));
const write = blocks.find(({ text }) => text.includes('> visitors.json'))?.text ?? '';
const python = blocks.find(({ language }) => language === 'python')?.text ?? '';
const hasPython = spawnSync('python3', ['--version']).status === 0;

const FATE: Readonly<Record<Who, string>> = {
  person: 'person',
  search: 'read',
  robot: 'read',
  allowed: 'read',
  blocked: 'block',
  agent: 'charge',
};
const OWNERS: readonly AgentLists[] = [
  DEFAULT_ENFORCEMENT,
  {
    seoAllowlist: ['goodsearch'],
    crawlerPolicy: { allow: ['curl/', 'gptbot'], charge: ['twitterbot'], block: ['gptbot', 'uptimerobot'] },
    visitorClasses: { ...DEFAULT_ENFORCEMENT.visitorClasses, feed: 'block', search: 'charge', ai: 'read' },
  },
];
const AGENTS = [
  ...KNOWN_VISITORS.map(({ userAgent }) => userAgent),
  'GoodSearch/1.0',
  `${'x'.repeat(512)}GPTBot`,
  'Amazon CloudFront',
  'CLAUDE-CODE/2.0 (cli)',
];

test.skipIf(!hasPython)(
  'the Python of the page reads, charges and blocks each visitor as the package does, for any owner',
  () => {
    const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
    const script = write.replace('npx node', 'node').replace('> visitors.json', `> '${folder}/visitors.json'`);
    const made = spawnSync('bash', ['-c', script], { cwd: ROOT, env: { ...process.env, PATH: path }, encoding: 'utf8' });
    expect([made.status, made.stderr]).toEqual([0, '']);
    const main = `
import sys
print(json.dumps([[decide(ua, owner) for ua in agents] for owner, agents in json.load(sys.stdin)]))
`;
    const input = JSON.stringify(OWNERS.map((owner) => [owner, AGENTS]));
    const ran = spawnSync('python3', ['-c', `${python}${main}`], { cwd: folder, input, encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    const wanted = OWNERS.map((owner) => AGENTS.map((ua) => FATE[createClassifier(owner)(ua).who]));
    expect((JSON.parse(ran.stdout) as string[][]).map((row) => row.map((fate, at) => [AGENTS[at], fate]))).toEqual(
      wanted.map((row) => row.map((fate, at) => [AGENTS[at], fate])),
    );
  },
);
