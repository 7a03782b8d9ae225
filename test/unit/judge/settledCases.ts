import type { Case } from './cases.ts';
import { at, GONE, MOVED, MOVING, PASSED, PROOF, paid, paymentIn, RAIL_PROOF, safeAt, sightOf, spent } from './samples.ts';

const now = at(900);
const settled = paymentIn('settled');
const final = paymentIn('final');
const byRail = paymentIn('settled', { facts: { evidence: RAIL_PROOF } });
const higher = { ...PROOF, blockNumber: 100n };
const reorged = { event: { type: 'reorged', transfer: PROOF } } as const;
const safe = { event: { type: 'safe', transfer: PROOF } } as const;

/** Settled and final payments: is the evidence still there, where it was, and safe? */
export const SETTLED_CASES: readonly Case[] = [
  { name: 'settled, no node answers: nothing is taken back', payment: settled, sight: null, now, verdict: 'wait' },
  { name: 'settled, long over, no node answers: wait', payment: settled, sight: null, now: at(9_000), verdict: 'wait' },
  {
    name: 'settled, where it was, nobody asked for the safe block: wait',
    payment: settled,
    sight: spent(paid()),
    now,
    verdict: 'wait',
  },
  {
    name: 'settled, where it was, above the safe block: wait',
    payment: settled,
    now,
    sight: spent(paid(), safeAt(98n)),
    verdict: 'wait',
  },
  { name: 'settled, at the safe block: final', payment: settled, now, sight: spent(paid(), safeAt(99n)), verdict: safe },
  { name: 'settled, below the safe block: final', payment: settled, now, sight: spent(paid(), safeAt(100n)), verdict: safe },
  { name: 'final, below the safe block: nothing new', payment: final, now, sight: spent(paid(), safeAt(100n)), verdict: 'wait' },
  {
    name: 'settled, moved to another block: the evidence follows',
    payment: settled,
    now,
    sight: spent(paid({ transfer: higher, timeSeconds: 899n }), safeAt(98n)),
    verdict: { event: { type: 'evidence', transfer: higher, from: PROOF }, timeSeconds: 899n },
  },
  {
    name: 'settled, moved to another log of the block: the evidence follows',
    payment: settled,
    now,
    sight: spent(paid({ transfer: { ...PROOF, logIndex: 4 } })),
    verdict: { event: { type: 'evidence', transfer: { ...PROOF, logIndex: 4 }, from: PROOF }, timeSeconds: 898n },
  },
  {
    name: 'settled, moved to another transaction in a lower block: the evidence follows',
    payment: settled,
    now,
    sight: spent(paid({ transfer: { txHash: '0x02', logIndex: 3, blockNumber: 97n } }), safeAt(98n)),
    verdict: {
      event: { type: 'evidence', transfer: { txHash: '0x02', logIndex: 3, blockNumber: 97n }, from: PROOF },
      timeSeconds: 898n,
    },
  },
  {
    name: 'final, moved by a deep reorganisation: the evidence follows',
    payment: final,
    now,
    sight: spent(paid({ transfer: higher })),
    verdict: { event: { type: 'evidence', transfer: higher, from: PROOF }, timeSeconds: 898n },
  },
  {
    name: 'final, another transaction pays it now: corrected first',
    payment: final,
    now,
    verdict: reorged,
    sight: spent(paid({ transfer: { txHash: '0x02', logIndex: 3, blockNumber: 97n } }), { head: 99n }),
  },
  {
    name: 'final, a node that is behind shows another transaction: wait',
    payment: final,
    now,
    verdict: 'wait',
    sight: spent(paid({ transfer: { txHash: '0x02', logIndex: 3, blockNumber: 97n } }), { head: 98n }),
  },
  {
    name: 'final without evidence, which no decision makes, and the chain shows some: it is taken',
    now,
    sight: spent(paid()),
    payment: paymentIn('final', { facts: { evidence: null } }),
    verdict: { event: { type: 'evidence', transfer: PROOF }, timeSeconds: 898n },
  },
  {
    name: 'settled, the price asks for two blocks and it moved to the newest: it follows at once',
    now,
    payment: paymentIn('settled', { amountMicro: 5_000n }),
    sight: spent(paid({ valueMicro: 5_000n, transfer: higher })),
    verdict: { event: { type: 'evidence', transfer: higher, from: PROOF }, timeSeconds: 898n },
  },
  { name: 'settled, nonce unused: the evidence is gone', payment: settled, now, sight: sightOf(), verdict: reorged },
  { name: 'final, nonce unused: the evidence is gone', payment: final, now, sight: sightOf(), verdict: reorged },
  {
    name: 'settled, gone, the node is exactly as far as the evidence was: reorged',
    payment: settled,
    now,
    sight: sightOf({ head: 99n }),
    verdict: reorged,
  },
  {
    name: 'settled, the node is one block behind the evidence: wait',
    payment: settled,
    now,
    sight: sightOf({ head: 98n }),
    verdict: 'wait',
  },
  {
    name: 'settled, the node behind the evidence shows a cancellation: wait',
    payment: settled,
    now,
    sight: spent({ kind: 'cancelled', blockNumber: 97n }, { head: 98n }),
    verdict: 'wait',
  },
  {
    name: 'settled, cancelled on the chain of now: the evidence is gone',
    payment: settled,
    now,
    sight: spent({ kind: 'cancelled', blockNumber: 98n }),
    verdict: reorged,
  },
  {
    name: 'settled, paid to another on the chain of now: the evidence is gone',
    payment: settled,
    now,
    sight: spent(paid({ to: '0xother' })),
    verdict: reorged,
  },
  {
    name: 'settled, another value on the chain of now: the evidence is gone',
    payment: settled,
    now,
    sight: spent(paid({ valueMicro: 999n })),
    verdict: reorged,
  },
  { name: 'settled, nonce used and no log says how: wait', payment: settled, now, sight: spent(null), verdict: 'wait' },
  {
    name: 'settled without evidence, which no decision makes: wait',
    now,
    sight: sightOf(),
    verdict: 'wait',
    payment: paymentIn('settled', { facts: { evidence: null } }),
  },
  {
    name: 'settled without evidence, and the chain shows some: it is taken',
    now,
    sight: spent(paid()),
    payment: paymentIn('settled', { facts: { evidence: null } }),
    verdict: { event: { type: 'evidence', transfer: PROOF }, timeSeconds: 898n },
  },
  {
    name: 'settled on chain, whatever a rail says of an id: the chain decides',
    payment: settled,
    now,
    sight: spent(paid(), { rail: GONE, ...safeAt(99n) }),
    verdict: safe,
  },
  {
    name: 'settled by a rail, its id stands: final',
    payment: byRail,
    now,
    sight: sightOf({ rail: MOVED }),
    verdict: { event: { type: 'safe', transfer: RAIL_PROOF } },
  },
  {
    name: 'settled by a rail, its id is gone: reorged',
    payment: byRail,
    now,
    sight: sightOf({ rail: GONE }),
    verdict: { event: { type: 'reorged', transfer: RAIL_PROOF } },
  },
  {
    name: 'settled by a rail, its id stands, the chain shows a transfer as well: final by its id',
    payment: byRail,
    now,
    sight: spent(paid(), { rail: MOVED }),
    verdict: { event: { type: 'safe', transfer: RAIL_PROOF } },
  },
  {
    name: 'settled by a rail, its id is gone, nonce used and no log says how: reorged',
    payment: byRail,
    now,
    sight: spent(null, { rail: GONE }),
    verdict: { event: { type: 'reorged', transfer: RAIL_PROOF } },
  },
  {
    name: 'settled by a rail, another id stands: wait',
    payment: byRail,
    now,
    verdict: 'wait',
    sight: sightOf({ rail: { kind: 'moved', id: 'transfer-8' } }),
  },
  {
    name: 'settled by a rail, another id is gone: wait',
    payment: byRail,
    now,
    verdict: 'wait',
    sight: sightOf({ rail: { kind: 'gone', id: 'transfer-8' } }),
  },
  { name: 'settled by a rail that is moving: wait', payment: byRail, now, sight: sightOf({ rail: MOVING }), verdict: 'wait' },
  {
    name: 'settled by a rail that says nothing, nonce unused: wait',
    payment: byRail,
    now,
    sight: sightOf({ simulation: PASSED }),
    verdict: 'wait',
  },
  { name: 'settled by a rail, no node answers: wait', payment: byRail, now, sight: null, verdict: 'wait' },
];
