import type { Order } from './scenario.ts';
import { RESOURCES, signOrder } from './scenario.ts';
import type { Authorization } from './token.ts';
import { address } from './token.ts';
import type { TxBody } from './transactions.ts';
import type { World } from './world.ts';

const STRANGER = address('stranger');

/** Adds a block `later` ms from now; once all faults have stopped it takes everything that waits. */
export function mineBlock(world: World, later: number): void {
  world.nowMs += later;
  world.chain.mine(world.nowSeconds, world.calm);
}

/** Takes blocks away and mines others in their place, sometimes fewer. */
export function reorgChain(world: World, depth: number): void {
  if (world.chain.head - depth < world.chain.safe) world.deepReorged = true;
  world.chain.reorg(depth);
  const blocks = world.random.between(1, depth);
  for (let i = 0; i < blocks; i += 1) mineBlock(world, 500);
}

/** What nodes and the token's owner do: lose a transaction, raise the fee, block an author. */
export function disturbNode(world: World): void {
  const { chain, random } = world;
  const draw = random.next();
  if (draw < 0.35) {
    const nonce = random.pick([...chain.mempool.keys()]);
    if (nonce !== undefined && chain.mempool.get(nonce)?.from !== 'elsewhere') chain.mempool.delete(nonce);
  } else if (draw < 0.7) {
    chain.baseFee = random.pick([8, 10, 14, 25]) ?? 10;
  } else {
    const author = address(random.pick(['a1', 'a2', 'a3']) ?? 'a1');
    broadcast(world, { kind: 'block', author, blocked: random.chance(0.6) });
  }
}

/** What anybody may do with an authorization: submit it, cancel it, spend its nonce elsewhere, move the payer's money. */
export function actAsStranger(world: World, orders: readonly Order[], auths: Map<string, Authorization>): void {
  const { random } = world;
  const order = random.pick(orders);
  if (!order) return;
  const auth = auths.get(order.payment.id) ?? signOrder(order, world.nowSeconds);
  auths.set(order.payment.id, auth);
  const draw = random.next();
  if (draw < 0.42) broadcast(world, { kind: 'submit', auth });
  else if (draw < 0.56) cancel(world, auth);
  else if (draw < 0.63) broadcast(world, { kind: 'submit', auth: { ...auth, to: STRANGER } });
  else if (draw < 0.7) broadcast(world, { kind: 'submit', auth: { ...auth, value: auth.value - 1 } });
  else if (draw < 0.8) broadcast(world, decoy(auth, [...auths.values()]));
  else if (draw < 0.87) broadcast(world, { kind: 'transfer', from: auth.payer, to: STRANGER, value: 'all' });
  else if (draw < 0.95) broadcast(world, { kind: 'transfer', from: STRANGER, to: auth.payer, value: 300 });
  else broadcast(world, { kind: 'transfer', from: STRANGER, to: random.pick(RESOURCES)?.payTo ?? STRANGER, value: 7 });
}

/** What a queue goes on after by itself: a key that was used elsewhere more often is a person's to look at (`judgeNonce`). */
const MOST_ELSEWHERE = 5;

/** Somebody uses the relayer's key: whatever of ours has that nonce is never mined, unless a reorg brings it back. */
export function useKeyElsewhere(world: World): void {
  if (world.usedElsewhere >= MOST_ELSEWHERE) return;
  world.usedElsewhere += 1;
  const nonce = world.chain.relayerNonce;
  const tx = { hash: world.hash(), from: 'elsewhere', nonce, fee: 1_000, body: { kind: 'self' }, refused: false } as const;
  world.chain.mempool.set(nonce, tx);
}

/** The payer takes an authorization back; it counts once mined. */
export function cancel(world: World, auth: Authorization): void {
  broadcast(world, { kind: 'cancel', payer: auth.payer, nonce: auth.nonce });
}

/** One real payment and every other authorization of the payer paid to himself, in one transaction (safety 1). */
function decoy(real: Authorization, all: readonly Authorization[]): TxBody {
  const decoys = all.filter((auth) => auth.payer === real.payer && auth.nonce !== real.nonce);
  return { kind: 'decoy', decoys: decoys.map((auth) => ({ ...auth, to: auth.payer })), real };
}

function broadcast(world: World, body: TxBody): void {
  world.chain.others.push({ hash: world.hash(), from: 'other', nonce: -1, fee: Infinity, body, refused: false });
}
