import type { Sql } from '../../../db/database.ts';
import { bytesOf } from '../../../db/hex.ts';

/** One Transfer log as read from the chain. */
export interface ChainTransferRow {
  readonly network: string;
  readonly txHash: string;
  readonly logPosition: number;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly blockTime: Date;
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amountMicro: bigint;
  /** Of the sender's authorization, when its AuthorizationUsed log stands right before. */
  readonly nonce: string | null;
}

/** Stores transfers as evidence; one already stored is brought to the block it stands in now, one of a closed month stays there. */
export async function recordTransfers(sql: Sql, rows: readonly ChainTransferRow[]): Promise<void> {
  if (rows.length === 0) return;
  const column = <T>(read: (row: ChainTransferRow) => T): T[] => rows.map(read);
  await sql.query(
    `insert into chain_transfer (network, tx_hash, log_position, log_index, block_number, block_hash, block_time, token,
       from_address, to_address, amount_micro, nonce)
     select * from unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bigint[], $6::bytea[], $7::timestamptz[],
       $8::text[], $9::text[], $10::text[], $11::numeric[], $12::text[])
       as read (network, hash, place, log, block, block_hash, at, token, sender, recipient, amount, nonce)
     where read.at >= (select archive.closed_until())
       or not archive.has_transfer(read.network, read.hash, read.place)
     order by 1, 2, 3
     on conflict (network, tx_hash, log_position) do update set
       log_index = excluded.log_index, block_number = excluded.block_number, block_hash = excluded.block_hash,
       block_time = excluded.block_time, read_at = now()
     where chain_transfer.block_hash <> excluded.block_hash`,
    [
      column((r) => r.network),
      column((r) => r.txHash),
      column((r) => r.logPosition),
      column((r) => r.logIndex),
      column((r) => r.blockNumber.toString()),
      column((r) => bytesOf(r.blockHash)),
      column((r) => r.blockTime),
      column((r) => r.token),
      column((r) => r.from),
      column((r) => r.to),
      column((r) => r.amountMicro.toString()),
      column((r) => r.nonce),
    ],
    'record-transfers',
  );
}
