import type { Random } from './random.ts';
import type { Log, TokenState } from './token.ts';
import { copyToken } from './token.ts';
import type { ChainTx } from './transactions.ts';
import { execute } from './transactions.ts';

/** A mined transaction: `time` is its block's, in seconds. */
export interface Receipt {
  readonly tx: ChainTx;
  readonly block: number;
  readonly time: number;
  readonly ok: boolean;
  readonly logs: readonly Log[];
  /** Place of its first log in the block. */
  readonly firstLog: number;
  readonly blockHash: string;
}

/** What one node shows at one moment: the chain up to a block that it has reached. */
export interface View {
  readonly head: number;
  readonly safe: number;
  readonly safeTime: number;
  readonly token: TokenState;
  /** Transactions of the relayer at the head and at the safe block. */
  readonly count: number;
  readonly safeCount: number;
  /** A receipt, or null: not mined up to this head. */
  receiptOf(hash: string): Receipt | null;
  /** Where an authorization's log stands, or null. */
  spentIn(key: string): Receipt | null;
}

/** Where an authorization was spent, as the canonical chain shows it. */
export interface Spending {
  readonly how: 'used' | 'cancelled';
  readonly receipt: Receipt;
  readonly log: Log;
}

/** How a node answers a sent transaction. */
export type SendAnswer = 'accepted' | 'known' | 'nonce_too_low' | 'underpriced' | 'refused';

interface Block {
  readonly time: number;
  readonly receipts: readonly Receipt[];
  readonly before: { readonly token: TokenState; readonly relayerNonce: number };
}

/** Blocks behind the head that count as safe; ordinary reorgs are shallower. */
export const SAFE_LAG = 4;

/** A chain in memory: blocks, a mempool by nonce, reorgs, and the token. Every choice comes from the seed. */
export class FakeChain {
  readonly blocks: Block[] = [];
  readonly mempool = new Map<number, ChainTx>();
  readonly others: ChainTx[] = [];
  readonly receipts = new Map<string, Receipt>();
  readonly spendings = new Map<string, Spending>();
  /** Every AuthorizationUsed + next-log Transfer that ever stood in a block, canonical or not. */
  readonly archive = new Map<string, { readonly key: string; readonly transfer: Log; readonly tx: ChainTx }>();
  /** Nonces that were mined in some block, canonical or not. */
  readonly everMined = new Map<number, Set<string>>();
  token: TokenState;
  relayerNonce = 0;
  baseFee = 10;
  reorgs = 0;
  /** The highest block number there ever was. */
  highest = 0;
  private safeSeen = 0;
  private mined = 0;
  private readonly random: Random;

  constructor(random: Random, balances: ReadonlyMap<string, number>) {
    this.random = random;
    this.token = { balances: new Map(balances), spent: new Map(), blocked: new Set() };
  }

  /** Number of the newest block; 0 before the first. */
  get head(): number {
    return this.blocks.length;
  }

  /** Number of the newest safe block; 0 when there is none. */
  get safe(): number {
    this.safeSeen = Math.max(this.safeSeen, this.head - SAFE_LAG);
    return this.safeSeen;
  }

  /** Time of a block in seconds; 0 for block 0. */
  timeOf(block: number): number {
    return this.blocks[block - 1]?.time ?? 0;
  }

  /** Takes a transaction of the relayer as a node would. A second call with the same one is `known`. */
  send(tx: ChainTx): SendAnswer {
    if (tx.refused) return 'refused';
    if (tx.nonce < this.relayerNonce) return 'nonce_too_low';
    const pending = this.mempool.get(tx.nonce);
    if (pending?.hash === tx.hash) return 'known';
    if (pending && tx.fee < pending.fee * 1.1) return 'underpriced';
    this.mempool.set(tx.nonce, tx);
    return 'accepted';
  }

  /** Adds a block at `time` with some of what waits; `eager` takes everything that can be taken. */
  mine(time: number, eager: boolean): void {
    const before = { token: copyToken(this.token), relayerNonce: this.relayerNonce };
    const receipts: Receipt[] = [];
    this.mined += 1;
    const blockHash = `0xblock${this.mined}`;
    let firstLog = 0;
    for (const tx of this.choose(eager)) {
      const { ok, logs } = execute(this.token, tx, time);
      receipts.push({ tx, block: this.head + 1, time, ok, logs, firstLog, blockHash });
      firstLog += logs.length;
    }
    this.blocks.push({ time, receipts, before });
    this.highest = Math.max(this.highest, this.head);
    for (const receipt of receipts) this.remember(receipt);
  }

  /** Takes the newest `depth` blocks away; what stood in them goes back to the mempool or is lost. */
  reorg(depth: number): void {
    this.reorgs += 1;
    if (this.head - depth < this.safe) this.safeSeen = Math.max(0, this.head - depth - SAFE_LAG);
    for (let i = 0; i < depth && this.blocks.length > 0; i += 1) {
      const block = this.blocks.pop() as Block;
      this.token = block.before.token;
      this.relayerNonce = block.before.relayerNonce;
      for (const receipt of block.receipts) this.forget(receipt);
    }
  }

  /** What a node shows that is `lag` blocks behind the others. */
  view(lag: number): View {
    const head = Math.max(0, this.head - lag);
    const safe = Math.min(this.safe, Math.max(0, head - SAFE_LAG));
    const shown = (receipt: Receipt | undefined): Receipt | null => (receipt && receipt.block <= head ? receipt : null);
    return {
      head,
      safe,
      safeTime: this.timeOf(safe),
      token: this.blocks[head]?.before.token ?? this.token,
      count: this.blocks[head]?.before.relayerNonce ?? this.relayerNonce,
      safeCount: this.blocks[safe]?.before.relayerNonce ?? this.relayerNonce,
      receiptOf: (hash) => shown(this.receipts.get(hash)),
      spentIn: (key) => shown(this.spendings.get(key)?.receipt),
    };
  }

  /** The log right after AuthorizationUsed, when it is a Transfer (safety 1). */
  static transferAfter(receipt: Receipt, log: Log): Log | null {
    const next = receipt.logs[receipt.logs.indexOf(log) + 1];
    return next?.kind === 'transfer' ? next : null;
  }

  private choose(eager: boolean): ChainTx[] {
    const chosen: ChainTx[] = [];
    const waiting = this.others.splice(0);
    for (const tx of this.random.shuffle(waiting)) {
      if (eager || this.random.chance(0.6)) chosen.push(tx);
      else this.others.push(tx);
    }
    let place = 0;
    for (let nonce = this.relayerNonce; ; nonce += 1) {
      const tx = this.mempool.get(nonce);
      if (!tx || tx.fee < this.baseFee || !(eager || this.random.chance(0.75))) break;
      this.mempool.delete(nonce);
      this.relayerNonce = nonce + 1;
      place = this.random.between(place, chosen.length);
      chosen.splice(place, 0, tx);
      place += 1;
    }
    return chosen;
  }

  private remember(receipt: Receipt): void {
    this.receipts.set(receipt.tx.hash, receipt);
    if (receipt.tx.from !== 'other') {
      const mined = this.everMined.get(receipt.tx.nonce) ?? new Set();
      this.everMined.set(receipt.tx.nonce, mined.add(receipt.tx.hash));
    }
    for (const log of receipt.logs) {
      if ((log.kind !== 'used' && log.kind !== 'cancelled') || log.key === undefined) continue;
      this.spendings.set(log.key, { how: log.kind, receipt, log });
      const transfer = log.kind === 'used' ? FakeChain.transferAfter(receipt, log) : null;
      if (!transfer) continue;
      const place = `${receipt.tx.hash}:${transfer.index}:${receipt.block}`;
      this.archive.set(`${place}:${log.key}`, { key: log.key, transfer, tx: receipt.tx });
    }
  }

  private forget(receipt: Receipt): void {
    this.receipts.delete(receipt.tx.hash);
    for (const log of receipt.logs) {
      if (log.key !== undefined && this.spendings.get(log.key)?.receipt === receipt) this.spendings.delete(log.key);
    }
    const isKept = receipt.tx.from === 'elsewhere' || this.random.chance(0.6); // who uses our key keeps at it
    if (!isKept) return;
    if (receipt.tx.from === 'other') this.others.push(receipt.tx);
    else if (!this.mempool.has(receipt.tx.nonce)) this.mempool.set(receipt.tx.nonce, receipt.tx);
  }
}
