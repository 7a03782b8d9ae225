import { createHash } from 'node:crypto';
import type { Sql } from '../../../../db/database.ts';
import { findMember } from '../../../identity/store/members.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { isLicenceSlug } from '../../../kernel/pages/resource.ts';
import { findLegalDetails } from '../../../tenants/store/legal.ts';
import type { AuthorSum } from '../../store/earnings/authorSums.ts';
import { sumAuthor } from '../../store/earnings/authorSums.ts';
import type { NamedBy } from '../../store/earnings/authors.ts';
import { listWallets } from '../../store/earnings/authors.ts';
import type { Corrections } from '../../store/earnings/earnings.ts';
import { readCorrections, readGroups, sumCrossings } from '../../store/earnings/earnings.ts';
import type { SettledSale } from '../../store/earnings/references.ts';
import { listSettledSales } from '../../store/earnings/references.ts';
import { listPageFacts } from '../../store/earnings/titles.ts';
import type { GroupTotals } from '../earnings.ts';
import { add, groupTotals, largestFirst } from '../earnings.ts';
import type { ReportFrame, ReportSite, Totals } from '../request.ts';
import { sumAuthors } from '../statements.ts';
import type { CutList, PageLine, StatementReport, TransactionLine } from './report.ts';
import { MAX_AUTHORS, MAX_PAGES, MAX_SALES } from './report.ts';

/** Whose statement, and of what window. */
export interface StatementOf {
  readonly site: ReportSite;
  readonly authorId: string | null;
  readonly frame: ReportFrame;
  /** By whose calendar the document says its window. */
  readonly timeZone: string;
}

/** Letters and digits that nobody takes for each other on the phone (Crockford's base 32). */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The number of a statement: 60 bits of a digest of what it is of. There is no counter, so that the same statement has the same number whoever
 * draws it, and whenever; one of a window that is not over is another one each time.
 */
function numberOf({ site, authorId, frame: { window, generatedAtMs } }: StatementOf): string {
  const of = JSON.stringify([site.tenantId, authorId, window.fromMs, Math.min(window.toMs ?? generatedAtMs, generatedAtMs)]);
  const digest = createHash('sha256').update(of).digest();
  const letters = Array.from(digest.subarray(0, 12), (byte) => DIGITS.charAt(byte % DIGITS.length)).join('');
  return letters.replace(/.{4}(?=.)/g, '$&-');
}

/** Reads a statement from one snapshot. Throws not_found for an author whom nothing of the site names. */
export async function readStatement(sql: Sql, asked: StatementOf): Promise<StatementReport> {
  const { site, authorId, frame, timeZone } = asked;
  const { tenantId, hosts } = site;
  const { totals, corrections, groups, wallets } =
    authorId === null ? await ofSite(sql, asked) : await ofAuthor(sql, asked, authorId);
  const sales = await listSettledSales(sql, { tenantId, authorId }, frame.window, MAX_SALES);
  const listed = cut(wallets, MAX_AUTHORS);
  const pages = cut(groups.filter(({ key }) => !isLicenceSlug(key)), MAX_PAGES); // biome-ignore format: one line
  const { facts } = await listPageFacts(sql, tenantId, pages.lines.map(({ key: slug }) => ({ slug, paymentId: null }))); // biome-ignore format: one line
  const licences = groups.filter(({ key }) => isLicenceSlug(key));
  return {
    ...frame,
    hosts,
    authorId,
    number: numberOf(asked),
    timeZone,
    publisher: (await findLegalDetails(sql, tenantId)) ?? { legalName: null, legalAddress: null },
    totals,
    corrections,
    pages: {
      ...pages,
      lines: pages.lines.map(({ key: slug, ...page }, n) => ({ ...page, slug, title: facts[n]?.title ?? null })),
    },
    licences: { ...together(licences), count: licences.length },
    wallets: {
      ...listed,
      lines: listed.lines.map(({ key: wallet, ...sums }) => ({ ...sums, wallet })),
    },
    transactions: transactionsOf(sales, totals),
  };
}

interface Group extends Totals {
  readonly key: string;
}

interface Sums {
  readonly totals: Totals;
  readonly corrections: Corrections;
  /** Pages and licences by slug, the largest first. */
  readonly groups: readonly (Group & Pick<PageLine, 'shares'>)[];
  /** By wallet, the largest first. */
  readonly wallets: readonly GroupTotals[];
}

async function ofSite(sql: Sql, { site: { tenantId }, frame: { window } }: StatementOf): Promise<Sums> {
  const scope = { tenantId, host: null, kind: null };
  const groups = groupTotals(await readGroups(sql, scope, window, { groupBy: 'slug' }));
  return {
    totals: add(await sumCrossings(sql, scope, window)),
    corrections: await readCorrections(sql, scope, window),
    groups: groups.map(({ authorId: _none, ...page }) => ({ ...page, shares: null })),
    wallets: await sumAuthors(sql, tenantId, window),
  };
}

async function ofAuthor(sql: Sql, { site: { tenantId }, frame: { window } }: StatementOf, authorId: string): Promise<Sums> {
  const sums = await sumAuthor(sql, tenantId, authorId, window);
  if (sums.length === 0) await requireKnown(sql, tenantId, authorId, window);
  const by = (of: AuthorSum['of']): (Group & Pick<PageLine, 'shares'>)[] =>
    [...Map.groupBy(sums.filter((sum) => sum.of === of), ({ key }) => key)] // biome-ignore format: one line
      .map(([key, rows]) => ({ key, ...add(rows.map((row) => ({ ...row, host: '' }))), shares: sharesOf(rows) }))
      .sort(largestFirst);
  const groups = by('page');
  const takenBack = sums.filter(({ of }) => of === 'correction');
  return {
    totals: together(groups),
    corrections: {
      count: takenBack.reduce((sum, { events }) => sum + Number(events), 0),
      micro: takenBack.reduce((sum, { micro }) => sum - micro, 0n),
    },
    groups,
    wallets: by('wallet').map(({ shares: _none, ...wallet }) => ({ ...wallet, authorId })),
  };
}

function sharesOf(sums: readonly AuthorSum[]): readonly [number, number] {
  return [Math.min(...sums.map(({ leastShare }) => leastShare)), Math.max(...sums.map(({ mostShare }) => mostShare))];
}

/**
 * An author without a sale in the window is one all the same if the roster has them, or a wallet was theirs by its end, or is now. Throws not_found for anybody
 * else.
 */
export async function requireKnown(sql: Sql, tenantId: string, authorId: string, window: NamedBy): Promise<void> {
  if (await findMember(sql, tenantId, authorId)) return;
  for (const namedBy of [window, { toMs: null }]) {
    if ((await listWallets(sql, tenantId, authorId, namedBy)).length > 0) return;
  }
  throw new ServiceError('not_found', 'author: no author of this site has this id', { parameter: 'author' });
}

function together(groups: readonly Totals[]): Totals {
  return {
    events: groups.reduce((sum, { events }) => sum + events, 0),
    reads: groups.reduce((sum, { reads }) => sum + reads, 0),
    citations: groups.reduce((sum, { citations }) => sum + citations, 0),
    grossMicro: groups.reduce((sum, { grossMicro }) => sum + grossMicro, 0n),
  };
}

function cut<Line extends Totals>(all: readonly Line[], most: number): CutList<Line> {
  const rest = all.slice(most);
  return { lines: all.slice(0, most), rest: rest.length, restMicro: together(rest).grossMicro };
}

/** Sales put together by what settled them, and what takes them back beside; those without a reference stay alone. */
function transactionsOf(sales: readonly SettledSale[], totals: Totals): CutList<TransactionLine> {
  const groups = Map.groupBy(sales, ({ reference, sign }, n) => (reference === null ? n : `${sign} ${reference}`)); // biome-ignore format: one line
  const lines = [...groups.values()].map((ofOne) => ({
    atMs: ofOne[0]?.atMs ?? 0,
    reference: ofOne[0]?.reference ?? null,
    micro: ofOne.reduce((sum, { micro }) => sum + micro, 0n),
  }));
  const listedMicro = lines.reduce((sum, { micro }) => sum + micro, 0n);
  const listed = sales.reduce((sum, { sign }) => sum + sign, 0);
  return { lines, rest: totals.events - listed, restMicro: totals.grossMicro - listedMicro };
}
