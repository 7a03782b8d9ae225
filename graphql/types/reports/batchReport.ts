import type { BatchReport } from '../../../modules/reports/use/batches.ts';
import { readBatches } from '../../../modules/reports/use/batches.ts';
import { REPORT_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';

type Sums = BatchReport['networks'][number];

const OfBatches = builder.objectRef<Sums['paymentsABatch']>('OfBatches').implement({
  description: 'What batches have: in the middle, and nearly at the top.',
  fields: (t) => ({
    p50: t.exposeFloat('p50', { nullable: true, description: 'Half of the batches have no more; null where none is known.' }),
    p95: t.exposeFloat('p95', { nullable: true, description: 'Nineteen in twenty of them have no more.' }),
  }),
});

const OfNetwork = builder.objectRef<Sums>('BatchesOfNetwork').implement({
  description:
    'What the batches of one network carried and cost. A batch holds payments of several sites, who share what it costs.',
  fields: (t) => ({
    network: t.exposeString('network', { description: 'The chain (CAIP-2).' }),
    batches: t.exposeInt('batches', { description: 'Batches that are mined and carry a payment of the window.' }),
    payments: t.exposeInt('payments', { description: 'All payments that these batches were signed with, of whatever site.' }),
    ownPayments: t.exposeInt('ownPayments', { description: 'Payments of this site and window among them.' }),
    paymentsABatch: t.field({
      type: OfBatches,
      description: 'How many payments a batch was signed with.',
      resolve: ({ paymentsABatch }) => paymentsABatch,
    }),
    gasUsed: t.string({
      nullable: true,
      description: 'Gas that they used, as far as it was kept; null: of none.',
      resolve: ({ gasUsed }) => gasUsed?.toString() ?? null,
    }),
    gasAPayment: t.field({
      type: OfBatches,
      description: 'Gas that a batch used for each of its payments, rounded down.',
      resolve: ({ gasAPayment }) => gasAPayment,
    }),
    feeWei: t.string({
      description: 'What they cost, wei of the network’s coin: gas, and what their bytes cost on the chain below.',
      resolve: ({ feeWei }) => feeWei.toString(),
    }),
    ownFeeWei: t.string({
      description: 'This site’s part of that, by the gas its payments were planned with; it is charged to the gas budget.',
      resolve: ({ ownFeeWei }) => ownFeeWei.toString(),
    }),
  }),
});

const BatchReportType = builder.objectRef<BatchReport>('BatchReport').implement({
  description:
    'What the batches cost that carry the live payments of a window; one that went out again is in its last batch alone.',
  interfaces: [Report],
  fields: (t) => ({
    networks: t.field({
      type: [OfNetwork],
      description: 'By network, the one with the most batches first.',
      resolve: ({ networks }) => [...networks],
    }),
  }),
});

builder.objectField(Tenant, 'batches', (t) =>
  t.field({
    type: BatchReportType,
    nullable: true,
    description:
      'Fill and cost of the batches that payments went out in; reads every payment of the window. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: { window: t.arg({ type: WindowInput, description: 'When the payments were stored.' }) },
    resolve: (site, { window }, { deps }) =>
      readBatches({ database: deps.reading, clock: deps.clock }, site, askedWindow(window, deps.clock())),
  }),
);
