import { readFileSync } from 'node:fs';
import { FAULTS } from '../../test/fault/list.ts';
import { MUTANTS } from '../../test/mutants/list.ts';
import type { Mutant } from '../../test/mutants/mutant.ts';
import { BUGS } from '../../test/simulation/bugs.ts';
import { markdownTable } from './markdownTable.ts';
import { ROOT } from './tool.ts';

/** `test/mutants/README.md`: every bug and fault that a test catches, from the lists that are run. The same text every time. */
export function renderProofs(): string {
  const sentences = readRules();
  const byRule = [...Map.groupBy(MUTANTS, ({ rule }) => rule)].toSorted(([one], [other]) => one - other);
  return `${[
    HEAD,
    ...byRule.map(([rule, mutants]) => sectionOf(rule, sentences.get(rule) ?? '', mutants)),
    `## Bugs of the simulator\n\n${markdownTable(
      ['Bug', 'What it does'],
      BUGS.map(({ name, bug }) => [`\`${name}\``, bug]),
    )}`,
    `## Faults\n\n${markdownTable(
      ['#', 'Fault', 'Tests'],
      FAULTS.map(({ id, fault, tests }) => [
        String(id),
        fault,
        [...new Set(tests.map(({ file }) => shortName(file)))].join(', '),
      ]),
    )}`,
  ].join('\n')}`;
}

const HEAD = `<!-- Written by \`npm run generate\`; edit the lists in test/mutants, test/simulation/bugs.ts and test/fault/list.ts. -->
# Bugs and faults that the tests catch

\`npm run mutants -- <id>\` puts a bug into a copy of the tree and runs its test; a bug that survives is an error. \`npm run faults\` runs the
faults in a drawn order, and \`test/simulation\` finds its own bugs in each run. Besides, each line of the judgement has mutants of its own
(\`unit/judge-mutants\`). Paths are below \`test/\`.
`;

function sectionOf(rule: number, sentence: string, mutants: readonly Mutant[]): string {
  const rows = mutants.map(({ id, bug, test }) => [`\`${id}\``, bug, shortName(test.file)]);
  return `## Rule ${rule}\n\n[${sentence}](../../docs/invariants.md#safety-${rule})\n\n${markdownTable(['Bug', 'What it does', 'Test'], rows)}`;
}

/** The first sentence of each rule that keeps money safe, by its number. */
function readRules(): ReadonlyMap<number, string> {
  const text = readFileSync(`${ROOT}docs/invariants.md`, 'utf8');
  const rows = text.matchAll(/^\| <a id="safety-(\d+)"><\/a>\d+ \| (.+?)(?:\. .*)? \|/gm);
  return new Map([...rows].map(([, id, sentence = '']) => [Number(id), sentence]));
}

function shortName(file: string): string {
  return `\`${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}\``;
}
