import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Sample } from '../sample.ts';

/** Are there pages that nobody pays for, because the service does not know whom to pay? */
export const freePagesCheck: Check<Sample> = {
  id: 'free-pages',
  probe: (world) => world.sample(),
  judge: ({ looks, missing }) => {
    const withVerdict = (...verdicts: readonly string[]) =>
      looks.filter(({ verdict }) => verdicts.includes(verdict)).map(({ path }) => path);
    const [asked, priced] = [looks.length - withVerdict('failed').length, withVerdict('priced').length];
    if (asked === 0) return [notAsked(looks.length, missing)];
    const findings: Finding[] = [];
    const unpaid = withVerdict('no_credits');
    if (unpaid.length > 0) findings.push(wantOfAuthors(unpaid, priced));
    const zero = withVerdict('no_price');
    if (zero.length > 0) findings.push(warning(`The price is 0: ${some(zero)}.`, 'Set a price, if these pages are for sale.'));
    const unexplained = withVerdict('free');
    if (unexplained.length > 0) {
      findings.push(
        unknown(
          `${some(unexplained)}: free, and this service does not say why.`,
          'See that these pages have authors and a price.',
        ),
      );
    }
    if (findings.length > 0) return findings;
    return [ok(`${priced} of ${asked} pages that were looked at have a price; none is free for want of authors.`)];
  },
};

function wantOfAuthors(unpaid: readonly string[], priced: number): Finding {
  const todo = 'Name their authors (credits), or set a default payee for the site.';
  const says = `${unpaid.length} of the pages looked at ${unpaid.length === 1 ? 'is' : 'are'} free, because nobody is named to be paid: ${some(unpaid)}.`;
  return priced === 0 ? problem(says, todo) : warning(says, todo);
}

function notAsked(named: number, missing: Sample['missing']): Finding {
  if (named > 0) return unknown('What pages cost could not be asked.', 'Settle the findings about service, key and proof first.');
  const says = missing === 'no_sitemap' ? 'The site has no sitemap that could be read.' : 'The sitemap has no page in scope.';
  return unknown(
    `${says} No pages were looked at.`,
    'Name pages: --page /articles/… (as often as you like), or serve /sitemap.xml.',
  );
}

function some(paths: readonly string[]): string {
  return paths.length <= 3 ? paths.join(', ') : `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more`;
}
