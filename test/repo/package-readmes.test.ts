/** What the packages' own pages say to paste is what the starters, the clients and the type checker run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blocksOf } from '../support/pasted.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Programs that are run as they stand, in which each snippet has to stand line by line. */
const RUN = {
  publisher: [
    'examples/express/server.js',
    'examples/fastify/server.js',
    'examples/hono/site.js',
    'examples/next/proxy.js',
    'examples/astro/src/middleware.js',
    'examples/sveltekit/src/hooks.server.js',
  ],
  python: ['examples/fastapi/main.py', 'examples/django/wsgi.py'],
  agent: [
    'examples/buyer/buyer.ts',
    'test/clients/buyers/requests-v2.py',
    'test/clients/buyers/go-x402/main.go',
    'test/repo/agent-package.test.ts',
  ],
} as const;

test.each(Object.entries(RUN))('packages/%s: every snippet stands in a program that is run', (name, programs) => {
  const lines = programs.map((program) =>
    readFileSync(join(ROOT, program), 'utf8')
      .split('\n')
      .map((line) => line.trim()),
  );
  const snippets = blocksOf(join(ROOT, 'packages', name, 'README.md')).filter(({ language }) =>
    /^(js|ts|python|go)$/.test(language),
  );
  expect(snippets.length).toBeGreaterThan(1);
  for (const { text } of snippets) {
    const wanted = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const missing = lines.map((program) => wanted.filter((line) => !program.includes(line)));
    expect(missing.toSorted((one, other) => one.length - other.length)[0]).toEqual([]);
  }
});

test.each(Object.keys(RUN))('packages/%s: its page stands alone, and leads to no file of the repository', (name) => {
  const text = readFileSync(join(ROOT, 'packages', name, 'README.md'), 'utf8');
  const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, to = '']) => to);
  expect(links.filter((to) => !/^https:\/\//.test(to))).toEqual([]);
});
