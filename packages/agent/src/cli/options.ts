/** What a command line says. Pure. */
import { parseArgs } from 'node:util';
import { AgentError } from '../errors.ts';
import { microOfUsdc } from '../money.ts';

/** Said by --help. */
export const HELP = `content-settlement-agent: reads paid pages within a budget, with a key that stays on this machine

  read URL               the page's text; pays when it has a price and the envelope allows it
  quote URL…             what pages cost, and whether they would be bought
  buy URL… | -           many pages; from lines of standard input with -. Run it again when it was cut: nothing is paid twice
  approve URL | ID       a person's yes above the envelope's approveAbove, for a day: to a page, or to a licence by its ID
  spending               what was spent in the period, and what is left
  licences               licences of the wallet's account
  licence quote|buy      over many pages: --host H --scope /articles/* [--terms ai-input] [--days 30] [--kind read]
  receipt JWS            checks a receipt
  key new|address        makes a key file; tells the address of the key
  mcp                    a server of the Model Context Protocol over standard input and output

  --max USDC             most that this command pays, all together
  --dry-run              tells what would be bought, and signs nothing
  --again                pays again for what was paid for before
  --out FOLDER           buy: writes each page there; pages that are there are not asked for
  --json                 JSON on standard output, a line for each page
  --quiet                no progress on standard error

  CONTENT_SETTLEMENT_HOME     folder of key, envelope.json and ledger.jsonl (~/.content-settlement)
  CONTENT_SETTLEMENT_KEY      the key in hex, instead of the file
  CONTENT_SETTLEMENT_SERVICE  address of the settlement service, for licences and receipts

Exit codes: 0 well · 1 a page or the service failed · 2 wrong usage, no key, or a file cannot be read · 3 not allowed by the envelope
            4 a payment is undecided: run the same command again
`;

/** A command line, understood. */
export interface Order {
  readonly command: string;
  readonly args: readonly string[];
  readonly maxMicro: bigint | null;
  readonly isDryRun: boolean;
  readonly isAgain: boolean;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly out: string | null;
  readonly licence: {
    readonly host: string;
    readonly scope: readonly string[];
    readonly terms: readonly string[];
    readonly days: string;
    readonly kind: string;
  };
}

/** Commands, and how many words each takes. */
const WORDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  help: [0, 0],
  read: [1, 1],
  quote: [1, 1_000],
  buy: [1, 100_000],
  approve: [1, 1],
  spending: [0, 0],
  licences: [0, 0],
  licence: [1, 1],
  receipt: [1, 1],
  key: [1, 1],
  mcp: [0, 0],
};

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const LIST = { type: 'string', multiple: true } as const;
const OPTIONS = {
  max: TEXT,
  out: TEXT,
  host: TEXT,
  days: TEXT,
  kind: TEXT,
  scope: LIST,
  terms: LIST,
  'dry-run': FLAG,
  again: FLAG,
  json: FLAG,
  quiet: FLAG,
  help: { ...FLAG, short: 'h' },
} as const;

/** Reads a command line; `wrong_usage` says what is wrong with it. */
export function readOrder(argv: readonly string[]): Order {
  const { values, positionals } = parsed(argv);
  const [command = 'help', ...args] = values.help ? ['help'] : positionals;
  const words = WORDS[command];
  if (!words || args.length < words[0] || args.length > words[1]) {
    throw new AgentError(
      'wrong_usage',
      words
        ? `${command} takes ${countOf(words)}. See content-settlement-agent --help`
        : 'There is no such command. See content-settlement-agent --help',
    );
  }
  const maxMicro = values.max === undefined ? null : microOfUsdc(values.max);
  if (values.max !== undefined && maxMicro === null)
    throw new AgentError('wrong_usage', '--max takes USDC with at most six places: --max 0.05');
  return {
    command,
    args,
    maxMicro,
    isDryRun: values['dry-run'],
    isAgain: values.again,
    isJson: values.json,
    isQuiet: values.quiet,
    out: values.out ?? null,
    licence: {
      host: values.host ?? '',
      scope: values.scope ?? [],
      terms: values.terms ?? ['ai-input'],
      days: values.days ?? '30',
      kind: values.kind ?? 'read',
    },
  };
}

/** How many words a command takes, in words. */
function countOf([least, most]: readonly [least: number, most: number]): string {
  if (most === 0) return 'nothing but options';
  return least === most ? 'exactly one word' : `from ${least} to ${most} words`;
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // A key that was pasted into the wrong place is not said again.
    const said = (error as Error).message.split('\n')[0]?.replace(/[0-9a-fA-F]{16,}/g, '…') ?? '';
    throw new AgentError('wrong_usage', said);
  }
}
