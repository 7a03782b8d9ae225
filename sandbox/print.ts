import { checksumAddress } from '../chain/offer.ts';
import type { Address } from '../domain/legs.ts';
import { createLine, createWaits } from './parts/progress.mjs';

/** What is awaited, as one line of what is left. */
export type Waits = ReturnType<typeof createWaits>;

/** What the person at the keyboard reads: numbered steps, each followed by what really happened. */
export interface Printer {
  /** A line that stays. */
  say(line: string): void;
  /** Shown while it lasts. */
  readonly waits: Waits;
  /** The heading of the next step. */
  step(title: string): void;
  /** A fact of the present step. */
  fact(name: string, value: string): void;
}

const NAME_WIDTH = 14;

/** Prints whole lines to `stream`, and below them what is awaited. */
export function createPrinter(stream: Parameters<typeof createLine>[0]): Printer {
  let steps = 0;
  const line = createLine(stream);
  const write = (text: string): void => {
    line.clear();
    stream.write(text);
  };
  return {
    waits: createWaits(line.show),
    say: (line) => write(`${line}\n`),
    step: (title) => {
      steps += 1;
      write(`\n${steps}. ${title}\n`);
    },
    fact: (name, value) => write(`   ${name.padEnd(NAME_WIDTH)} ${value}\n`),
  };
}

/** Micro-USDC for people: `0.001 USDC (1000 micro)`. */
export function usdcText(micro: bigint): string {
  const sign = micro < 0n ? '-' : '';
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`} USDC (${micro} micro)`;
}

/** An address as wallets show it. */
export function addressText(address: string): string {
  return checksumAddress(address.toLowerCase() as Address);
}
