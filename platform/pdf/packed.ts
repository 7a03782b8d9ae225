import { deflateSync } from 'node:zlib';
import type PDFDocument from 'pdfkit';

/** Objects that stand together in compressed streams. */
export interface PackedObjects {
  /** The number of an object that is written later. */
  reserve(): number;
  /** Writes the object of a number, once: its text, without `obj` around it. */
  write(id: number, body: string): void;
  /** After the last one, and before pdfkit ends the file. */
  finish(): void;
}

/** What pdfkit has of a file that it writes. */
type Pdf = InstanceType<typeof PDFDocument> & {
  readonly _offsets: (number | null)[];
  readonly _offset: number;
  readonly _id: Uint8Array;
  readonly _root: object;
  readonly _info: object;
  _finalize(): void;
  _write(data: string | Uint8Array): void;
  ref(data: object): { readonly id: number; end(bytes: Uint8Array): void };
};

/** Objects of one stream: enough to compress well, and few enough that a reader who needs one does not read all. */
const MOST_TOGETHER = 500;
/** Bytes of a line of the table: what it is, where, and which of a stream's objects. */
const [KIND, WHERE, WHICH] = [1, 4, 2];
const LINE = KIND + WHERE + WHICH;
const [FREE, ALONE, PACKED] = [0, 1, 2];

/**
 * Lets a document have objects in compressed streams (ISO 32000-2 §7.5.7), which only a table in a stream can find (§7.5.8). pdfkit writes each
 * object by itself, and 20 bytes in a table: where each cell of thousands of lines is an object, the file is seven times as large.
 */
export function packObjects(given: InstanceType<typeof PDFDocument>): PackedObjects {
  const pdf = given as Pdf;
  const places = new Map<number, readonly [stream: number, which: number]>();
  let waiting: { readonly id: number; readonly body: string }[] = [];
  const finish = (): void => {
    if (waiting.length === 0) return;
    let at = 0;
    const index = waiting.map(({ id, body }) => {
      const entry = `${id} ${at}`;
      at += body.length + 1;
      return entry;
    });
    const head = `${index.join(' ')}\n`;
    const stream = pdf.ref({ Type: 'ObjStm', N: waiting.length, First: head.length });
    stream.end(Buffer.from(`${head}${waiting.map(({ body }) => body).join('\n')}\n`, 'latin1'));
    for (const [n, { id }] of waiting.entries()) places.set(id, [stream.id, n]);
    waiting = [];
  };
  pdf._finalize = () => {
    const id = pdf._offsets.length + 1;
    const start = pdf._offset;
    const lines = Array.from({ length: id + 1 }, (_, n) => {
      const place = places.get(n);
      if (n === 0) return lineOf(FREE, 0, 0xffff);
      return place ? lineOf(PACKED, ...place) : lineOf(ALONE, n === id ? start : (pdf._offsets[n - 1] ?? 0), 0);
    });
    const table = deflateSync(predicted(lines));
    const name = Buffer.from(pdf._id).toString('hex');
    pdf._write(
      `${id} 0 obj\n<< /Type /XRef /Size ${id + 1} /W [${KIND} ${WHERE} ${WHICH}] /Root ${pdf._root} /Info ${pdf._info} /ID [<${name}> <${name}>] ` +
        `/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns ${LINE} >> /Length ${table.length} >>\nstream`,
    );
    pdf._write(table);
    pdf._write(`\nendstream\nendobj\nstartxref\n${start}\n%%EOF`);
    pdf.push(null);
  };
  return {
    reserve: () => pdf._offsets.push(null),
    write: (id, body) => {
      waiting.push({ id, body });
      if (waiting.length === MOST_TOGETHER) finish();
    },
    finish,
  };
}

function lineOf(kind: number, where: number, which: number): Buffer {
  const line = Buffer.alloc(LINE);
  line.writeUInt8(kind);
  line.writeUInt32BE(where, KIND);
  line.writeUInt16BE(which, KIND + WHERE);
  return line;
}

/** Lines as what each adds to the one before (PNG's filter 2, Up), which is much the same from line to line. */
function predicted(lines: readonly Buffer[]): Buffer {
  const all = Buffer.alloc(lines.length * (LINE + 1));
  for (const [n, line] of lines.entries()) {
    const at = n * (LINE + 1);
    all.writeUInt8(2, at);
    for (let byte = 0; byte < LINE; byte++) {
      all.writeUInt8(((line[byte] ?? 0) - (lines[n - 1]?.[byte] ?? 0)) & 0xff, at + 1 + byte);
    }
  }
  return all;
}
