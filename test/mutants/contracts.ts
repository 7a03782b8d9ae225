import type { Mutant } from './mutant.ts';

const blocked = 'test/contract/blocked.test.ts';
const router = 'contracts/SplitRouter.sol';
const refused = 'an author whom the token refuses holds up nobody';
const littleGas = 'an author who can be paid is paid at once, whoever pays out around and with however little gas';
const oneLeg = 'one leg of another weight than 1 is the wallet itself, and nothing waits at it';
const order = 'the order of legs, weights and wallets that a payout accepts is the split’s own, also around a refused author';

/** Bugs in the contracts, which are compiled with the bug for the test. */
export const CONTRACT_MUTANTS: readonly Mutant[] = [
  {
    id: 'refused-part-to-the-next',
    rule: 4,
    bug: 'the part of an author whom the token refuses waits at the first author’s place',
    edits: [{ file: router, search: '_waitingOf(Legs.wallet(legs[i]))', replace: '_waitingOf(Legs.wallet(legs[0]))' }],
    test: { file: blocked, name: refused },
  },
  {
    id: 'less-gas-than-promised',
    rule: 4,
    bug: 'a call may get less gas than its cap, so that a stranger who sends a batch with little gas makes good payments fail',
    edits: [
      {
        file: router,
        search: 'if (available - available / 64 < gasLimit + RESERVE_GAS) revert NotEnoughGas();',
        replace: 'if (available < RESERVE_GAS) revert NotEnoughGas();',
      },
    ],
    test: { file: 'test/contract/attacks.test.ts', name: 'whatever gas a batch is given' },
  },
  {
    id: 'leg-gas-too-low',
    rule: 4,
    bug: 'the gas that a payment gets is less than USDC takes for a new wallet',
    edits: [{ file: router, search: 'LEG_GAS = 200_000', replace: 'LEG_GAS = 30_000' }],
    test: { file: blocked, name: littleGas },
  },
  {
    id: 'around-one-leg',
    rule: 4,
    bug: 'what waits for a wallet can be paid out around that wallet',
    edits: [
      { file: router, search: 'if (legs.length < 2) revert NotASplit();', replace: 'if (legs.length < 1) revert NotASplit();' },
    ],
    test: { file: blocked, name: oneLeg },
  },
  {
    id: 'waiting-of-any-weight',
    rule: 4,
    bug: 'one leg of any weight has a place of its own, at which nothing of his waits',
    edits: [
      {
        file: router,
        search: 'if (legs.length == 0 || (legs.length == 1 && Legs.weight(legs[0]) != 1)) revert NotASplit();',
        replace: 'if (legs.length == 0) revert NotASplit();',
      },
    ],
    test: { file: blocked, name: oneLeg },
  },
  {
    id: 'paid-and-waiting',
    rule: 4,
    bug: 'the first author, who was paid, gets his part once more where parts wait',
    edits: [{ file: router, search: 'if (paid) continue;', replace: 'if (paid && i > 0) continue;' }],
    test: { file: blocked, name: 'whatever is sent, blocked and paid out in whatever order' },
  },
  {
    id: 'deployed-in-any-order',
    rule: 4,
    bug: 'a split is deployed for legs in any order',
    edits: [{ file: router, search: '        legs.requireCanonical(address(this), payTo);\n', replace: '' }],
    test: { file: blocked, name: order },
  },
];
