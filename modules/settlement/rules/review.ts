import type { Sight } from '../../kernel/payment/sight.ts';

/**
 * Why a payment under review that `judge` waits for may not be closed by a person: the chain shows what became of it, or will. Null: it
 * may. That is where its authorization is used and no node shows the log of it, and where a rail moves the money under an id of its own
 * and never says how that ended. Closing decides nothing: a recheck has it watched again.
 */
export function whyReviewStays({ nonce, safe, spending, rail }: Sight): string | null {
  if (spending !== null)
    return 'the chain shows what the authorization was used for: it is decided when enough blocks stand on that';
  if (rail?.kind === 'moving') return null;
  if (nonce === 'unused') return 'the authorization is unused: it is decided when a safe block has passed its end';
  if (safe === null || safe.nonce === 'unused') return 'the authorization was used in a block that no safe block has passed';
  return null;
}
