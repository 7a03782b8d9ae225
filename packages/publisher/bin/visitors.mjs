/**
 * Writes the table of robots that the packages, the WordPress plugin and the service tell visitors apart by.
 * node packages/publisher/bin/visitors.mjs
 *
 * AI agents are the names of robots.json, the list that https://github.com/ai-robots-txt/ai.robots.txt keeps. The other classes stand in
 * visitors.json with their operators; `node packages/publisher/bin/visitors.mjs --compare <crawler-user-agents.json>` shows where that list,
 * https://github.com/monperrus/crawler-user-agents, puts a name in another class, and what it has that visitors.json has not.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const { lists, defaults, classes, browsers, cdns } = read('visitors.json');
const LICENCE = `MIT License, Copyright (c) 2024 ai.robots.txt, Copyright (c) Martin Monperrus and contributors. Permission is hereby granted, free of
charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without
restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and
this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY
OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
const told = (one) =>
  `${one.name}${one.version ? ` ${one.version}` : ''} (${one.url}, ${one.licence}${one.compared ? `, ${one.compared}` : ''})`;
const HEAD = `Written by packages/publisher/bin/visitors.mjs: do not edit. Lists: ${lists.map(told).join('; ')}.\n${LICENCE}`;

/** Words of other robots, too; what is called so and nothing else is automation without a name. */
const WORDS = ['spider'];
const isOther = (name) => Object.values(classes).some((names) => Object.hasOwn(names, name));
const ai = [...new Set(Object.keys(read('robots.json')).map((name) => name.toLowerCase()))]
  .filter((name) => !isOther(name) && !WORDS.includes(name))
  .sort();
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
/** Names in a row that compresses well; one that begins with another says nothing more, where that may end there. */
const pattern = (names, mayEnd = () => true) =>
  names
    .filter((name) => !names.some((one) => one !== name && name.startsWith(one) && mayEnd(name.slice(one.length))))
    .sort()
    .map(escaped)
    .join('|');
const comment = (text) =>
  text
    .split('\n')
    .map((line) => `// ${line}`)
    .join('\n');

/** Patterns of names; those of AI agents are whole words, the others begin one. */
const PATTERNS = {
  ai: `(?<![a-z0-9-])(?:${pattern(ai, (rest) => /^[^a-z0-9-]/.test(rest))})(?![a-z0-9-])`,
  ...Object.fromEntries(
    Object.entries(classes).map(([name, names]) => [name, `(?<![a-z0-9-])(?:${pattern(Object.keys(names))})`]),
  ),
};
/** What becomes of each class until an owner decides otherwise, as a constant of TypeScript. */
const DEFAULTS = `export const DEFAULTS = {
${Object.entries(defaults)
  .map(([name, policy]) => `  ${name}: '${policy}',`)
  .join('\n')}
} as const;`;
/** Whole User-Agents that a CDN sends in place of everybody's. */
const CDNS = `^(?:${pattern(cdns)})$`;
const BROWSERS = ` (?:${pattern(browsers)})\\/[\\w.-]+`;

/** For the package: patterns alone. */
export function renderPackage() {
  const rows = Object.entries(PATTERNS).map(([name, text]) => `  ${name}: /${text}/,`);
  return `${comment(HEAD)}

/** What becomes of each class until an owner decides otherwise. */
${DEFAULTS}
/** Names of robots in lower case, by class, in the order in which they are looked for. */
export const ROBOTS = {
${rows.join('\n')}
} as const;
/** Programs with a browser inside, whose names are those of agents as well. */
export const BROWSERS: RegExp = /${BROWSERS}/g;
/** User-Agents in lower case that a CDN sends in place of everybody's. */
export const CDNS: RegExp = /${CDNS}/;
`;
}

/** For the service: each name with its class and operator. */
export function renderService() {
  const rows = Object.entries(classes).flatMap(([name, names]) =>
    Object.entries(names).map(([robot, operator]) => `  [${JSON.stringify(robot)}, '${name}', ${JSON.stringify(operator)}],`),
  );
  return `${comment(HEAD)}

/** What becomes of each class until an owner decides otherwise. */
${DEFAULTS}
/** Names of AI agents in lower case. */
export const AI_AGENTS: readonly string[] = [
${ai.map((name) => `  ${JSON.stringify(name)},`).join('\n')}
];
/** Names of other robots in lower case, the class of each and who runs it. */
export const OTHER_ROBOTS: readonly (readonly [name: string, visitorClass: string, operator: string])[] = [
${rows.join('\n')}
];
`;
}

/** For the plugin: patterns, those of isbot as well. */
export async function renderPlugin() {
  const phpText = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const { list } = await import(createRequire(import.meta.url).resolve('isbot'));
  // PCRE takes no range that begins with a class: [\w-.]
  const bots = `~${list.map((one) => one.replaceAll('~', '\\~').replace(/(\\[wd])-(?=[^\]])/g, '$1\\-')).join('|')}~iD`;
  const rows = Object.entries(PATTERNS).map(
    ([name, text]) => `\t\t${phpText(name)} => ${phpText(`~${text.replaceAll('~', '\\~')}~`)},`,
  );
  return `<?php
/**
 * ${HEAD.split('\n').join('\n * ')}
 *
 * @package ContentSettlement
 */

return array(
	'robots'   => array(
${rows.join('\n')}
	),
	'browsers' => ${phpText(`~${BROWSERS}~`)},
	'cdns'     => ${phpText(`~${CDNS}~D`)},
	'bots'     => ${phpText(bots)},
	'defaults' => array(
${Object.entries(defaults)
  .map(([name, policy]) => `\t\t${phpText(name)} => ${phpText(policy)},`)
  .join('\n')}
	),
	'names'    => array(
${ai.map((name) => `\t\t${phpText(name)},`).join('\n')}
	),
);
`;
}

/** For the Python package: patterns as its `re` takes them, no range that begins with a class and no look behind at names of two lengths. */
export async function renderPython() {
  const { list } = await import(createRequire(import.meta.url).resolve('isbot'));
  const portable = (one) =>
    one.replace(/(\\[wd])-(?=[^\]])/g, '$1\\-').replace(/\(\?<!([^()|]+)\|([^()|]+)\)/g, '(?<!$1)(?<!$2)');
  const robots = list.map(portable).join('|');
  const names = { classes: PATTERNS, robots, browsers: BROWSERS, cdns: CDNS, defaults };
  return `${JSON.stringify({ about: HEAD.split('\n'), ...names }, null, 2)}\n`;
}

const TARGETS = [
  ['../src/core/robots.generated.ts', renderPackage],
  ['../../../modules/gate/rules/robots.generated.ts', renderService],
  ['../../wordpress/content-settlement/includes/robots.generated.php', renderPlugin],
  ['../../python/src/content_settlement/robots.generated.json', renderPython],
];

/** Each generated file as it stands and as it would be written. */
export async function generated() {
  return Promise.all(
    TARGETS.map(async ([path, render]) => ({
      path,
      is: readFileSync(new URL(path, import.meta.url), 'utf8'),
      wanted: await render(),
    })),
  );
}

const TAGS = {
  'search-engine': 'search',
  'social-preview': 'preview',
  advertising: 'ads',
  'feed-reader': 'feed',
  monitoring: 'monitor',
};

function compare(path) {
  const ours = Object.entries(PATTERNS).map(([name, text]) => [name, new RegExp(text)]);
  for (const { pattern: theirs, tags, instances } of JSON.parse(readFileSync(path, 'utf8'))) {
    const wanted = tags.map((tag) => TAGS[tag] ?? tag);
    const agent = (instances[0] ?? theirs).toLowerCase();
    const [found = 'none'] = ours.find(([, one]) => one.test(agent)) ?? [];
    const isListed = wanted.some((tag) => Object.values(TAGS).includes(tag));
    if (found === 'none' ? isListed : !wanted.includes(found) && found !== 'ai')
      process.stdout.write(`${theirs}: ${wanted} there, ${found} here\n`);
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , how, path] = process.argv;
  if (how === '--compare') compare(path);
  else for (const [target, render] of TARGETS) writeFileSync(new URL(target, import.meta.url), await render());
}
