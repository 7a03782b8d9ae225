import type { Figure, MissingFigure } from './figure.ts';
import type { BenchResult } from './results.ts';

const INTRODUCTION = `# Figures

Made by \`npm run bench\`, which writes this page and \`results.json\`; \`npm run bench -- <id>…\` measures only those again, and
\`--quick\` only shows that everything runs. Each figure stands beside a reference measured in the same run: the two take turns, the
order changes every round, and a figure is the median of its rounds. Absolute numbers of one machine drift by a factor of two between
minutes; the ratio is the figure. What could not be measured is listed as missing, with the reason.
`;

/** The page of all figures. */
export function renderReadme(
  results: readonly BenchResult[],
  unmeasured: readonly { readonly id: string; readonly title: string }[],
): string {
  const parts = [INTRODUCTION, ...results.map(renderBench)];
  if (unmeasured.length > 0) {
    const lines = unmeasured.map(({ id, title }) => `- \`${id}\`: ${title}: not measured yet`);
    parts.push(`## Missing\n\n${lines.join('\n')}\n`);
  }
  return parts.join('\n');
}

function renderBench({ id, title, measuredAt, commit, machine, figures }: BenchResult): string {
  const { cpu, cores, memoryGb, system, node } = machine;
  const where = `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}`;
  const measured = figures.filter((figure): figure is Figure => !('missing' in figure));
  const missing = figures.filter((figure): figure is MissingFigure => 'missing' in figure);
  const rows = measured.map(renderRow);
  const notes = measured.flatMap((figure) => (figure.notes === undefined ? [] : [`- \`${figure.id}\`: ${figure.notes}`]));
  const gaps = missing.map((figure) => `- \`${figure.id}\` is missing (${figure.what}): ${figure.missing}`);
  return [
    `## ${title}`,
    '',
    `\`${id}\`, ${measuredAt.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}. ${where}.`,
    '',
    ...(rows.length === 0 ? [] : [HEAD, ...rows, '']),
    ...(notes.length + gaps.length === 0 ? [] : [...notes, ...gaps, '']),
  ].join('\n');
}

const HEAD = `| Figure | Ours | Reference | Ratio (rounds) | Target | |
|---|---|---|---|---|---|`;

function renderRow(figure: Figure): string {
  const { what, unit, ours, reference, referenceName, ratio, spread, rounds, target, reached } = figure;
  const range = `${number(spread[0])}–${number(spread[1])}, ${rounds}`;
  const cells = [what, `${number(ours)} ${unit}`, `${number(reference)} ${unit} (${referenceName})`];
  return `| ${[...cells, `**${number(ratio)}** (${range})`, target, reached ? 'reached' : 'not reached'].join(' | ')} |`;
}

/** Three digits that count; no exponent. */
function number(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) });
}
