import type { ReadingDeps } from '../../modules/paging/use/deps.ts';
import type { ListPage, PageRequest } from '../../modules/paging/use/pages.ts';
import { mapPage, pageOf } from '../../modules/paging/use/pages.ts';
import type { AuthorTotals } from '../../modules/reports/use/lists/authors.ts';
import { linesOfWallets, readAuthors } from '../../modules/reports/use/lists/authors.ts';
import type { Leg } from '../../modules/reports/use/lists/lists.ts';
import { legsOfAuthor } from '../../modules/reports/use/lists/lists.ts';
import type { ReportFrame } from '../../modules/reports/use/request.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { REPORT_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import type { Connected } from '../schema/connections.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { CrossingKind } from '../schema/enums.ts';
import { filterText, hostFilter } from '../schema/inputs.ts';
import { Tenant } from '../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../schema/windows.ts';
import { LegConnection } from './crossings.ts';
import { EarningsSums } from './reports/earnings.ts';

type Author = AuthorTotals & { readonly tenantId: string };

const StatementType = builder.objectRef<Author>('Statement').implement({
  description: 'What one author’s wallet was paid in a window; totals are exact whatever a page of lines shows.',
  interfaces: [EarningsSums],
  fields: (t) => ({
    wallet: t.string({ description: 'The author’s wallet.', resolve: ({ wallet }) => shownWallet(wallet) }),
    authorId: t.exposeString('authorId', { nullable: true, description: 'The author’s id, where one is known.' }),
    lines: t.loadable({
      type: LegConnection,
      description: 'What it was paid for, newest first.',
      complexity: listCost,
      args: pageArgs,
      byPath: true,
      load: (authors: Author[], { deps }, page) => linesOf(deps, authors, pageRequest(page, 'NEWEST')),
      resolve: (author) => author,
    }),
  }),
});

/** A page of each author's lines, in the order of the authors: all authors of one report in one statement. */
async function linesOf(deps: ReadingDeps, authors: readonly Author[], request: PageRequest): Promise<Connected<Leg>[]> {
  const found = new Map<Author, Connected<Leg>>();
  const reportOf = ({ tenantId, window, host, kind }: Author): string => JSON.stringify([tenantId, window, host, kind]);
  for (const members of Map.groupBy(authors, reportOf).values()) {
    const report = members[0] as Author;
    const { tenantId, window, host, kind } = report;
    const filter = { window, host, kind, includePlatform: false };
    const wallets: string[] = members.map(({ wallet }) => wallet);
    const of = { tenantId, key: 'author', values: wallets, filter, countOf: linesOfWallets(deps, report, members) };
    const pages = await legsOfAuthor.pages(deps, of, request);
    for (const author of members) {
      const page = pages[wallets.indexOf(author.wallet)] as ListPage<Leg>;
      found.set(author, connect(page));
    }
  }
  return authors.map((author) => found.get(author) as Connected<Leg>);
}

const StatementConnection = connectionOf(StatementType, 'Statement', 'statements, the largest first');

interface StatementsReport extends ReportFrame {
  readonly authors: readonly AuthorTotals[];
  readonly totalMicro: bigint;
  readonly tenantId: string;
}

const StatementsType = builder.objectRef<StatementsReport>('Statements').implement({
  description: 'Payout statements of a window: every author that was paid. Platform legs are in none.',
  interfaces: [Report],
  fields: (t) => ({
    totalMicro: t.field({ type: 'Micro', description: 'All statements together.', resolve: ({ totalMicro }) => totalMicro }),
    authors: t.int({ description: 'How many statements there are.', resolve: ({ authors }) => authors.length }),
    statements: t.field({
      type: StatementConnection,
      description: 'One for each author, the largest first.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ authors, tenantId }, page) => {
        const request = pageRequest(page, 'LARGEST');
        const found = pageOf(authors, ({ wallet }) => wallet, request);
        return connect(mapPage(found, (author) => ({ ...author, tenantId })));
      },
    }),
  }),
});

builder.objectField(Tenant, 'statements', (t) =>
  t.field({
    type: StatementsType,
    nullable: true,
    description: 'Authors and what each was paid in a window, line by line. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Of reads or citations alone.' }),
    },
    resolve: async (site, { window, host, kind }, { deps }) => {
      const asked = { ...askedWindow(window, deps.clock()), host: hostFilter(host), kind: kind ?? null };
      return { ...(await readAuthors(deps, site, asked)), tenantId: site.tenantId };
    },
  }),
);
