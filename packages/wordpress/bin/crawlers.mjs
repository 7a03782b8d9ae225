// node packages/wordpress/bin/crawlers.mjs [file to write instead of the plugin's]
// Writes the plugin's lists of crawlers: names of ai.robots.txt, from the copy that the JavaScript package is made from, and isbot's patterns.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ROBOTS = here('../../publisher/bin/robots.json');
const TARGET = here('../content-settlement/includes/crawlers.generated.php');

function phpText(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const names = [...new Set(Object.keys(JSON.parse(readFileSync(ROBOTS, 'utf8'))).map((name) => name.toLowerCase()))].sort();
const { list } = await import(createRequire(import.meta.url).resolve('isbot'));
// PCRE takes no range that begins with a class: [\w-.]
const bots = `~${list.map((pattern) => pattern.replaceAll('~', '\\~').replace(/(\\[wd])-(?=[^\]])/g, '$1\\-')).join('|')}~iD`;
writeFileSync(
  process.argv[2] ?? TARGET,
  `<?php
/**
 * Made by packages/wordpress/bin/crawlers.mjs; do not edit.
 *
 * crawlers: names of robots.json of https://github.com/ai-robots-txt/ai.robots.txt. MIT License, Copyright (c) 2024 ai.robots.txt. Permission
 * is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to
 * deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute,
 * sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following
 * conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND. bots: patterns of https://github.com/omrilotan/isbot, Unlicense.
 *
 * @package ContentSettlement
 */

return array(
	'crawlers' => array(
${names.map((name) => `\t\t${phpText(name)},`).join('\n')}
	),
	'bots'     => ${phpText(bots)},
);
`,
);
