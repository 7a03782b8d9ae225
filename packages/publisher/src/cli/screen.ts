/** Texts for people: short lines, wrapped, and free of what a stranger could do to a terminal. */
import type { Level } from './finding.ts';

/** Where texts go. */
export interface Screen {
  readonly write: (text: string) => void;
  /** Characters in a line. */
  readonly columns: number;
  readonly hasColours: boolean;
}

const MARKS: Readonly<Record<Level, string>> = { ok: '✓', warning: '!', problem: '✗', unknown: '?' };
const COLOURS: Readonly<Record<Level, number>> = { ok: 32, warning: 33, problem: 31, unknown: 36 };
const MIN_COLUMNS = 40;

/** A mark for a level, in its colour. */
export function markOf(screen: Screen, level: Level): string {
  return screen.hasColours ? `\u001b[${COLOURS[level]}m${MARKS[level]}\u001b[0m` : MARKS[level];
}

/** A line of two columns whose second one is wrapped and stays in its place. `mark` may hold colours. */
export function writeRow(screen: Screen, mark: string, label: string, text: string): void {
  const width = 14;
  const room = Math.max(MIN_COLUMNS, screen.columns) - width - 4;
  const [first = '', ...rest] = wrap(plainText(text), room);
  screen.write(`${mark} ${plainText(label).padEnd(width)} ${first}\n`);
  for (const line of rest) screen.write(`${' '.repeat(width + 3)}${line}\n`);
}

/** A line. */
export function writeLine(screen: Screen, text = ''): void {
  screen.write(`${plainText(text)}\n`);
}

/** Text of sites and services without control characters, which could move a terminal's cursor or rename its window. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
}

function wrap(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
