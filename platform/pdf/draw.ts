import PDFDocument from 'pdfkit';
import { escapeXml } from '../../modules/kernel/xml.ts';
import { cleaned, cleanedAddress, lettersOf, shortened } from './cleaned.ts';
import type { DocumentColumn, DocumentTable, Fact, StatementDocument } from './document.ts';
import type { Cut } from './fonts.ts';
import { openFonts } from './fonts.ts';
import type { Ink } from './ink.ts';
import { createInk } from './ink.ts';
import type { Line, Setter } from './runs.ts';
import { createSetter, MISSING } from './runs.ts';
import type { Tags } from './tags.ts';
import { tagged } from './tags.ts';

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
/** Room for the label of a fact. */
const FACT = 90;
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
/** From so many lines on, a reader gets a list of contents beside the pages. */
const LONG = 100;

/** A page being drawn: where the next thing goes, and what sets its texts. */
interface Sheet {
  readonly pdf: Pdf;
  readonly ink: Ink;
  readonly setter: Setter;
  readonly tags: Tags;
  y: number;
}

/**
 * Draws a statement on A4 pages, each numbered, with the fonts of its letters in it and tags that say what is a heading, a table and its
 * head (PDF/UA-1); resolves with the file's bytes. Texts may be anybody's: they stay in their line and column.
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
    info: { Title: titleOf(statement), CreationDate: statement.generatedAt },
  });
  describe(pdf, titleOf(statement));
  const chunks: Buffer[] = [];
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
  });
  const ink = createInk(pdf);
  const sheet: Sheet = { pdf, ink, setter, tags: tagged(pdf, ink), y: MARGIN };
  drawHeader(sheet, statement);
  const isLong = statement.tables.reduce((sum, { rows }) => sum + rows.length, 0) > LONG;
  for (const table of statement.tables) drawTable(sheet, table, isLong);
  drawNotes(sheet, statement);
  numberPages(sheet, statement);
  pdf.end();
  return done;
}

function titleOf({ title, subtitle }: StatementDocument): string {
  return `${title}: ${subtitle}`;
}

/** What the file says of itself (PDF/UA-1 §7.1). pdfkit writes a title as it is into XML; its own entry has been written by then. */
function describe(given: Pdf, title: string): void {
  const pdf = given as unknown as {
    subset: number;
    endSubset: () => void;
    appendXML: (xml: string) => void;
    info: { Title: string };
  };
  pdf.subset = 1;
  pdf.endSubset = () => {
    pdf.info.Title = escapeXml(title);
    pdf.appendXML(
      '<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part></rdf:Description>',
    );
  };
}

function cleanedDocument(statement: StatementDocument): StatementDocument {
  const table = (one: DocumentTable): DocumentTable => {
    const row = (cells: readonly string[]): string[] =>
      cells.map((cell, n) => (one.columns[n]?.holds === 'address' ? cell : cleaned(cell)));
    return { ...one, heading: cleaned(one.heading), rows: one.rows.map(row), total: one.total && row(one.total) };
  };
  const facts = statement.facts.map((fact) => ({ ...fact, value: cleaned(fact.value, MAX_FACT_LETTERS) }));
  const footer = cleaned(statement.footer);
  return { ...statement, subtitle: cleaned(statement.subtitle), footer, facts, tables: statement.tables.map(table) };
}

function textsOf({ title, subtitle, footer, facts, tables, notes, noteOfLackedLetters, sum }: StatementDocument): string[] {
  return [
    title,
    subtitle,
    footer,
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
  const { pdf, tags } = sheet;
  const half = widthOf(pdf) * 0.62;
  const right = { x: MARGIN + half, room: widthOf(pdf) - half, align: 'right' as const };
  tags.leaf('H1', () => put(sheet, title, { x: MARGIN, y: MARGIN - 4, room: half, size: 18, cut: 'bold' }));
  tags.leaf('P', () => put(sheet, subtitle, { x: MARGIN, y: MARGIN + 21, room: half, size: 11, colour: GREY }));
  tags.leaf('P', () => {
    put(sheet, sum.value, { ...right, y: MARGIN - 4, size: 18, cut: 'bold' });
    put(sheet, sum.label, { ...right, y: MARGIN + 21, size: 11, colour: GREY });
  });
  sheet.y = MARGIN + 44;
  rule(sheet, { y: sheet.y - 4, thickness: 0.6 });
  if (facts.length > 0) {
    tags.group('L', () => {
      for (const fact of facts) drawFact(sheet, fact);
    });
  }
  sheet.y += 10;
}

function drawFact(sheet: Sheet, { label, value, isReference }: Fact): void {
  const { pdf, tags } = sheet;
  const place = {
    x: MARGIN + FACT,
    room: widthOf(pdf) - FACT,
    size: 8,
    cut: isReference ? ('narrow' as const) : ('regular' as const),
  };
  tags.group('LI', () => {
    tags.leaf('Lbl', () => put(sheet, label, { x: MARGIN, y: sheet.y, room: FACT - GAP, size: 8, colour: GREY }));
    tags.leaf('LBody', () => {
      for (const line of wrapped(sheet, value, place)) {
        put(sheet, line, { ...place, y: sheet.y });
        sheet.y += 11.5;
      }
    });
  });
}

function drawTable(sheet: Sheet, table: DocumentTable, isListed: boolean): void {
  const { pdf, tags } = sheet;
  const measure = table.isDense ? DENSE : NORMAL;
  if (sheet.y + 5 * NORMAL.row > bottomOf(pdf)) addPage(sheet);
  if (isListed) pdf.outline.addItem(table.heading);
  tags.leaf('H2', () => put(sheet, table.heading, { x: MARGIN, y: sheet.y, room: widthOf(pdf), size: 11, cut: 'bold' }));
  sheet.y += 15;
  const { note } = table;
  if (note !== null) {
    const place = { x: MARGIN, room: widthOf(pdf), size: 8, cut: 'regular' as const };
    tags.leaf('P', () => {
      for (const line of wrapped(sheet, note, place)) {
        put(sheet, line, { ...place, y: sheet.y, colour: GREY });
        sheet.y += 11;
      }
    });
    sheet.y += 1;
  }
  if (table.rows.length > 0) tags.group('Table', () => drawRows(sheet, table, { sides: table.isDense ? 2 : 1, measure }));
  sheet.y += 14;
}

/** The rows page by page; a page on which they go on says of what. */
function drawRows(sheet: Sheet, table: DocumentTable, layout: Layout): void {
  for (let next = 0; next < table.rows.length; ) {
    if (sheet.y + 3 * NORMAL.row > bottomOf(sheet.pdf)) {
      addPage(sheet);
      const place = { x: MARGIN, y: sheet.y, room: widthOf(sheet.pdf), size: 8, colour: GREY };
      if (next > 0) sheet.tags.aside(() => put(sheet, `${table.heading}, continued`, place));
      if (next > 0) sheet.y += 13;
    }
    next += drawPart(sheet, table, next, layout);
  }
  if (table.total) drawTotal(sheet, table, table.total, layout.sides);
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
    // The head is one of the table's rows once, and stands for the eye alone wherever it is said again.
    const head = { ...place, y: sheet.y, colour: GREY, row: from === 0 && side === 0 ? ('head' as const) : ('again' as const) };
    drawCells(sheet, table.columns, headOf(table), head);
    rule(sheet, { ...place, y: sheet.y + measure.row, thickness: 0.6 });
    for (const [n, cells] of ofSide.entries()) {
      const y = top + n * measure.row;
      drawCells(sheet, table.columns, cells, { ...place, y: y - 0.5, row: 'body' });
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
  drawCells(sheet, table.columns, total, { ...place, y: sheet.y + 2, measure: NORMAL, cut: 'bold', row: 'total' });
  sheet.y += NORMAL.row + 4;
}

interface RowPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly measure: Measure;
  readonly row: 'head' | 'again' | 'body' | 'total';
  readonly colour?: string;
  readonly cut?: Cut;
}

function drawCells(sheet: Sheet, columns: readonly DocumentColumn[], cells: readonly string[], place: RowPlace): void {
  const { tags } = sheet;
  const { row } = place;
  const drawn = cellsOf(sheet, columns, cells, place);
  if (row === 'again') {
    tags.aside(() => {
      for (const draw of drawn) draw?.();
    });
    return;
  }
  tags.group('TR', () => {
    for (const [n, draw] of drawn.entries()) {
      if (row === 'head') tags.leaf('TH', draw, 'Column');
      else if (row === 'total' && n === 0) tags.leaf('TH', draw, 'Row');
      else tags.leaf('TD', draw);
    }
  });
}

/** How each cell of a row is drawn; null: it is empty. */
function cellsOf(
  sheet: Sheet,
  columns: readonly DocumentColumn[],
  cells: readonly string[],
  place: RowPlace,
): ((() => void) | null)[] {
  let { x } = place;
  return columns.map(({ width, align, holds }, index) => {
    const all = width * place.width;
    const cell = cells[index] ?? '';
    const text = holds === 'address' ? cleanedAddress(cell, (letter) => sheet.setter.isShown(letter, cell)) : cell;
    const at = {
      x,
      y: place.y,
      room: index === columns.length - 1 ? all : all - GAP,
      align,
      direction: holds === 'address' ? ('ltr' as const) : ('auto' as const),
      cut: place.cut ?? (holds === 'reference' ? 'narrow' : 'regular'),
      size: place.measure.size,
      colour: place.colour ?? INK,
    };
    x += all;
    return text === '' ? null : () => put(sheet, text, at);
  });
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
    sheet.tags.leaf('P', () => {
      for (const line of lines) {
        put(sheet, line, { ...place, x: MARGIN, y: sheet.y, colour: GREY });
        sheet.y += 9;
      }
    });
    sheet.y += 3;
  }
}

function numberPages(sheet: Sheet, { title, footer }: StatementDocument): void {
  const { pdf, tags } = sheet;
  sheet.ink.flush();
  const { start, count } = pdf.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    pdf.switchToPage(start + page);
    pdf.page.margins.bottom = 0;
    const place = { y: pdf.page.height - MARGIN + 9, size: 7, colour: GREY };
    const titleWidth = sheet.setter.line(`${title} · `, 'regular').width * place.size;
    const number = { ...place, x: MARGIN + widthOf(pdf) - NUMBER_WIDTH, room: NUMBER_WIDTH };
    tags.aside(() => {
      put(sheet, `${title} · `, { ...place, x: MARGIN, room: titleWidth });
      put(sheet, footer, { ...place, x: MARGIN + titleWidth, room: widthOf(pdf) - NUMBER_WIDTH - titleWidth });
      put(sheet, `Page ${page + 1} of ${count}`, { ...number, align: 'right' });
    });
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

function rule({ pdf, ink, tags }: Sheet, { x = MARGIN, width = widthOf(pdf), y, thickness, colour = LINE }: Rule): void {
  tags.aside(() => ink.line({ x, y, width, thickness, colour }));
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
