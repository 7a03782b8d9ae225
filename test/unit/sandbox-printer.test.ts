import { stripVTControlCharacters as plain } from 'node:util';
import { expect, test } from 'vitest';
import { createPrinter } from '../../sandbox/print.ts';

interface Terminal {
  readonly isTTY?: boolean;
  readonly hasColors?: () => boolean;
}

const COLOURFUL: Terminal = { isTTY: true, hasColors: () => true };

/** What a stream is given by a printer that says one of everything. */
function printedTo(terminal: Terminal): string {
  const parts: string[] = [];
  const printer = createPrinter({ ...terminal, write: (part: string) => parts.push(part) });
  printer.place('Console', 'http://127.0.0.1:8402/_svc/console/demo');
  printer.step(`The buyer gets the page ${'with the stock x402 client '.repeat(4)}`);
  printer.fact('transaction', `0xd7f5564f…19323b ${'on eip155:84532 '.repeat(8)}`);
  printer.say('Everything runs.');
  return parts.join('');
}

test('a terminal with colours gets steps and names of places in bold, links in cyan and names of facts dimmed; each colour ends', () => {
  const coloured = printedTo(COLOURFUL);
  expect(coloured).toContain('\u001b[1mConsole       \u001b[22m \u001b[36mhttp://127.0.0.1:8402/_svc/console/demo\u001b[39m\n');
  expect(coloured).toContain('\u001b[2mtransaction   \u001b[22m 0xd7f5564f…19323b');
  expect(coloured).toContain('\n\u001b[1m1. The buyer gets the page');
  expect(coloured).toContain('…\u001b[22m\n');
  expect(plain(coloured)).toBe(printedTo({}));
});

const COLOURLESS: readonly (readonly [name: string, terminal: Terminal])[] = [
  ['no terminal', {}],
  ['a terminal whose owner wants no colours (NO_COLOR)', { isTTY: true, hasColors: () => false }],
  ['a terminal that cannot say', { isTTY: true }],
  ['colours without a terminal', { hasColors: () => true }],
];

test.each(COLOURLESS)('%s: no colour', (_, terminal) => {
  const text = printedTo(terminal);
  expect(plain(text)).toBe(text);
});

test('a step and a fact fit 80 columns, colours not counted', () => {
  const lines = plain(printedTo(COLOURFUL)).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.filter((line) => line.endsWith('…'))).toHaveLength(2);
});
