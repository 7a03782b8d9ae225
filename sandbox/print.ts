import { checksumAddress } from '../chain/offer.ts';
import type { Address } from '../domain/legs.ts';

/** What the person at the keyboard reads: numbered steps, each followed by what really happened. */
export interface Printer {
  /** A line of progress. */
  say(line: string): void;
  /** The heading of the next step. */
  step(title: string): void;
  /** A fact of the present step. */
  fact(name: string, value: string): void;
}

const NAME_WIDTH = 14;

/** Prints to `write`, which gets whole lines. */
export function createPrinter(write: (text: string) => void): Printer {
  let steps = 0;
  return {
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
