import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvRows } from '../../platform/csv.ts';

test('rows are the same bytes as a CSV library writes, formulas made harmless', () => {
  const nasty = fc.constantFrom('=1+1', '+1', '-1', '@x', '\tx', '\rx', 'a"b', 'a,b', 'a\nb', '', "'", 'ü', '=cmd|" /C calc"!A0');
  const cell = fc.oneof(
    nasty,
    fc.string().filter((text) => !/^[＝＋－＠]/.test(text)),
  );
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 })), (rows) => {
      const expected = stringify(rows, { record_delimiter: '\r\n', escape_formulas: true, quoted_match: /[\r\n]/ });
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
