import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellsOfRow, wholeRows } from '../../db/copyText.ts';
import { copiedRow } from '../support/copy.ts';

const nasty = fc.constantFrom(
  '',
  '\\N',
  '\\',
  '\\\\',
  '\t',
  '\n',
  '\r\n',
  'a,b',
  '"',
  '\\t',
  '\\,',
  ',',
  '=1',
  'ü',
  '日本',
  '😀',
  '\b\f\v',
);
const cell = fc.oneof(nasty, fc.string({ unit: 'binary' }), fc.constant(null));
const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 8 });

async function read(pieces: readonly Buffer[]): Promise<(string | null)[][]> {
  const found: (string | null)[][] = [];
  async function* given(): AsyncGenerator<Buffer> {
    yield* pieces;
  }
  for await (const piece of wholeRows(given())) {
    expect(piece.at(-1)).toBe(10);
    for (const line of piece.toString('utf8').slice(0, -1).split('\n')) found.push(cellsOfRow(line));
  }
  return found;
}

test('rows come out as they went in, wherever their bytes are cut, in the middle of a letter too', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.nat(), { maxLength: 20 }), async (given, places) => {
      const bytes = Buffer.from(given.map(copiedRow).join(''));
      const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const pieces = cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut));
      // A letter that is half of a pair has no UTF-8; it is written as the replacement letter before anything of ours sees it.
      expect(await read(pieces)).toEqual(given.map((row) => row.map((text) => text?.toWellFormed() ?? null)));
    }),
  );
});

test('NULL is told from the letters that stand for it, and an unknown escape stands for itself', () => {
  expect(cellsOfRow('\\N,\\\\N,,\\x')).toEqual([null, '\\N', '', 'x']);
});

test('bytes that end within a row are an error, once the rows before them are out', async () => {
  const out: string[] = [];
  async function* given(): AsyncGenerator<Buffer> {
    yield Buffer.from('a\nb');
    yield Buffer.from('c');
  }
  const reading = (async () => {
    for await (const piece of wholeRows(given())) out.push(piece.toString());
  })();
  await expect(reading).rejects.toThrow('ended within a row');
  expect(out).toEqual(['a\n']);
});
