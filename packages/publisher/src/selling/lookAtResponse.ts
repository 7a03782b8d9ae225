/** Has a web-standard answer looked at. */
import type { Look } from '../looking.ts';
import { LOOK_BYTES } from '../looking.ts';
import { follow, orArticle, wholeOf } from './soldResponse.ts';

/** The site's own answer, untouched where it is no page, or what goes out instead. `article` as of `orArticle`. Throws what making the answer throws. */
export async function lookAt(
  look: Look,
  request: Request,
  make: (asked: Request) => Response | Promise<Response>,
  article?: string,
): Promise<{ readonly answer: Response; readonly isOwn: boolean }> {
  let isOwn = true;
  const finish: Look['sale']['finish'] = async (made) => {
    const result = await look.sale.finish(made);
    isOwn = result.act !== 'answer';
    return result;
  };
  try {
    const page = await orArticle(make, article)(look.asksWhole ? wholeOf(request) : request);
    if (!look.mayBePage(page.status, page.headers.get('content-type') ?? '')) return { answer: page, isOwn };
    const gate = { maxPageBytes: LOOK_BYTES, onLarge: () => undefined };
    const answer = await follow(gate, { act: 'sell', sale: { ...look.sale, finish } }, request, () => page);
    return { answer, isOwn };
  } finally {
    look.sale.abandon();
  }
}
