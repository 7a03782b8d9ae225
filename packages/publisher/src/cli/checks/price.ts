import { dollars } from '../../core/usdc.ts';
import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { isRecord, microOfUsd, readOffer } from '../offer.ts';
import { looksLikeHtml } from '../world.ts';
import { noPage } from './offer.ts';

/** The price of one page, wherever it is shown. Micro-USDC; null where it is not shown. */
interface Facts {
  readonly page: string | null;
  /** What a buyer is charged. */
  readonly quotedMicro: bigint | null;
  readonly offeredMicro: readonly bigint[];
  readonly crawlerPrice: string | null;
  /** Text of the small page for browsers; null when none came. */
  readonly html: string | null;
  /** The price as its owner sees it. */
  readonly ownersMicro: bigint | null;
}

/** Is the price that is shown the price that is charged? */
export const priceCheck: Check<Facts> = {
  id: 'price',
  probe: async (world) => {
    const page = await world.page();
    if (page === null) return { page, quotedMicro: null, offeredMicro: [], crawlerPrice: null, html: null, ownersMicro: null };
    const [reply, quote, self] = [await world.asAgent(page), await world.quote(page), await world.self()];
    const price = quote?.ok && isRecord(quote.body) ? quote.body['price'] : null;
    const read = reply.came ? readOffer(reply.headers['payment-required'], reply.body) : null;
    const shown = await world.visit(page, { as: 'agent', headers: { accept: 'text/html' } });
    const owners = self?.row?.priceUsdc ?? null;
    return {
      page,
      quotedMicro: typeof price === 'number' && Number.isSafeInteger(price) ? BigInt(price) : null,
      offeredMicro: read?.ok ? read.offer.amountsMicro : [],
      crawlerPrice: reply.came ? (reply.headers['crawler-price'] ?? null) : null,
      html: shown.came && shown.status === 402 && looksLikeHtml(shown) ? shown.body : null,
      ownersMicro: owners === null ? null : microOfUsd(owners.toFixed(6)),
    };
  },
  judge: (facts) => {
    if (facts.page === null) return [noPage()];
    const { quotedMicro } = facts;
    if (quotedMicro === null)
      return [
        unknown(`What ${facts.page} costs could not be asked, or it is free.`, 'See the findings about service, key and offer.'),
      ];
    const problems = mismatches(facts, quotedMicro);
    return problems.length > 0 ? problems : [ok(`The price shown is the price charged: ${dollars(quotedMicro.toString())}.`)];
  },
};

function mismatches({ offeredMicro, crawlerPrice, html, ownersMicro }: Facts, charged: bigint): Finding[] {
  const price = dollars(charged.toString());
  const findings: Finding[] = [];
  const other = offeredMicro.find((micro) => micro !== charged);
  if (other !== undefined) {
    findings.push(
      problem(
        `The offer says ${dollars(other.toString())}, the service charges ${price}.`,
        'Let no cache keep offers or quotes for longer than a minute.',
      ),
    );
  }
  const header = /^USD (\S+)$/.exec(crawlerPrice ?? '')?.[1];
  if (crawlerPrice !== null && microOfUsd(header ?? '') !== charged) {
    findings.push(
      problem(`crawler-price says "${crawlerPrice}", the service charges ${price}.`, 'Let the package alone set this header.'),
    );
  }
  if (html !== null && !html.includes(price.slice('USD '.length))) {
    findings.push(
      warning(
        `The page for browsers does not name the price of ${price}.`,
        'Let the package make this page, or name the price on yours.',
      ),
    );
  }
  if (ownersMicro !== null && ownersMicro > 0n && ownersMicro !== charged) {
    findings.push(
      problem(
        `The owner's price is ${dollars(ownersMicro.toString())}, buyers are charged ${price}.`,
        'A change of price takes up to a minute to arrive: look again. If it stays, set the price again.',
      ),
    );
  }
  return findings;
}
