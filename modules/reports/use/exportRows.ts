import { cellsOfRow } from '../../../db/copyText.ts';
import { csvRows } from '../../../platform/csv.ts';
import { formatUsdc } from '../../kernel/money/money.ts';
import { settlementRefKind } from '../../webhooks/rules/event.ts';
import type { ExportedLeg } from '../store/earnings/exportLegs.ts';
import { EXPORT_COLUMNS } from '../store/earnings/exportLegs.ts';
import { shownWallet } from './wallet.ts';

/** The columns, in order. */
const COLUMNS = [
  'at_iso',
  'at_ms',
  'host',
  'slug',
  'kind',
  'amount_micro',
  'amount_usdc',
  'author_id',
  'wallet',
  'share',
  'role',
  'settlement_ref',
  'settlement_ref_kind',
  'payer',
  'agent',
  'licence_jti',
  'title',
  'payment_id',
  'crossing_id',
];

/** The file is made and sent in pieces of about this size. */
const PIECE_BYTES = 65_536;
const MAX_REMEMBERED = 10_000;

const { atMs, micro, authorId, wallet, share, role, txHash, mode, payer, agent } = EXPORT_COLUMNS;
const COLUMN_COUNT = Object.keys(EXPORT_COLUMNS).length;

/** The first line of the file. */
export function csvHeader(): string {
  return csvRows([COLUMNS]);
}

/** What keeps rows from being copied: something escaped, quotes, the start of a formula (what else platform/csv.ts minds is escaped). */
const IS_SPECIAL = /[\\"]|(?:^|[,\n])[=+\-@]/;

/** How cells are shown that are not shown as they come. */
type Shown = Readonly<Record<'time' | 'wallet' | 'usdc' | 'share', (text: string) => string>>;

/**
 * Legs as rows of the export, in pieces of about one size whatever sizes they come in. Nearly every row is plain, its cells standing
 * in the file as they came: those are cut out and put together. A row with a special character is decoded, and made of its cells.
 * Text is Latin-1 on the way, one character a byte, so that bytes of other alphabets stay what they are.
 */
export async function* exportRows(legs: AsyncIterable<Buffer>, pieceBytes = PIECE_BYTES): AsyncGenerator<Buffer> {
  const shown = createShown();
  const starts = new Int32Array(COLUMN_COUNT + 1);
  let page = Buffer.allocUnsafe(pieceBytes);
  let used = 0;
  for await (const piece of legs) {
    const rows = piece.toString('latin1');
    const isPlain = !IS_SPECIAL.test(rows);
    for (let start = 0; start < rows.length; start = starts[COLUMN_COUNT] as number) {
      const end = rows.indexOf('\n', start);
      starts[COLUMN_COUNT] = end + 1;
      const row =
        isPlain || !IS_SPECIAL.test(rows.slice(start, end))
          ? plainRow(rows, findCells(rows, start, starts), shown)
          : specialRow(rows.slice(start, end), shown);
      if (used + row.length > page.length) {
        if (used > 0) yield page.subarray(0, used);
        page = Buffer.allocUnsafe(Math.max(pieceBytes, row.length));
        used = 0;
      }
      used += page.write(row, used, 'latin1');
    }
  }
  if (used > 0) yield page.subarray(0, used);
}

function createShown(): Shown {
  return {
    time: (text) => new Date(Number(text)).toISOString(),
    wallet: remembered(shownWallet),
    usdc: remembered((text) => formatUsdc(BigInt(text))),
    // Postgres writes 1e-05 where JavaScript writes 0.00001.
    share: remembered((text) => String(Number(text))),
  };
}

/** Answers of `work`, the same text worked out once; `MAX_REMEMBERED` of them at most. */
function remembered(work: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    // A part of a string keeps all of it in memory: what is remembered is a copy.
    const key = Buffer.from(text).toString();
    const answer = work(key);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(key, answer);
    return answer;
  };
}

/** Writes down where the cells of a plain row begin; where the next row does stands there already. */
function findCells(rows: string, start: number, starts: Int32Array): Int32Array {
  starts[0] = start;
  for (let column = 1, at = start; column < COLUMN_COUNT; column++) {
    at = rows.indexOf(',', at) + 1;
    starts[column] = at;
  }
  return starts;
}

function plainRow(rows: string, starts: Int32Array, shown: Shown): string {
  const cell = (column: number) => rows.slice(starts[column], (starts[column + 1] as number) - 1);
  /** Cells as they stand, each with its comma. */
  const cells = (from: number, to: number) => rows.slice(starts[from], starts[to]);
  const refKind = settlementRefKind(cell(txHash), cell(mode) as ExportedLeg[10]);
  const lastCells = rows.slice(starts[agent], (starts[COLUMN_COUNT] as number) - 1);
  return (
    `${shown.time(cell(atMs))},${cells(atMs, authorId)}${shown.usdc(cell(micro))},${cells(authorId, wallet)}` +
    `${shown.wallet(cell(wallet))},${shown.share(cell(share))},${cells(role, mode)}${refKind},${shown.wallet(cell(payer))},${lastCells}\r\n`
  );
}

function specialRow(copied: string, shown: Shown): string {
  const leg = cellsOfRow(Buffer.from(copied, 'latin1').toString('utf8')) as unknown as ExportedLeg;
  const [at, host, slug, kind, amount, author, to, part, as, ref, how, from, by, ...ids] = leg;
  const row = [
    shown.time(at),
    at,
    host,
    slug,
    kind,
    amount,
    shown.usdc(amount),
    author,
    shown.wallet(to),
    shown.share(part),
    as,
    ref ?? '',
    settlementRefKind(ref, how),
    shown.wallet(from),
    by,
    ...ids,
  ];
  return Buffer.from(csvRows([row]), 'utf8').toString('latin1');
}
