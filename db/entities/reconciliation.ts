import { defineEntity, p } from '@mikro-orm/postgresql';
import { bytes, uint256 } from './columns.ts';

export const ChainCursor = defineEntity({
  name: 'ChainCursor',
  tableName: 'chain_cursor',
  properties: {
    network: p.text().primary(),
    nextBlock: p.bigint('string').nullable(),
    comparedBlock: p.bigint('string').nullable(),
    safeBlock: p.bigint('string').nullable(),
    correctedBlock: p.bigint('string').defaultRaw('0'),
    readAt: p.datetime(3).nullable(),
    sweptAt: p.datetime(3).nullable(),
    genesisHash: p.text().nullable(),
    router: p.text().nullable(),
    routerCodeHash: p.text().nullable(),
  },
});

/** Columns of `chain_transfer`, here and where its closed months stand. */
export const chainTransfer = {
  network: p.text().primary(),
  txHash: p.text().primary(),
  logPosition: p.integer().primary(),
  logIndex: p.integer(),
  blockNumber: p.bigint('string'),
  blockHash: bytes(),
  blockTime: p.datetime(3),
  token: p.text(),
  fromAddress: p.text(),
  toAddress: p.text(),
  amountMicro: uint256(),
  nonce: p.text().nullable(),
  readAt: p.datetime(3).defaultRaw('now()'),
};

export const ChainTransfer = defineEntity({ name: 'ChainTransfer', tableName: 'chain_transfer', properties: chainTransfer });

export const LostSettlement = defineEntity({
  name: 'LostSettlement',
  tableName: 'lost_settlement',
  properties: {
    network: p.text().primary(),
    asset: p.text().primary(),
    payer: p.text().primary(),
    nonce: p.text().primary(),
    txHash: p.text().$type<`0x${string}`>(),
    relayer: p.text(),
    relayerNonce: p.bigint('string'),
    blockNumber: p.bigint('string'),
    blockTime: p.datetime(3),
    payTo: p.text(),
    amountMicro: uint256(),
    legs: p.json().$type<readonly { readonly toAddress: string; readonly amountMicro: string }[]>(),
    tenantIds: p.array().columnType('uuid[]'),
    foundAt: p.datetime(3).defaultRaw('now()'),
  },
});
