import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsdc } from '../../modules/kernel/money/money.ts';
import { exportRows } from '../../modules/reports/use/exportRows.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { settlementRefKind } from '../../modules/webhooks/rules/event.ts';
import { csvRows } from '../../platform/csv.ts';
import { copiedRow } from '../support/copy.ts';

interface Leg {
  readonly atMs: number;
  readonly texts: readonly string[];
  readonly micro: bigint;
  readonly share: number;
  readonly wallet: string;
  readonly payer: string;
  readonly txHash: string | null;
}

const nasty = fc.constantFrom(
  '',
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\tx',
  '\rx',
  'a"b',
  'a,b',
  'a\nb',
  "'",
  'ü',
  '日本,',
  '\\N',
  '\\',
  'a=1',
  ',=',
);
const text = fc.oneof(
  nasty,
  fc.webPath(),
  fc.string({ unit: 'binary' }).map((any) => any.toWellFormed()),
);
const hex = (length: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const wallet = fc.oneof(
  hex(40).map((digits) => `0x${digits}`),
  nasty,
);
const legs: fc.Arbitrary<Leg[]> = fc.array(
  fc.record({
    atMs: fc.oneof(
      fc.integer({ min: -86_400_001, max: 86_400_001 }),
      fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
    ),
    texts: fc.array(text, { minLength: 6, maxLength: 6 }),
    micro: fc.bigInt({ min: -5n, max: 9_223_372_036_854_775_807n }),
    share: fc.oneof(fc.constantFrom(0, 1, 0.7, 0.00001, 0.000001, 1e-7, 1.5e-5), fc.double({ min: 0, max: 1, noNaN: true })),
    wallet,
    payer: wallet,
    txHash: fc.oneof(
      hex(64).map((digits) => `0x${digits}`),
      fc.constantFrom(null, 'transfer-1', ''),
    ),
  }),
  { maxLength: 12 },
);

/** What a leg's row says, cell by cell. */
const shown = ({
  atMs,
  texts: [host = '', slug = '', author = '', agent = '', jti = '', title = ''],
  micro,
  share,
  ...leg
}: Leg): string[] => [
  new Date(atMs).toISOString(),
  String(atMs),
  host,
  slug,
  'read',
  String(micro),
  formatUsdc(micro),
  author,
  shownWallet(leg.wallet),
  String(share),
  'author',
  leg.txHash ?? '',
  settlementRefKind(leg.txHash, 'live'),
  shownWallet(leg.payer),
  agent,
  jti,
  title,
  'payment',
  'crossing',
];

/** The leg as Postgres copies it out, a share with an exponent of two digits included. */
const copied = ({ atMs, texts: [host = '', slug = '', author = '', agent = '', jti = '', title = ''], ...leg }: Leg): string => {
  const share = leg.share !== 0 && leg.share < 1e-4 ? leg.share.toExponential().replace(/e-(\d)$/, 'e-0$1') : String(leg.share);
  const cells = [
    String(atMs),
    host,
    slug,
    'read',
    String(leg.micro),
    author,
    leg.wallet,
    share,
    'author',
    leg.txHash,
    'live',
    leg.payer,
  ];
  return copiedRow([...cells, agent, jti, title, 'payment', 'crossing']);
};

async function exported(pieces: readonly string[]): Promise<Buffer[]> {
  async function* given(): AsyncGenerator<Buffer> {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const found: Buffer[] = [];
  for await (const piece of exportRows(given())) found.push(piece);
  return found;
}

test('rows that are copied and rows that are decoded are the same bytes as CSV made of their cells', async () => {
  await fc.assert(
    fc.asyncProperty(legs, fc.nat({ max: 12 }), async (given, cut) => {
      const lines = given.map(copied);
      const pieces = [lines.slice(0, cut).join(''), lines.slice(cut).join('')].filter((piece) => piece !== '');
      const bytes = Buffer.concat(await exported(pieces));
      expect(bytes.toString('utf8')).toBe(csvRows(given.map(shown)));
    }),
    { numRuns: 500 },
  );
});

test('pieces have about one size whatever sizes rows come in, and a row longer than a piece is a piece', async () => {
  const leg = (slug: string): Leg => ({
    atMs: 0,
    texts: ['h', slug, 'ann', 'bot', ''],
    micro: 1n,
    share: 1,
    wallet: `0x${'a'.repeat(40)}`,
    payer: 'p',
    txHash: null,
  });
  const many = Array.from({ length: 3_000 }, (_, n) => leg(`page-${n}`));
  const long = leg(`,${'x'.repeat(200_000)}`);
  const rows = [...many, long, ...many];
  const pieces = await exported(rows.map(copied));
  expect(Buffer.concat(pieces).toString()).toBe(csvRows(rows.map(shown)));
  const sizes = pieces.map(({ length }) => length);
  expect(sizes.filter((size) => size > 65_536)).toHaveLength(1);
  expect(sizes.filter((size) => size < 60_000)).toHaveLength(2);
});
