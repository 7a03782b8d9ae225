import type { AuthorTotals } from '../../services/graph/authors.ts';
import { readAuthors } from '../../services/graph/authors.ts';
import { legs } from '../../services/graph/lists.ts';
import type { ListPage } from '../../services/graph/pages.ts';
import { pageOf } from '../../services/graph/pages.ts';
import type { ReportFrame } from '../../services/reports/request.ts';
import { shownWallet } from '../../services/reports/wallet.ts';
import { builder } from '../builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../connections.ts';
import { CrossingKind } from '../enums.ts';
import { filterText, lower } from '../inputs.ts';
import { Tenant } from '../site.ts';
import { askedWindow, Report, WindowInput } from '../windows.ts';
import { LegConnection } from './crossings.ts';
import { EarningsSums, REPORT_COST } from './earnings.ts';

type Author = AuthorTotals & { readonly tenantId: string };

/** A statement's lines are a statement of SQL each: few authors at once. */
const LINES_COST = 10;

const StatementType = builder.objectRef<Author>('Statement').implement({
  description: 'What one author’s wallet was paid in a window; totals are exact whatever a page of lines shows.',
  interfaces: [EarningsSums],
  fields: (t) => ({
    wallet: t.string({ description: 'The author’s wallet.', resolve: ({ wallet }) => shownWallet(wallet) }),
    authorId: t.exposeString('authorId', { nullable: true, description: 'The author’s id, where one is known.' }),
    lines: t.field({
      type: LegConnection,
      description: 'What it was paid for, newest first.',
      complexity: (args) => ({ ...listCost(args), field: LINES_COST }),
      args: pageArgs,
      resolve: async (author, page, { deps }) => {
        const request = pageRequest(page, 'NEWEST');
        const { wallet, window, host, kind } = author;
        const which = { author: wallet, window, host, kind, includePlatform: false };
        return connect(await legs.page(deps, author.tenantId, which, request), request);
      },
    }),
  }),
});

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
        const found: ListPage<AuthorTotals> = pageOf(authors, ({ wallet }) => wallet, request);
        const rows = found.rows.map(({ row, cursor }) => ({ row: { ...row, tenantId }, cursor }));
        return connect({ ...found, rows }, request);
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
      host: t.arg.string({ description: 'On this host alone.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Of reads or citations alone.' }),
    },
    resolve: async (site, { window, host, kind }, { deps }) => {
      const asked = { ...askedWindow(window, deps.clock()), host: lower(host), kind: kind ?? null };
      return { ...(await readAuthors(deps, site, asked)), tenantId: site.tenantId };
    },
  }),
);
