import type { Rail } from '../rails.ts';
import { confirmWithFacilitator, sweepFacilitator } from './confirm.ts';
import { claimForFacilitator } from './submit.ts';
import { wordsOfWatched } from './words.ts';

/** An x402 facilitator that executes authorizations for us. The chain decides whatever it says, but for ids of its own. */
export const facilitatorRail: Rail = {
  send: claimForFacilitator,
  confirm: confirmWithFacilitator,
  sweep: sweepFacilitator,
  words: wordsOfWatched,
};
