import { expect, test } from 'vitest';
import type { StatementDocument } from '../../adapters/pdfDocument.ts';
import { drawStatement } from '../../adapters/pdfDocument.ts';
import { isPrintable, printable, printablePage } from '../../adapters/pdfText.ts';
import { textOf } from '../support/pdf.ts';

const EMPTY: StatementDocument = {
  ...{ title: 'Statement', subtitle: 'h.example', generatedAt: new Date(0) },
  ...{ facts: [], tables: [], notes: [] },
};

function tableOf(rows: readonly (readonly string[])[]): StatementDocument {
  const columns = [
    { label: 'Page', width: 0.45, align: 'left' as const },
    { label: 'Amount', width: 0.05, align: 'right' as const },
  ];
  return { ...EMPTY, tables: [{ heading: 'Lines', note: null, columns, rows }] };
}

test('letters that the fonts lack are ? in names, and percent-encoded in addresses, which then lead to the page', () => {
  expect(printable('naïve\r\ncafé “œuvre” € 作者 😀\u202e')).toBe('naïve café “œuvre” € ?? ??');
  expect(printable('e\u0301')).toBe('é');
  expect(['ann', 'Zoë', '', '?'].map(isPrintable)).toEqual([true, true, true, true]);
  expect(['作者', 'a\u202eb', '😀', '\ud83d'].map(isPrintable)).toEqual([false, false, false, false]);
  const page = 'h.example/日本/café-😀';
  expect(decodeURIComponent(printablePage(page))).toBe(page);
  expect(isPrintable(printablePage(`${page}\ud83d\u0000`))).toBe(true);
});

test('text too wide for its column loses its middle, however wide its letters are, and a number loses nothing', async () => {
  const page = `h.example/first/${'w'.repeat(300)}/last`;
  const text = textOf(
    await drawStatement(
      tableOf([
        [page, '9007199254.740991'],
        ['W'.repeat(40), '1'],
        ['i'.repeat(60), '2'],
      ]),
    ),
  );
  expect(text).toMatch(/h\.example\/first\/w+\x85w+\/last/);
  expect(text).toContain('9007199254.740991');
  expect(text).toMatch(/W{5,20}\x85W{5,20}/);
  expect(text).toContain('i'.repeat(60));
});

test('a table without a row has no head, and a long name leaves the page number its place', async () => {
  const empty = textOf(await drawStatement({ ...tableOf([]), subtitle: `${'long-'.repeat(50)}.example` }));
  expect(empty).toContain('Lines');
  expect(empty).not.toContain('Amount');
  expect(empty).toMatch(/Statement: (?:long-)+l?o?n?g?-?\x85.*\.example/);
  expect(empty).toContain('Page 1 / 1');
});
