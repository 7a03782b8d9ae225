/** What each operation costs a core, derived from the figures: the table of docs/scaling.md. */
import { ownCpu } from './cpu.ts';
import type { BenchResult } from './results.ts';

const BEGIN = '<!-- per core: written by npm run bench -->';
const END = '<!-- end of per core -->';

/** The figure each operation's cost is taken from. */
const OPERATIONS: readonly { readonly name: string; readonly figure: string }[] = [
  { name: 'Quote', figure: 'quote.rate' },
  { name: 'License check', figure: 'license-check.warm' },
  { name: 'Settlement, in batches', figure: 'payments.official' },
  { name: 'Settlement, alone', figure: 'settle.automine' },
  { name: 'Report of a read (observe), a row', figure: 'observe.rows' },
  { name: 'Report for a reader (earnings of 30 days)', figure: 'graphql.earnings' },
  { name: 'Webhook delivery, first attempt', figure: 'webhooks.rate' },
];

/**
 * The text with its table written anew: the CPU that API, worker, Postgres and Temporal took together for one operation, the client and
 * the chain's stand-in left out. Throws when the text has no place for the table.
 */
export function writePerCore(text: string, results: readonly BenchResult[]): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('the page has no place for the table of costs');
  return `${text.slice(0, begin + BEGIN.length)}\n${renderTable(results)}\n${text.slice(end)}`;
}

function renderTable(results: readonly BenchResult[]): string {
  const figures = results.flatMap((result) => result.figures);
  const rows = OPERATIONS.map(({ name, figure: id }) => {
    const figure = figures.find((one) => one.id === id);
    if (!figure || 'missing' in figure || !figure.cpu) return `| ${name} | \`${id}\` | not measured yet | | |`;
    const ms = ownCpu(figure.cpu.ours);
    const parts = Object.entries(figure.cpu.ours).filter(([kind, cpu]) => ownCpu({ [kind]: cpu }) > ms / 100);
    const shares = parts.map(([kind, cpu]) => `${kind} ${round((cpu / ms) * 100, 2)} %`).join(', ');
    return `| ${name} | \`${id}\` | ${round(ms)} ms | ${shares} | ${round(1_000 / ms)} |`;
  });
  return ['| Operation | Figure | CPU of one | Of it | A core, a second |', '|---|---|---|---|---|', ...rows].join('\n');
}

function round(value: number, digits = 3): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: digits });
}
