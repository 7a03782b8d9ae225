/** What each operation costs a core, derived from the figures: the table of docs/scaling.md. */
import type { Figure } from './figure.ts';
import type { BenchResult } from './results.ts';

const BEGIN = '<!-- per core: written by npm run bench -->';
const END = '<!-- end of per core -->';

/** The figure each operation's cost is taken from. */
const OPERATIONS: readonly { readonly name: string; readonly figure: string }[] = [
  { name: 'Quote', figure: 'quote.rate' },
  { name: 'Settlement, in batches', figure: 'payments.official' },
  { name: 'Report of a read (observe), a row', figure: 'observe.rows' },
  { name: 'Report for a reader (earnings of 30 days)', figure: 'graphql.earnings' },
  { name: 'Webhook delivery, first attempt', figure: 'webhooks.rate' },
];

/**
 * The text with its table written anew. A rate is divided by the machine's cores, which service, parts and load share; a time
 * of one call after the other counts as one core. Throws when the text has no place for the table.
 */
export function writePerCore(text: string, results: readonly BenchResult[]): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('the page has no place for the table of costs');
  return `${text.slice(0, begin + BEGIN.length)}\n${renderTable(results)}\n${text.slice(end)}`;
}

function renderTable(results: readonly BenchResult[]): string {
  const rows = OPERATIONS.map(({ name, figure: id }) => {
    const result = results.find(({ figures }) => figures.some((figure) => figure.id === id));
    const figure = result?.figures.find((one) => one.id === id);
    if (!result || !figure || 'missing' in figure) return `| ${name} | \`${id}\` | not measured yet | | |`;
    const perSecond = perCoreAndSecond(figure, result.machine.cores);
    const measured = `${round(figure.ours)} ${figure.unit}, ${result.machine.cores} cores`;
    return `| ${name} | \`${id}\` | ${measured} | ${round(perSecond)} | ${round(1_000 / perSecond)} ms |`;
  });
  return ['| Operation | Figure | Measured | A core, a second | CPU of one, at most |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function perCoreAndSecond({ ours, unit }: Figure, cores: number): number {
  return unit === 'ms' ? 1_000 / ours : ours / cores;
}

function round(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}
