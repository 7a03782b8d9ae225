import { expect, test } from 'vitest';
import { cleaned, cleanedAddress } from '../../platform/pdf/cleaned.ts';
import type { DocumentTable, StatementDocument } from '../../platform/pdf/document.ts';
import { drawStatement } from '../../platform/pdf/draw.ts';
import type { PdfElement } from '../support/pdf.ts';
import { linesOf, structureOf, textOf, textsOf } from '../support/pdf.ts';

const EMPTY: StatementDocument = {
  title: 'Statement',
  subtitle: 'h.example',
  footer: 'h.example',
  generatedAt: new Date(0),
  sum: { label: 'USDC earned', value: '0.000000' },
  facts: [],
  tables: [],
  notes: [],
  noteOfLackedLetters: 'Letters are lacking.',
};

function tableOf(rows: readonly (readonly string[])[], changes: Partial<DocumentTable> = {}): StatementDocument {
  const columns = [
    { label: 'Name', width: 0.45, align: 'left' as const },
    { label: 'Page', width: 0.4, align: 'left' as const, holds: 'address' as const },
    { label: 'Amount', width: 0.15, align: 'right' as const },
  ];
  const table = { heading: 'Lines', note: null, columns, rows, total: null, isDense: false, ...changes };
  return { ...EMPTY, tables: [table] };
}

test('names in Latin, Cyrillic, Greek, Han, kana, hangul and Devanagari are letters that can be read and copied', async () => {
  const names = ['Łukasz Żółć', 'Ольга Иванова', 'Νίκος', '山田太郎', '李小龍', 'やまだ たろう', '김철수', 'Nguyễn Văn Ạ'];
  const lines = linesOf(await drawStatement(tableOf(names.map((name) => [name, 'p', '1']))));
  for (const name of names) expect(lines).toContain(`${name}  p  1`);
  expect(lines.join()).not.toContain('lacking');
});

test('names of Armenia, Georgia, Thailand, Bengal, Tamil Nadu and India are drawn, and copied as they are written', async () => {
  const names = ['Արամ Խաչատրյան', 'შოთა რუსთაველი', 'สมชาย ใจดี น้ำ', 'রবীন্দ্রনাথ ঠাকুর', 'சுப்பிரமணிய பாரதி', 'प्रेमचन्द क्षत्रिय हिन्दी'];
  const pdf = await drawStatement(tableOf(names.map((name) => [name, 'p', '1'])));
  const cells = structureOf(pdf).flatMap(function texts({ kids, text }: PdfElement): string[] {
    return [text, ...kids.flatMap(texts)];
  });
  for (const name of names) expect(cells).toContain(name);
  expect(textOf(pdf)).not.toContain('lacking');
  // Signs that stand before the letter they are spoken after, or around it, leave the order in which they are drawn in no text.
  const joined = textsOf(await drawStatement(tableOf([['क्ष', 'p', '1'], ['क', 'p', '2']]))); // biome-ignore format: one line
  const widthOf = (text: string): number => joined.find((piece) => piece.text === text)?.width ?? Number.NaN;
  expect(widthOf('क्ष')).toBeLessThan(1.9 * widthOf('क'));
});

test('emoji are drawn, alone, joined and in a skin tone, and copied with what joins them', async () => {
  const names = ['Zoë 😀', '👩‍🚀 in space', '👋🏽', '🇰🇪'];
  const lines = linesOf(await drawStatement(tableOf(names.map((name) => [name, 'p', '1']))));
  for (const name of names) expect(lines.map((line) => line.split('  ')[0])).toContain(name);
  expect(lines.join()).not.toContain('□');
});

test('a screen reader is told headings, facts and tables in their order, each table with one head and each row with all its cells', async () => {
  const rows = Array.from({ length: 200 }, (_, n) => [`row ${n}`, n % 2 === 0 ? '' : 'p', '1']);
  const total = ['Total', '', '200'];
  const [facts, notes] = [[{ label: 'Hosts', value: 'h.example' }], ['A note.']];
  for (const isDense of [false, true]) {
    const elements = structureOf(await drawStatement({ ...tableOf(rows, { isDense, total }), facts, notes }));
    expect(elements.map(({ tag }) => tag)).toEqual(['H1', 'P', 'P', 'L', 'H2', 'Table', 'P']);
    const [h1, subtitle, sum, list, h2, table, note] = elements;
    expect([h1, subtitle, sum, h2, note].map((one) => one?.text)).toEqual([
      'Statement',
      'h.example',
      '0.000000USDC earned',
      'Lines',
      'A note.',
    ]);
    expect(list?.kids.map(({ tag, kids }) => [tag, ...kids.map((one) => `${one.tag} ${one.text}`)])).toEqual([
      ['LI', 'Lbl Hosts', 'LBody h.example'],
    ]);
    const cells = table?.kids.map(({ kids }) => kids.map(({ text }) => text));
    expect(cells).toEqual([['Name', 'Page', 'Amount'], ...rows, total]);
    const [head, ...others] = table?.kids ?? [];
    expect(head?.kids.map(({ tag, scope }) => `${tag} ${scope}`)).toEqual(['TH Column', 'TH Column', 'TH Column']);
    expect(others.at(-1)?.kids.map(({ tag, scope }) => `${tag} ${scope}`)).toEqual(['TH Row', 'TD null', 'TD null']);
    expect(new Set(others.slice(0, -1).flatMap(({ kids }) => kids.map(({ tag }) => tag)))).toEqual(new Set(['TD']));
  }
});

test('a file says that it is tagged, in which language, and its title, whatever letters a title has', async () => {
  const raw = (await drawStatement({ ...EMPTY, subtitle: '</rdf:li>&"<山>' })).toString('latin1');
  expect(raw).toContain('/Marked true');
  expect(raw).toContain('/Lang (en)');
  expect(raw).toContain('/DisplayDocTitle true');
  expect(raw).toContain('<pdfuaid:part>1</pdfuaid:part>');
  expect(Buffer.from(raw, 'latin1').toString()).toContain('Statement: &lt;/rdf:li&gt;&amp;&quot;&lt;山&gt;</rdf:li>');
});

test('Arabic and Hebrew run from right to left, their numbers from left to right, and Arabic letters are joined', async () => {
  const pdf = await drawStatement(tableOf([['محمد ١٢', 'p', '1'], ['שרה (ann) 12', 'p', '2'], ['Ann שרה', 'p', '3']])); // biome-ignore format: one line
  const lines = linesOf(pdf).map((line) => line.replaceAll('  ', ' '));
  expect(lines).toContain('١٢ دمحم p 1');
  expect(lines).toContain('12 (ann) הרש p 2');
  expect(lines).toContain('Ann הרש p 3');
  const joined = textsOf(await drawStatement(tableOf([['سسس', 'p', '1'], ['س', 'p', '2']]))); // biome-ignore format: one line
  const widthOf = (text: string): number => joined.find((piece) => piece.text === text)?.width ?? Number.NaN;
  expect(widthOf('سسس')).toBeLessThan(2.5 * widthOf('س'));
});

test('controls, overrides of direction and towers of marks are taken out of texts, and percent-encoded in addresses', () => {
  expect(cleaned('naïve\r\ncafé\u202egnp.exe\u2066\u0000\u{e0041}')).toBe('naïve cafégnp.exe ');
  expect(cleaned(`Z${'\u0301\u0302'.repeat(50)}`).length).toBeLessThan(6);
  expect(cleaned('a'.repeat(1_000_000)).length).toBeLessThan(500);
  const page = 'h.example/日本/a b\u202e\n😀';
  const shown = cleanedAddress(page, (letter) => letter !== '😀');
  expect(shown).toMatch(/^h\.example\/日本\/a b%E2%80%AE%0A%F0/);
  expect(decodeURIComponent(shown)).toBe(page);
});

test('a letter that no font has is a box, which the document says; in an address it is percent-encoded', async () => {
  const text = textOf(await drawStatement(tableOf([['Zoë 𒀀', 'a/𒀀', '1']])));
  expect(text).toContain('Zoë □  a/%F0%92%80%80  1');
  expect(text).toContain('Letters are lacking.');
});

test('no text leaves its column, however long or wide it is or whichever way it runs, and a number loses nothing', async () => {
  const hostile = ['W', 'ﷺ', '山', 'מ', 'ﷺ W', 'e\u0301\u0302\u0303\u0304', '\u202e\u0000x', '👩‍👩‍👧‍👦', '((((']; // biome-ignore format: one line
  const rows = hostile.map((one) => [one.repeat(2_000), `first/${one.repeat(2_000)}/last`, '9007199254.740991']);
  const drawn = textsOf(await drawStatement(tableOf(rows, { total: ['Total', '', '81064793292.668919'] })));
  const amounts = drawn.filter(({ text }) => /^\d+\.\d{6}$/.test(text));
  expect(amounts.filter(({ text }) => text === '9007199254.740991')).toHaveLength(hostile.length);
  expect(new Set(amounts.filter(({ size }) => size === 7.8).map(({ x, width }) => Math.round(x + width)))).toEqual(
    new Set([555]),
  );
  const left = Math.min(...amounts.filter(({ size }) => size === 7.8).map(({ x }) => x));
  const others = drawn.filter((piece) => piece.size === 7.8 && !amounts.includes(piece) && piece.text !== 'Amount');
  expect(Math.max(...others.map(({ x, width }) => x + width))).toBeLessThan(left);
  const baselines = new Set(amounts.map(({ page, y }) => `${page} ${y.toFixed(2)}`));
  expect(baselines.size).toBe(hostile.length + 2);
});

test('text too long for its column loses its middle, since pages differ at their ends', async () => {
  const text = textOf(await drawStatement(tableOf([['i'.repeat(50), `first/${'w'.repeat(300)}/last`, '1']])));
  expect(text).toMatch(/first\/w+…w+\/last/);
  expect(text).toContain('i'.repeat(50));
});

test('a table without a row has no head, and a long name leaves the page number its place', async () => {
  const empty = textOf(
    await drawStatement({ ...tableOf([], { total: ['Total', '', '0'] }), footer: `${'long-'.repeat(50)}.example` }),
  );
  expect(empty).toContain('Lines');
  expect(empty).not.toContain('Amount');
  expect(empty).not.toContain('Total');
  expect(empty).toMatch(/Statement · (?:long-)+l?o?n?g?-?….*\.example {2}Page 1 of 1/);
});

test('rows side by side fill the left block first, repeat their head on each page, and end with their total', async () => {
  const rows = Array.from({ length: 400 }, (_, n) => [`row ${n}`, 'p', '1']);
  const drawn = textsOf(await drawStatement(tableOf(rows, { isDense: true, total: ['Total', '', '400'] })));
  expect(drawn.filter(({ text }) => /^row \d+$/.test(text)).map(({ text }) => Number(text.slice(4)))).toEqual(
    rows.map((_, n) => n),
  );
  const heads = drawn.filter(({ text }) => text === 'Amount').map(({ page }) => page);
  expect(heads).toEqual([0, 0, 1, 1, 2, 2].slice(0, heads.length));
  expect(drawn.filter(({ text }) => text === 'Total').map(({ page }) => page)).toEqual([heads.at(-1)]);
});

test('every font is embedded, and only with the glyphs it needs', async () => {
  const pdf = await drawStatement(tableOf([['山田太郎 محمد Ольга', 'p', '1']]));
  const raw = pdf.toString('latin1');
  expect(raw).not.toContain('Helvetica');
  expect([...raw.matchAll(/\/FontFile2/g)].length).toBe([...raw.matchAll(/\/Type \/FontDescriptor/g)].length);
  expect(pdf.length).toBeLessThan(60_000);
});
