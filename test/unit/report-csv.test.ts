import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvRows } from '../../platform/csv.ts';

/** A number below zero starts no formula: it is the one cell with a dash in front that gets no apostrophe. */
const isBelowZero = (text: string): boolean => text.startsWith('-') && /^\d+(\.\d+)?$/.test(text.slice(1));

test('rows are the same bytes as a CSV library writes, formulas made harmless and numbers below zero left alone', () => {
  const nasty = fc.constantFrom(
    '=1+1',
    '+1',
    '-1',
    '-0.000250',
    '-1+1',
    '-1.',
    '-.5',
    '-1e3',
    '-1\n',
    '--1',
    '-',
    '@x',
    '\tx',
    '\rx',
    'a"b',
    'a,b',
    'a\nb',
    '',
    "'",
    'ü',
    '=cmd|" /C calc"!A0',
  );
  const cell = fc.oneof(
    nasty,
    fc.string().filter((text) => !/^[＝＋－＠]/.test(text)),
  );
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 })), (rows) => {
      const expected = stringify(rows, {
        record_delimiter: '\r\n',
        escape_formulas: true,
        quoted_match: /[\r\n]/,
        cast: { string: (value) => (isBelowZero(value) ? { value, escape_formulas: false } : value) },
      });
      expect(csvRows(rows)).toBe(expected);
    }),
  );
});

test('every row ends with CRLF and a formula starts with an apostrophe', () => {
  expect(
    csvRows([
      ['a', 'b'],
      ['=1', 'x,"y"'],
    ]),
  ).toBe(`a,b\r\n'=1,"x,""y"""\r\n`);
});
