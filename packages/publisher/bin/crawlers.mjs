/**
 * Writes src/core/crawlers.generated.ts from robots.json, the list of AI crawlers that https://github.com/ai-robots-txt/ai.robots.txt keeps.
 * node packages/publisher/bin/crawlers.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs';

const SOURCE = new URL('robots.json', import.meta.url);
const TARGET = new URL('../src/core/crawlers.generated.ts', import.meta.url);

/** The text of the generated file. */
export function renderCrawlers() {
  const names = Object.keys(JSON.parse(readFileSync(SOURCE, 'utf8')));
  const tokens = [...new Set(names.map((name) => name.toLowerCase()))].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const lines = tokens.map((token) => `  ${JSON.stringify(token)},`).join('\n');
  return `// Written by packages/publisher/bin/crawlers.mjs from robots.json of ai.robots.txt: do not edit.
// MIT License, Copyright (c) 2024 ai.robots.txt. Permission is hereby granted, free of charge, to any person obtaining a copy of this
// software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation
// the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom
// the Software is furnished to do so, subject to the following conditions: The above copyright notice and this permission notice shall be
// included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
// EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
// EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
// OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

/** Names of AI crawlers in lower case, the longest first. */
export const CRAWLERS: readonly string[] = [
${lines}
];
`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(TARGET, renderCrawlers());
