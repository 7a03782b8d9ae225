/** What every program of this folder is given: the key that pays, and the pages to buy. */
export const privateKey = process.env.BUYER_PRIVATE_KEY;
const urls = process.argv.slice(2);

/** Buys each page and prints one line of JSON about it: status (0 and the reason if the client threw), page and receipt as they came. */
export async function buyEach(buy) {
  for (const url of urls) {
    const said = await buy(url).catch((error) => ({ status: error.response?.status ?? 0, page: String(error), receipt: null }));
    console.log(JSON.stringify(said));
  }
}
