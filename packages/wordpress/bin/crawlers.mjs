// node packages/wordpress/bin/crawlers.mjs [robots.json of ai-robots-txt]
// Writes the plugin's lists of crawlers from those of the JavaScript package (or from a new robots.json) and from isbot's patterns.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const LIST = here('../../publisher/src/core/crawlers.generated.ts');
const TARGET = here('../content-settlement/includes/crawlers.generated.php');

/** Names of crawlers: whole tokens, longest first, so that none is hidden by one that it begins with. */
async function crawlerNames(file) {
  if (file !== undefined) return Object.keys(JSON.parse(readFileSync(file, 'utf8')));
  if (!existsSync(LIST)) throw new Error(`there is no ${LIST}; name a robots.json`);
  const { CRAWLERS } = await import(LIST);
  return CRAWLERS.map((crawler) => (typeof crawler === 'string' ? crawler : crawler.name));
}

function phpText(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|~/#-]/g, '\\$&');
const names = [...new Set((await crawlerNames(process.argv[2])).map((name) => name.toLowerCase()))].sort();
const { list } = await import(createRequire(import.meta.url).resolve('isbot'));
const crawlers = `~(?<![a-z0-9-])(?:${[...names]
  .sort((a, b) => b.length - a.length)
  .map(escaped)
  .join('|')})(?![a-z0-9-])~iD`;
// PCRE takes no range that begins with a class: [\w-.]
const bots = `~${list.map((pattern) => pattern.replaceAll('~', '\\~').replace(/(\\[wd])-(?=[^\]])/g, '$1\\-')).join('|')}~iD`;
writeFileSync(
  TARGET,
  `<?php
/**
 * Made by packages/wordpress/bin/crawlers.mjs; do not edit.
 *
 * crawlers: names of ai.robots.txt's robots.json, https://github.com/ai-robots-txt/ai.robots.txt, MIT License,
 * Copyright (c) 2024 Cory Dransfeldt and contributors. bots: patterns of isbot, https://github.com/omrilotan/isbot, Unlicense.
 *
 * @package ContentSettlement
 */

return array(
	'crawlers' => ${phpText(crawlers)},
	'bots'     => ${phpText(bots)},
);
`,
);
