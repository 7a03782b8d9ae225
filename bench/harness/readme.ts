import { ownCpu } from './cpu.ts';
import type { Figure, MissingFigure } from './figure.ts';
import type { BenchResult } from './results.ts';

/** More of each figure, as spreads, notes, and CPU of client and chain, is in results.json; misses are told, also of details. */
const INTRODUCTION = `# Figures

\`npm run bench [-- <id>…]\`: medians of rounds in turns with a reference; trust ratios, and **CPU** for one: API, worker, Postgres, Temporal (all parts: all).
`;

const HEAD = ['| Figure | Ours | Reference | Ratio | CPU | Target | Reached |', '|---|---|---|---|---|---|---|'];

/** The page of all figures, which fits a screen: one row each. */
export function renderReadme(
  results: readonly BenchResult[],
  unmeasured: readonly { readonly id: string; readonly title: string }[],
): string {
  const figures = results.flatMap((result) => result.figures);
  const rows = figures.filter((figure) => 'missing' in figure || !figure.isDetail || figure.reached === false).map(renderRow);
  const names = unmeasured.map(({ id, title }) => `\`${id}\` ${title}`);
  const gaps = names.length === 0 ? [] : [`| ${names.join(', ')} | not measured yet | | | | | |`];
  return `${[INTRODUCTION, ...HEAD, ...rows, ...gaps].join('\n')}\n`;
}

function renderRow(figure: Figure | MissingFigure): string {
  if ('missing' in figure) return gap(figure.id, figure.what, `missing: ${figure.missing.replaceAll(/\s*[|\n]\s*/g, ' ')}`);
  const { id, what, unit, ours, reference, referenceName, ratio, target, reached } = figure;
  const cells = [`\`${id}\` ${what}`, `${number(ours)} ${unit}`, `${number(reference)} (${referenceName})`, number(ratio)];
  const verdict = reached === null ? '' : reached ? 'yes' : '**no**';
  return `| ${[...cells, cpuOf(figure), target ?? '', verdict].join(' | ')} |`;
}

function gap(id: string, what: string, why: string): string {
  return `| \`${id}\` ${what} | ${why} | | | | | |`;
}

function cpuOf({ cpu, cpuRatio }: Figure): string {
  if (!cpu) return '';
  const [ours, reference] = [cpu.ours, cpu.reference].map((one) => (one === null ? '' : number(ownCpu(one))));
  return reference === '' ? `${ours} ms` : `${ours} / ${reference} ms${timesOf(cpuRatio)}`;
}

function timesOf(ratio: Figure['cpuRatio']): string {
  if (!ratio) return '';
  return `; × ${number(ratio.withoutChainAndClient)}, all parts × ${number(ratio.withChainAndClient)}`;
}

/** Three digits that count; no exponent. */
function number(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) });
}
