/** What every program of this folder prints: one line of JSON that says what came of the purchase. */
export function say(status, page, receipt) {
  console.log(JSON.stringify({ status, page, receipt: receipt ?? null }));
}

/** The page to buy, and the key that pays. */
export const [, , url] = process.argv;
export const privateKey = process.env.BUYER_PRIVATE_KEY;
