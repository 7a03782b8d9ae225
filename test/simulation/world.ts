import type { Sight } from '../../modules/kernel/payment/sight.ts';
import type { Verdict } from '../../modules/settlement/rules/judge.ts';
import type { Call, Process } from './actor.ts';
import { Actor, ask, Crash, RpcDown } from './actor.ts';
import type { View } from './chain.ts';
import { FakeChain } from './chain.ts';
import { Coverage } from './coverage.ts';
import { checkBatch, checkChange, checkLedger, checkSend, checkStrike, History } from './invariants.ts';
import type { Random } from './random.ts';
import type { Faults } from './scenario.ts';
import type { Applied, BatchRow, BeforeCommit, Change, Maybe, PaymentRow, SignedTx, Store } from './store.ts';
import { address } from './token.ts';
import type { ChainTx } from './transactions.ts';

/** Everything a schedule consists of. Processes reach chain and store only through it, so that it can break them. */
export class World {
  readonly random: Random;
  readonly faults: Faults;
  readonly chain: FakeChain;
  readonly store: Store;
  readonly coverage: Coverage;
  readonly history = new History();
  readonly queue: string[] = [];
  /** Batches whose workflow runs. */
  readonly held = new Set<string>();
  actors: Actor[] = [];
  nowMs = 1_000_000;
  down = false;
  gasEmpty = false;
  calm = false; // all faults have stopped
  deepReorged = false;
  /** What the last round saw of the relayer's count ahead of ours. */
  seenNonce: bigint | null = null;
  usedElsewhere = 0;
  private serial = 0;

  constructor(parts: Pick<World, 'random' | 'faults' | 'coverage'>, openStore: (nowMs: () => number) => Store) {
    this.random = parts.random;
    this.faults = parts.faults;
    this.coverage = parts.coverage;
    const purse = () => this.random.pick([90, 300, 600, 2000]) ?? 0;
    this.chain = new FakeChain(
      this.random,
      new Map([
        [address('p1'), purse()],
        [address('p2'), purse()],
        [address('c1'), purse()],
        [address('stranger'), 10_000],
      ]),
    );
    this.store = openStore(() => this.nowMs);
  }

  /** The clock in seconds, whole. */
  get nowSeconds(): number {
    return Math.floor(this.nowMs / 1000);
  }

  /** The hash of a transaction nobody has had in this schedule: 32 bytes, as they are stored. */
  hash(): string {
    return `0x${this.name('').padStart(64, '0')}`;
  }

  /** A name nobody has had in this schedule. */
  name(prefix: string): string {
    this.serial += 1;
    return `${prefix}${this.serial}`;
  }

  /** Starts a process; with `durable` the same one runs again after a crash. */
  spawn(make: () => Process, durable: boolean): void {
    this.actors.push(new Actor(make(), durable ? make : null, this.nowMs + this.random.between(0, 400)));
  }

  /** Reads from a node, which may be some blocks behind; throws RpcDown during an outage. */
  rpc<T>(read: (view: View) => T): T {
    if (this.down) throw new RpcDown();
    const isBehind = !this.calm && this.random.chance(this.faults.behind);
    return read(this.chain.view(isBehind ? this.random.between(1, 3) : 0));
  }

  /** True when a node has a nonce's state and not yet its log. */
  isMissing(): boolean {
    return !this.calm && this.random.chance(this.faults.behind / 4);
  }

  /** Sends bytes; the process may die before or after, the answer may be lost although the node took them. */
  send(raw: ChainTx, step: string): ReturnType<FakeChain['send']> {
    if (this.down) throw new RpcDown();
    const crash = this.drawCrash([step]);
    if (crash === 'before') this.die([step], 'before call');
    checkSend(this, raw);
    const answer = this.chain.send(raw);
    if (crash === 'after') this.die([step], 'after call, before reply');
    if (!this.calm && this.random.chance(this.faults.lostReply)) throw new RpcDown();
    this.coverage.hit(step, 'no crash');
    return answer;
  }

  /** One database transaction, with its crash points and the invariants after its commit. */
  write<T>(
    label: string | null,
    transaction: (beforeCommit: BeforeCommit) => Maybe<T>,
    committed?: (value: T) => void,
  ): Maybe<T> {
    let changes: readonly Change[] = [];
    let steps: string[] = [];
    let crash: 'before' | 'after' | null = null;
    const result = transaction((list) => {
      changes = list;
      steps = list.map((change) => `${change.event}:${change.before.state}`);
      if (label !== null) steps.push(label);
      crash = steps.length === 0 ? null : this.drawCrash(steps);
      if (crash === 'before') this.die(steps, 'before commit');
    });
    const finish = (value: T): T => {
      committed?.(value);
      if (crash === 'after') this.die(steps, 'after commit');
      for (const step of steps) this.coverage.hit(step, 'no crash');
      return value;
    };
    if (result instanceof Promise)
      return result.then(async (value) => this.check(changes, await this.audit(changes)) ?? finish(value));
    this.check(changes, this.audit(changes) as readonly never[]);
    return finish(result);
  }

  /** Writes what was judged of a payment, a strike of its payer with it. */
  *decide(
    row: PaymentRow,
    verdict: Verdict,
    judged: { readonly sight: Sight | null; readonly reorgs: number },
  ): Generator<Call, Applied, unknown> {
    return yield* ask(() => {
      this.history.judged = { ...judged, verdict };
      return this.write(
        null,
        (beforeCommit) => this.store.apply(row.id, verdict, beforeCommit),
        ({ outcome }) => {
          if (outcome === 'changed' && verdict.strike) checkStrike(this, row, verdict);
        },
      );
    });
  }

  /** Notes bytes that are stored from now on, and that their batch holds one nonce. */
  stored(batch: BatchRow | null): void {
    if (batch) checkBatch(this, batch);
    for (const attempt of batch?.attempts ?? []) this.history.bytes.set(attempt.raw.hash, attempt);
  }

  /** The same for one attempt. */
  storedAttempt(signed: SignedTx): void {
    this.history.bytes.set(signed.raw.hash, signed);
  }

  private audit(changes: readonly Change[]) {
    return this.store.audit([...new Set(changes.map((change) => change.paymentId))]);
  }

  private check(changes: readonly Change[], audited: Awaited<ReturnType<Store['audit']>>): undefined {
    for (const row of audited) this.history.see(row);
    for (const change of changes) checkChange(this, change);
    for (const row of audited) checkLedger(row);
  }

  private drawCrash(steps: readonly string[]): 'before' | 'after' | null {
    if (this.calm || this.faults.crash === 0) return null;
    const weight = Math.max(...steps.map(Coverage.weight));
    if (!this.random.chance(Math.min(0.6, this.faults.crash * weight))) return null;
    return this.random.chance(0.5) ? 'before' : 'after';
  }

  private die(steps: readonly string[], point: string): never {
    for (const step of steps) this.coverage.hit(step, point);
    throw new Crash();
  }
}
