import PDFDocument from 'pdfkit';
import { cleaned, cleanedAddress, lettersOf, shortened } from './cleaned.ts';
import type { DocumentColumn, DocumentTable, StatementDocument } from './document.ts';
import type { Cut } from './fonts.ts';
import { openFonts } from './fonts.ts';
import type { Ink } from './ink.ts';
import { createInk } from './ink.ts';
import type { Line, Setter } from './runs.ts';
import { createSetter, MISSING } from './runs.ts';

type Pdf = InstanceType<typeof PDFDocument>;

const MARGIN = 40;
const GREY = '#5b6470';
const LINE = '#d5d9de';
const INK = '#14181d';
/** Where letters stand, as a part of their size below the top of a line. */
const ASCENT = 1.07;
/** Room for a page's number in its footer. */
const NUMBER_WIDTH = 90;
const GAP = 6;
/** How small a reference may be set, as a part of its usual size. */
const SMALLEST = 0.8;
/** Most lines of one fact or note. */
const MAX_LINES = 6;
const MAX_FACT_LETTERS = 1_000;
/** Letters that a document draws whatever its texts are. */
const OWN_LETTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, n) => 32 + n))}…·–${MISSING}`;

/** The size of a table's letters and rows, in points. */
interface Measure {
  readonly size: number;
  readonly row: number;
}
const NORMAL: Measure = { size: 7.8, row: 11.1 };
const DENSE: Measure = { size: 6, row: 7.5 };

/** A page being drawn: where the next thing goes, and what sets its texts. */
interface Sheet {
  readonly pdf: Pdf;
  readonly ink: Ink;
  readonly setter: Setter;
  y: number;
}

/**
 * Draws a statement on A4 pages, each numbered, with the fonts of its letters in it; resolves with the file's bytes. Texts may be
 * anybody's: they stay in their line and column.
 */
export async function drawStatement(given: StatementDocument): Promise<Buffer> {
  const statement = cleanedDocument(given);
  const setter = createSetter(await openFonts(textsOf(statement), OWN_LETTERS));
  const pdf = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    bufferPages: true,
    fontLayoutCache: false,
    pdfVersion: '1.7' as const,
    lang: 'en',
    displayTitle: true,
    info: { Title: `${statement.title}: ${statement.subtitle}`, CreationDate: statement.generatedAt },
  });
  const chunks: Buffer[] = [];
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
  });
  const sheet: Sheet = { pdf, ink: createInk(pdf), setter, y: MARGIN };
  drawHeader(sheet, statement);
  for (const table of statement.tables) drawTable(sheet, table);
  drawNotes(sheet, statement);
  numberPages(sheet, statement);
  pdf.end();
  return done;
}

function cleanedDocument(statement: StatementDocument): StatementDocument {
  const table = (one: DocumentTable): DocumentTable => {
    const row = (cells: readonly string[]): string[] =>
      cells.map((cell, n) => (one.columns[n]?.holds === 'address' ? cell : cleaned(cell)));
    return { ...one, heading: cleaned(one.heading), rows: one.rows.map(row), total: one.total && row(one.total) };
  };
  const facts = statement.facts.map((fact) => ({ ...fact, value: cleaned(fact.value, MAX_FACT_LETTERS) }));
  return { ...statement, subtitle: cleaned(statement.subtitle), facts, tables: statement.tables.map(table) };
}

function textsOf({ title, subtitle, facts, tables, notes, noteOfLackedLetters, sum }: StatementDocument): string[] {
  return [
    title,
    subtitle,
    sum.label,
    sum.value,
    noteOfLackedLetters,
    ...notes,
    ...facts.flatMap(({ label, value }) => [label, value]),
    ...tables.flatMap((table) => [
      table.heading,
      table.note ?? '',
      ...table.columns.map(({ label }) => label),
      ...table.rows.flatMap((cells) => cells.map((cell, n) => (table.columns[n]?.holds === 'address' ? cleaned(cell) : cell))),
      ...(table.total ?? []),
    ]),
  ];
}

function drawHeader(sheet: Sheet, { title, subtitle, sum, facts }: StatementDocument): void {
  const { pdf } = sheet;
  const half = widthOf(pdf) * 0.62;
  put(sheet, title, { x: MARGIN, y: MARGIN - 4, room: half, size: 18, cut: 'bold' });
  put(sheet, subtitle, { x: MARGIN, y: MARGIN + 21, room: half, size: 11, colour: GREY });
  put(sheet, sum.value, { x: MARGIN + half, y: MARGIN - 4, room: widthOf(pdf) - half, size: 18, cut: 'bold', align: 'right' });
  put(sheet, sum.label, { x: MARGIN + half, y: MARGIN + 21, room: widthOf(pdf) - half, size: 11, colour: GREY, align: 'right' });
  sheet.y = MARGIN + 44;
  rule(sheet, { y: sheet.y - 4, thickness: 0.6 });
  for (const { label, value, isReference } of facts) {
    put(sheet, label, { x: MARGIN, y: sheet.y, room: 84, size: 8, colour: GREY });
    const cut = isReference ? 'narrow' : 'regular';
    for (const line of wrapped(sheet, value, { room: widthOf(pdf) - 90, size: 8, cut })) {
      put(sheet, line, { x: MARGIN + 90, y: sheet.y, room: widthOf(pdf) - 90, size: 8, cut });
      sheet.y += 11;
    }
  }
  sheet.y += 8;
}

function drawTable(sheet: Sheet, table: DocumentTable): void {
  const measure = table.isDense ? DENSE : NORMAL;
  if (sheet.y + 5 * NORMAL.row > bottomOf(sheet.pdf)) addPage(sheet);
  put(sheet, table.heading, { x: MARGIN, y: sheet.y, room: widthOf(sheet.pdf), size: 11, cut: 'bold' });
  sheet.y += 15;
  if (table.note !== null) {
    put(sheet, table.note, { x: MARGIN, y: sheet.y, room: widthOf(sheet.pdf), size: 8, colour: GREY });
    sheet.y += 12;
  }
  const sides = table.isDense ? 2 : 1;
  for (let next = 0; next < table.rows.length; ) {
    if (sheet.y + 3 * NORMAL.row > bottomOf(sheet.pdf)) addPage(sheet);
    next += drawPart(sheet, table, next, { sides, measure });
  }
  if (table.total && table.rows.length > 0) drawTotal(sheet, table, table.total, sides);
  sheet.y += 12;
}

/** How a table is set: its blocks beside each other, and their measure. */
interface Layout {
  readonly sides: number;
  readonly measure: Measure;
}

/** Draws what of a table's rows goes on this page, in one block or two beside each other; returns how many rows that were. */
function drawPart(sheet: Sheet, table: DocumentTable, from: number, { sides, measure }: Layout): number {
  const top = sheet.y + measure.row + 3;
  const most = Math.max(1, Math.floor((bottomOf(sheet.pdf) - top) / measure.row)) * sides;
  const rows = table.rows.slice(from, from + most);
  const high = Math.ceil(rows.length / sides);
  const width = (widthOf(sheet.pdf) - (sides - 1) * 3 * GAP) / sides;
  for (let side = 0; side < sides; side++) {
    const ofSide = rows.slice(side * high, (side + 1) * high);
    if (ofSide.length === 0) continue;
    const place = { x: MARGIN + side * (width + 3 * GAP), width, measure };
    drawCells(sheet, table.columns, headOf(table), { ...place, y: sheet.y, colour: GREY });
    rule(sheet, { ...place, y: sheet.y + measure.row, thickness: 0.6 });
    for (const [n, cells] of ofSide.entries()) {
      const y = top + n * measure.row;
      drawCells(sheet, table.columns, cells, { ...place, y: y - 0.5 });
      rule(sheet, { ...place, y: y + measure.row - 0.4, thickness: 0.2 });
    }
  }
  sheet.y = top + high * measure.row;
  return rows.length;
}

function headOf(table: DocumentTable): string[] {
  return table.columns.map(({ label }) => label);
}

function drawTotal(sheet: Sheet, table: DocumentTable, total: readonly string[], sides: number): void {
  if (sheet.y + NORMAL.row + 4 > bottomOf(sheet.pdf)) {
    addPage(sheet);
    sheet.y += 4;
  }
  const width = (widthOf(sheet.pdf) - (sides - 1) * 3 * GAP) / sides;
  const place = { x: MARGIN + (sides - 1) * (width + 3 * GAP), width };
  rule(sheet, { ...place, y: sheet.y, thickness: 0.8, colour: INK });
  drawCells(sheet, table.columns, total, { ...place, y: sheet.y + 2, measure: NORMAL, cut: 'bold' });
  sheet.y += NORMAL.row + 4;
}

interface RowPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly measure: Measure;
  readonly colour?: string;
  readonly cut?: Cut;
}

function drawCells(sheet: Sheet, columns: readonly DocumentColumn[], cells: readonly string[], place: RowPlace): void {
  let { x } = place;
  for (const [index, { width, align, holds }] of columns.entries()) {
    const all = width * place.width;
    const room = index === columns.length - 1 ? all : all - GAP;
    const cell = cells[index] ?? '';
    const text = holds === 'address' ? cleanedAddress(cell, (letter) => sheet.setter.isShown(letter, cell)) : cell;
    const cut = place.cut ?? (holds === 'reference' ? 'narrow' : 'regular');
    const direction = holds === 'address' ? ('ltr' as const) : ('auto' as const);
    put(sheet, text, { x, y: place.y, room, align, direction, cut, size: place.measure.size, colour: place.colour ?? INK });
    x += all;
  }
}

interface TextPlace {
  readonly x: number;
  /** Top of the line. */
  readonly y: number;
  readonly room: number;
  readonly size: number;
  readonly cut?: Cut;
  readonly colour?: string;
  readonly align?: 'left' | 'right';
  readonly direction?: 'auto' | 'ltr';
}

/**
 * Draws one line. Text on the left that is too long for its room loses its middle; a reference, which is of use as a whole only, is set
 * smaller before that.
 */
function put(sheet: Sheet, text: string, place: TextPlace): void {
  if (text === '') return;
  const { room, align = 'left', cut = 'regular', direction = 'auto', colour = INK } = place;
  const whole = sheet.setter.line(text, cut, direction);
  const isWide = cut === 'narrow' && whole.width * place.size > room;
  const size = isWide ? Math.max(place.size * SMALLEST, room / whole.width) : place.size;
  const isCut = align === 'left' && whole.width * size > room;
  const { runs, width } = isCut ? fitted(sheet, text, { width: whole.width * size, size, room, cut, direction }) : whole;
  let x = align === 'left' ? place.x : place.x + room - width * size;
  for (const run of runs) {
    sheet.ink.text(run, { x, y: place.y + ASCENT * size, size, colour });
    x += run.width * size;
  }
}

interface Fit {
  readonly room: number;
  readonly size: number;
  readonly cut: Cut;
  readonly direction: 'auto' | 'ltr';
}

/** Text wider than its room, both in points: an ellipsis takes the place of its middle. The first guess is by the mean width of its letters. */
function fitted({ setter }: Sheet, text: string, { width, room, size, cut, direction }: Fit & { readonly width: number }): Line {
  const letters = lettersOf(text);
  const keeping = (count: number): Line => setter.line(shortened(letters, count), cut, direction);
  let kept = Math.floor((letters.length * room) / width);
  let line = keeping(kept);
  while (kept > 0 && line.width * size > room) {
    kept -= Math.ceil(kept / 20);
    line = keeping(kept);
  }
  return line;
}

/** Text in lines of a width, broken between words, and in words that are longer than a line; MAX_LINES at most. */
function wrapped({ setter }: Sheet, text: string, { room, size, cut }: Omit<Fit, 'direction'>): string[] {
  const isWide = (some: string): boolean => setter.line(some, cut).width * size > room;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (!isWide(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const letter of lettersOf(word)) {
      if (line !== '' && isWide(line + letter)) {
        lines.push(line);
        line = '';
      }
      line += letter;
    }
  }
  if (line !== '') lines.push(line);
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES - 1), `${lines[MAX_LINES - 1] ?? ''} …`];
}

function drawNotes(sheet: Sheet, { notes, noteOfLackedLetters }: StatementDocument): void {
  const all = sheet.setter.lacked ? [noteOfLackedLetters, ...notes] : notes;
  const place = { room: widthOf(sheet.pdf), size: 7, cut: 'regular' as const };
  for (const note of all) {
    const lines = wrapped(sheet, note, place);
    if (sheet.y + lines.length * 9 > bottomOf(sheet.pdf)) addPage(sheet);
    for (const line of lines) {
      put(sheet, line, { ...place, x: MARGIN, y: sheet.y, colour: GREY });
      sheet.y += 9;
    }
    sheet.y += 3;
  }
}

function numberPages(sheet: Sheet, { title, subtitle }: StatementDocument): void {
  const { pdf } = sheet;
  sheet.ink.flush();
  const { start, count } = pdf.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    pdf.switchToPage(start + page);
    pdf.page.margins.bottom = 0;
    const place = { y: pdf.page.height - MARGIN + 9, size: 7, colour: GREY };
    const titleWidth = sheet.setter.line(`${title} · `, 'regular').width * place.size;
    put(sheet, `${title} · `, { ...place, x: MARGIN, room: titleWidth });
    put(sheet, subtitle, { ...place, x: MARGIN + titleWidth, room: widthOf(pdf) - NUMBER_WIDTH - titleWidth });
    const number = { ...place, x: MARGIN + widthOf(pdf) - NUMBER_WIDTH, room: NUMBER_WIDTH };
    put(sheet, `Page ${page + 1} of ${count}`, { ...number, align: 'right' });
    sheet.ink.finishPage();
  }
}

/** A line from left to right; as wide as the page unless told. */
interface Rule {
  readonly y: number;
  readonly thickness: number;
  readonly x?: number;
  readonly width?: number;
  readonly colour?: string;
}

function rule({ pdf, ink }: Sheet, { x = MARGIN, width = widthOf(pdf), y, thickness, colour = LINE }: Rule): void {
  ink.line({ x, y, width, thickness, colour });
}

function addPage(sheet: Sheet): void {
  sheet.ink.flush();
  sheet.pdf.addPage();
  sheet.y = MARGIN;
}

function widthOf(pdf: Pdf): number {
  return pdf.page.width - 2 * MARGIN;
}

function bottomOf(pdf: Pdf): number {
  return pdf.page.height - MARGIN;
}
