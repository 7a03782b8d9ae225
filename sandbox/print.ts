import type { Address } from '../modules/kernel/money/legs.ts';
import { usdText } from '../modules/kernel/money/money.ts';
import { checksumAddress } from '../platform/chain/offer.ts';
import { createLine, createWaits } from './parts/progress.mjs';

/** What is awaited, as one line of what is left. */
export type Waits = ReturnType<typeof createWaits>;

/** What the person at the keyboard reads, in lines of 80 columns: where everything is, then numbered steps with what really happened. */
export interface Printer {
  /** A line that stays. */
  say(line: string): void;
  /** Shown while it lasts. */
  readonly waits: Waits;
  /** The heading of the next step. */
  step(title: string): void;
  /** A fact of the present step; what does not fit is cut. */
  fact(name: string, value: string): void;
  /** Where something is, whole however long. */
  place(name: string, where: string): void;
}

/** Where lines go; a terminal may have colours, unless its owner wants none (Node asks `NO_COLOR`). */
type Stream = Parameters<typeof createLine>[0] & { hasColors?(): boolean };

const WIDTH = 80;
const NAME_WIDTH = 14;
const INDENT = '   ';
const BOLD = ['\u001b[1m', '\u001b[22m'] as const;
const DIM = ['\u001b[2m', '\u001b[22m'] as const;
const LINK = ['\u001b[36m', '\u001b[39m'] as const;

/** Prints whole lines to `stream`; what is awaited goes to `progress`, below them where both are one terminal. */
export function createPrinter(stream: Stream, progress: Stream = stream): Printer {
  let steps = 0;
  const line = createLine(progress);
  const inColour = stream.isTTY === true && stream.hasColors?.() === true;
  const paint = ([on, off]: readonly [string, string], text: string): string => (inColour ? `${on}${text}${off}` : text);
  const write = (text: string): void => {
    line.clear();
    stream.write(`${text}\n`);
  };
  return {
    waits: createWaits(line.show),
    say: write,
    step: (title) => {
      steps += 1;
      write(`\n${paint(BOLD, cut(`${steps}. ${title}`, WIDTH))}`);
    },
    fact: (name, value) =>
      write(`${INDENT}${paint(DIM, name.padEnd(NAME_WIDTH))} ${cut(value, WIDTH - INDENT.length - NAME_WIDTH - 1)}`),
    place: (name, where) => write(`${paint(BOLD, name.padEnd(NAME_WIDTH))} ${paint(LINK, where)}`),
  };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Micro-USDC for people: `0.001 USDC`. */
export function usdcText(micro: bigint): string {
  return `${usdText(micro)} USDC`;
}

/** What was added, with its sign: `+0.0005 USDC`. */
export function changeText(micro: bigint): string {
  return `${micro > 0n ? '+' : ''}${usdcText(micro)}`;
}

/** An address as wallets show it, its middle left out. */
export function addressText(address: string): string {
  return shortened(checksumAddress(address.toLowerCase() as Address));
}

/** A hash or an id, its middle left out. */
export function shortened(text: string): string {
  return `${text.slice(0, 10)}…${text.slice(-6)}`;
}
