import PDFDocument from 'pdfkit';
import { printable } from './pdfText.ts';

/** What a statement document says; every text is ready to be read, nothing is computed while drawing. */
export interface StatementDocument {
  readonly title: string;
  /** Under the title: whose statement of what. */
  readonly subtitle: string;
  readonly generatedAt: Date;
  /** Label and value, one a line. */
  readonly facts: readonly (readonly [string, string])[];
  readonly tables: readonly DocumentTable[];
  /** Small print under the last table. */
  readonly notes: readonly string[];
}

/** One table; it begins on a new page when the rest of the page is too short, and is its heading and note alone without a row. */
export interface DocumentTable {
  readonly heading: string;
  readonly note: string | null;
  readonly columns: readonly DocumentColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** A column; `width` is its part of the page's width. Text on the left that is too long loses its middle, a number nothing. */
export interface DocumentColumn {
  readonly label: string;
  readonly width: number;
  readonly align: 'left' | 'right';
}

type Pdf = InstanceType<typeof PDFDocument>;

const MARGIN = 48;
const ROW_HEIGHT = 13;
const TEXT_SIZE = 8;
/** Room for a page's number in its footer. */
const NUMBER_WIDTH = 90;
const GREY = '#5b6470';
const LINE = '#d5d9de';
const INK = '#14181d';

/** Draws a statement on A4 pages, each numbered; resolves with the file's bytes. What is not `isPrintable` becomes `?`. */
export function drawStatement(statement: StatementDocument): Promise<Buffer> {
  const pdf = new PDFDocument({
    ...{ size: 'A4', margin: MARGIN, bufferPages: true, pdfVersion: '1.7' as const, lang: 'en' },
    info: { Title: printable(statement.title), Subject: printable(statement.subtitle), CreationDate: statement.generatedAt },
  });
  const chunks: Buffer[] = [];
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
  });
  drawCover(pdf, statement);
  for (const table of statement.tables) drawTable(pdf, table);
  drawNotes(pdf, statement.notes);
  numberPages(pdf, statement);
  pdf.end();
  return done;
}

function drawCover(pdf: Pdf, statement: StatementDocument): void {
  pdf.font('Helvetica-Bold').fontSize(22).fillColor(INK).text(printable(statement.title), MARGIN, MARGIN);
  pdf.font('Helvetica').fontSize(11).fillColor(GREY).text(printable(statement.subtitle));
  pdf.moveDown(1);
  for (const [label, value] of statement.facts) {
    const { y } = pdf;
    pdf.fontSize(9).fillColor(GREY).text(printable(label), MARGIN, y, { width: 120 });
    const afterLabel = pdf.y;
    pdf.fillColor(INK).text(printable(value), MARGIN + 125, y, { width: widthOf(pdf) - 125 });
    pdf.y = Math.max(pdf.y, afterLabel) + 3;
  }
  pdf.x = MARGIN;
  pdf.y += 14;
}

function drawTable(pdf: Pdf, table: DocumentTable): void {
  if (pdf.y + 6 * ROW_HEIGHT > bottomOf(pdf)) pdf.addPage();
  pdf.font('Helvetica-Bold').fontSize(11).fillColor(INK).text(printable(table.heading), MARGIN, pdf.y);
  if (table.note !== null) pdf.font('Helvetica').fontSize(TEXT_SIZE).fillColor(GREY).text(printable(table.note));
  let y = table.rows.length === 0 ? pdf.y : drawHead(pdf, table, pdf.y + 5);
  for (const row of table.rows) {
    if (y + ROW_HEIGHT > bottomOf(pdf)) {
      pdf.addPage();
      y = drawHead(pdf, table, MARGIN);
    }
    drawCells(pdf, table, row, y);
    y += ROW_HEIGHT;
  }
  pdf.y = y + 16;
}

function drawHead(pdf: Pdf, table: DocumentTable, y: number): number {
  pdf.font('Helvetica-Bold').fontSize(TEXT_SIZE).fillColor(GREY);
  drawCells(
    pdf,
    table,
    table.columns.map(({ label }) => label),
    y,
  );
  pdf
    .moveTo(MARGIN, y + ROW_HEIGHT - 2)
    .lineTo(MARGIN + widthOf(pdf), y + ROW_HEIGHT - 2)
    .lineWidth(0.6)
    .stroke(LINE);
  pdf.font('Helvetica').fontSize(TEXT_SIZE).fillColor(INK);
  return y + ROW_HEIGHT + 2;
}

function drawCells(pdf: Pdf, table: DocumentTable, cells: readonly string[], y: number): void {
  let x = MARGIN;
  for (const [index, { width, align }] of table.columns.entries()) {
    const gap = index === table.columns.length - 1 ? 0 : 6;
    const room = width * widthOf(pdf) - gap;
    const cell = printable(cells[index] ?? '');
    const text = align === 'left' ? fitted(pdf, cell, room) : cell;
    const start = align === 'left' ? x : x + room - pdf.widthOfString(text);
    pdf.text(text, start, y, { lineBreak: false });
    x += room + gap;
  }
}

/** Text cut to a width: an ellipsis takes the place of its middle, since pages differ at their ends. */
function fitted(pdf: Pdf, text: string, room: number): string {
  if (pdf.widthOfString(text) <= room) return text;
  let [fits, tooLong] = [0, Math.min(text.length, Math.ceil(room / (TEXT_SIZE * 0.22)))];
  while (tooLong - fits > 1) {
    const kept = Math.floor((fits + tooLong) / 2);
    if (pdf.widthOfString(shortened(text, kept)) <= room) fits = kept;
    else tooLong = kept;
  }
  return shortened(text, fits);
}

function shortened(text: string, kept: number): string {
  const atEnd = Math.floor(kept / 2);
  return `${text.slice(0, kept - atEnd)}…${text.slice(text.length - atEnd)}`;
}

function drawNotes(pdf: Pdf, notes: readonly string[]): void {
  if (pdf.y + 5 * ROW_HEIGHT > bottomOf(pdf)) pdf.addPage();
  pdf.font('Helvetica').fontSize(TEXT_SIZE).fillColor(GREY);
  for (const note of notes) pdf.text(printable(note), MARGIN, pdf.y, { width: widthOf(pdf) }).moveDown(0.4);
}

function numberPages(pdf: Pdf, statement: StatementDocument): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    pdf.switchToPage(start + page);
    pdf.page.margins.bottom = 0;
    const y = pdf.page.height - MARGIN + 12;
    const number = `Page ${page + 1} / ${count}`;
    pdf.font('Helvetica').fontSize(7.5).fillColor(GREY);
    const name = printable(`${statement.title}: ${statement.subtitle}`);
    pdf.text(fitted(pdf, name, widthOf(pdf) - NUMBER_WIDTH), MARGIN, y, { lineBreak: false });
    pdf.text(number, MARGIN + widthOf(pdf) - pdf.widthOfString(number), y, { lineBreak: false });
  }
}

function widthOf(pdf: Pdf): number {
  return pdf.page.width - 2 * MARGIN;
}

function bottomOf(pdf: Pdf): number {
  return pdf.page.height - MARGIN;
}
