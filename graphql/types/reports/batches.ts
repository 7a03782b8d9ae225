import type { Batch } from '../../../modules/reports/use/lists/lists.ts';
import { batchesOf } from '../../../modules/reports/use/lists/lists.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import { builder } from '../../schema/builder.ts';
import { identified, Node } from '../../schema/node.ts';
import { BatchStateName } from '../../schema/words.ts';

/** What a payment went out in. */
export const BatchType = builder.objectRef<Batch>('SettlementBatch');

identified(BatchType, {
  reads: 'earnings.read.all',
  isRowId: true,
  idOf: ({ batchId }) => batchId,
  find: async ({ deps }, site, id) => (await batchesOf(deps, site.tenantId, [id]))[0] ?? null,
});

BatchType.implement({
  interfaces: [Node],
  description: 'What a payment went out in: one workflow, one nonce of the relayer, up to a hundred payments.',
  fields: (t) => ({
    batchId: t.exposeID('batchId', { description: 'Its id.' }),
    network: t.exposeString('network', { description: 'The chain (CAIP-2).' }),
    relayer: t.string({ description: 'The address that pays its gas.', resolve: ({ relayer }) => shownWallet(relayer) }),
    nonce: t.string({ description: 'The relayer’s nonce.', resolve: ({ nonce }) => nonce.toString() }),
    state: t.field({ type: BatchStateName, description: 'Where it stands.', resolve: ({ state }) => state }),
    txHashes: t.exposeStringList('txHashes', { description: 'Every transaction signed for it, the first attempt first.' }),
    workflowId: t.exposeString('workflowId', { nullable: true, description: 'The Temporal workflow that sends it.' }),
    payments: t.exposeInt('payments', { description: 'How many payments it was signed with, of whatever site.' }),
    gasUsed: t.string({
      nullable: true,
      description: 'Gas that its transaction used; null until it is mined, and where that was not kept.',
      resolve: ({ gasUsed }) => gasUsed?.toString() ?? null,
    }),
    feeWei: t.string({
      nullable: true,
      description: 'What it cost in all, wei of the network’s coin; null until it is mined.',
      resolve: ({ feeWei }) => feeWei?.toString() ?? null,
    }),
    ownFeeWei: t.string({
      nullable: true,
      description: 'This site’s part of that.',
      resolve: ({ ownFeeWei }) => ownFeeWei?.toString() ?? null,
    }),
    createdAt: t.field({ type: 'EpochMs', description: 'When it was made.', resolve: ({ createdAtMs }) => createdAtMs }),
    closedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When its transaction was mined.',
      resolve: ({ closedAtMs }) => closedAtMs,
    }),
  }),
});
