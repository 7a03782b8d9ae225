import { z } from 'zod';
import { pageOf } from '../../../modules/paging/use/pages.ts';
import type { WhatIfSums } from '../../../modules/pricing/rules/whatIf.ts';
import type { WhatIf, WhatIfGroup } from '../../../modules/reports/use/whatIf.ts';
import { readWhatIf } from '../../../modules/reports/use/whatIf.ts';
import { REPORT_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { CrossingKind, WhatIfGroupByName } from '../../schema/enums.ts';
import { filterText, hostFilter } from '../../schema/inputs.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';
import { AnsweredType } from './answered.ts';

const Sums = builder.interfaceRef<WhatIfSums>('WhatIfSums').implement({
  description: 'Requests for single pages, as they were and at the price; licences are in none of it.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    paid: t.exposeInt('paid', { description: 'Requests that were paid.' }),
    denied: t.exposeInt('denied', { description: 'Requests that were denied, answered ones too.' }),
    blocked: t.exposeInt('blocked', { description: 'Requests that the crawler policy blocks, at any price.' }),
    earnedMicro: t.field({ type: 'Micro', description: 'What paid requests paid.', resolve: ({ earnedMicro }) => earnedMicro }),
    missedMicro: t.field({
      type: 'Micro',
      description:
        'What denied and blocked requests were asked for, answered ones too, at the prices of then; 0 of a gate that named none.',
      resolve: ({ missedMicro }) => missedMicro,
    }),
    ifPaidMicro: t.field({
      type: 'Micro',
      description: 'What paid requests come to at the price, had each of them been made all the same.',
      resolve: ({ ifPaidMicro }) => ifPaidMicro,
    }),
    ifDeniedMicro: t.field({
      type: 'Micro',
      description: 'What unanswered requests come to at the price, had every one of them paid: the most there could have been.',
      resolve: ({ ifDeniedMicro }) => ifDeniedMicro,
    }),
    ifBlockedMicro: t.field({
      type: 'Micro',
      description: 'What blocked requests come to at the price, had they been charged and paid.',
      resolve: ({ ifBlockedMicro }) => ifBlockedMicro,
    }),
  }),
});

const Totals = builder.objectRef<WhatIfSums>('WhatIfTotals').implement({
  description: 'The whole window at a price.',
  interfaces: [Sums, AnsweredType],
});

const Group = builder.objectRef<WhatIfGroup>('WhatIfGroup').implement({
  description: 'One agent, or one page, at a price.',
  interfaces: [Sums, AnsweredType],
  fields: (t) => ({ key: t.exposeString('key', { description: 'The agent’s label, or the slug.' }) }),
});

const GroupConnection = connectionOf(Group, 'WhatIfGroup', 'groups that the price brings most of first');

const WhatIfType = builder.objectRef<WhatIf>('WhatIf').implement({
  description:
    'What a price would have brought in a window, from what was observed. Nothing is forecast: requests are those that were made, and ' +
    'nobody comes or goes because of the price. What would really have been earned lies somewhere from 0 to `ifPaidMicro` and ' +
    '`ifDeniedMicro` together: a dearer page is bought less often, and an agent that was refused may never pay.',
  interfaces: [Report],
  fields: (t) => ({
    readMicro: t.field({ type: 'Micro', description: 'What a read costs here.', resolve: ({ prices }) => prices.read }),
    citationMicro: t.field({
      type: 'Micro',
      description: 'What a citation costs here.',
      resolve: ({ prices }) => prices.citation,
    }),
    totals: t.field({ type: Totals, description: 'The whole window.', resolve: ({ totals }) => totals }),
    truncated: t.boolean({
      description: 'True when there are more groups than the 1,000 that the price brings most of.',
      resolve: ({ isCut }) => isCut,
    }),
    breakdown: t.field({
      type: GroupConnection,
      nullable: true,
      description: 'The window by `groupBy`; null unless that is given.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ breakdown }, page) => {
        const request = pageRequest(page, 'MOST');
        return breakdown && connect(pageOf(breakdown, ({ key }) => key, request));
      },
    }),
  }),
});

const decimal = z.string().max(25, 'is too long');

builder.objectField(Tenant, 'whatIf', (t) =>
  t.field({
    type: WhatIfType,
    nullable: true,
    description:
      'What another price would have brought: paid, denied and blocked requests of a window, as they were and at that price. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      priceUsdc: t.arg.string({
        required: true,
        description: 'USD of a read as a decimal, at most 6 places: a price that `setPrices` would take.',
        validate: decimal,
      }),
      citationMultiplier: t.arg.string({
        description: 'How many reads a citation costs, a decimal; left out: as many as now.',
        validate: decimal.nullish(),
      }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Reads or citations alone.' }),
      groupBy: t.arg({ type: WhatIfGroupByName, description: 'What `breakdown` is by.' }),
    },
    resolve: (site, { window, priceUsdc, citationMultiplier, host, kind, groupBy }, { deps }) =>
      readWhatIf(deps, site, {
        ...askedWindow(window, deps.clock()),
        host: hostFilter(host),
        kind: kind ?? null,
        groupBy: groupBy ?? null,
        prices: { priceUsdc, citationMultiplier: citationMultiplier ?? site.self.citationMultiplier },
      }),
  }),
);
