import type { Mutant } from './mutant.ts';

const src = 'packages/publisher/src';
const decide = 'test/unit/publisher/decide.test.ts';
const bounds = 'test/unit/publisher/bounds.test.ts';
const held = 'test/unit/publisher/held-page.test.ts';
const aside = 'test/e2e/publisher-aside.test.ts';
const budget = 'test/unit/publisher/header-budget.test.ts';
const coding = 'test/unit/publisher/sold-coding.test.ts';

/** Bugs in what stands in front of publishers' pages: a page that goes out unpaid, or a buyer who pays for none or twice. */
export const PUBLISHER_MUTANTS: readonly Mutant[] = [
  {
    id: 'gate-offers-while-undecided',
    rule: 15,
    bug: 'a payment on its way is answered with an offer, and its buyer signs another',
    edits: [
      { file: `${src}/core/decide.ts`, search: "status === 402 && code !== 'settlement_pending'", replace: 'status === 402' },
    ],
    test: { file: decide, name: 'verify answers ' },
  },
  {
    id: 'gate-offers-in-an-outage',
    rule: 15,
    bug: 'a verify that did not answer is taken for a refusal',
    edits: [{ file: `${src}/core/decide.ts`, search: '  if (status === 402 &&', replace: '  if (status !== 503 &&' }],
    test: { file: decide, name: 'verify answers ' },
  },
  {
    id: 'gate-sells-errors',
    rule: 15,
    bug: 'a page that could not be made is paid for',
    edits: [{ file: `${src}/core/decide.ts`, search: 'status >= 200 && status < 300 && bytes > 0', replace: 'bytes > 0' }],
    test: { file: decide, name: 'a page of status ' },
  },
  {
    id: 'gate-gives-pages-by-their-name',
    rule: 15,
    bug: 'a page under the name of a style or a picture is given away',
    edits: [
      {
        file: `${src}/core/aside.ts`,
        search: "if (asked === 'name') return DOCUMENT.test(type);",
        replace: "if (asked === 'name') return false;",
      },
    ],
    test: { file: 'test/unit/publisher/aside.test.ts', name: 'what /ping answers to programs' },
  },
  {
    id: 'gate-gives-articles-named-as-files',
    rule: 15,
    bug: 'an article whose name ends as a file does is given to whoever asks for it as JSON',
    edits: [
      {
        file: `${src}/core/aside.ts`,
        search: "return INTERFACE.test(path) || NAME.test(path) || ROOT_CHECK.test(path) ? 'name' : 'file';",
        replace: "return CHECK.test(path) && !ROOT_CHECK.test(path) ? 'file' : 'name';",
      },
    ],
    test: { file: aside, name: 'a page that nobody has asked for yet' },
  },
  {
    id: 'gate-gives-articles-named-as-checks',
    rule: 15,
    bug: 'an article that is called as a health check is given to whoever asks for it as JSON',
    edits: [
      {
        file: `${src}/core/aside.ts`,
        search: "NAME.test(path) || ROOT_CHECK.test(path) ? 'name' : 'file';",
        replace: "NAME.test(path) || CHECK.test(path) ? 'name' : 'file';",
      },
    ],
    test: { file: 'test/unit/publisher/aside.test.ts', name: 'an article may be called /articles/ping' },
  },
  {
    id: 'gate-gives-refused-pages-by-their-name',
    rule: 15,
    bug: 'a page that its owner refuses to an agent is given under the name of a file',
    edits: [
      {
        file: `${src}/gate.ts`,
        search: "return decision.act === 'serve' ? null :",
        replace: "return decision.act !== 'offer' ? null :",
      },
    ],
    test: { file: aside, name: 'a page that its owner refuses' },
  },
  {
    id: 'held-page-without-end',
    rule: 10,
    bug: 'a server that does not wait fills its memory while a payment is looked at',
    edits: [
      {
        file: `${src}/selling/heldPage.ts`,
        search: "const isLong = this.#state === 'held' && this.#bytes",
        replace: 'const isLong = this.#bytes',
      },
    ],
    test: { file: 'test/unit/publisher/held-page.test.ts', name: 'a page whose server writes on' },
  },
  {
    id: 'gate-gives-pages-in-another-form',
    rule: 15,
    bug: 'whoever asks for a page as JSON, or in parts, has it for nothing',
    edits: [
      {
        file: `${src}/core/aside.ts`,
        search: 'return !isFile && !NO_PAGE.test(type);',
        replace: 'return PAGE.test(type);',
      },
    ],
    test: { file: aside, name: 'a page that nobody has asked for yet' },
  },
  {
    id: 'gate-gives-pages-by-their-method',
    rule: 15,
    bug: 'whoever asks with POST gets the page without paying',
    edits: [
      {
        file: `${src}/looking.ts`,
        search: 'return bytes > 0 && (!isAside || isKnown(page) || !isAcknowledgement(chunks));',
        replace: 'return bytes > 0 && !isAside;',
      },
    ],
    test: { file: aside, name: 'POST /articles/p3 is no way round' },
  },
  {
    id: 'gate-renders-for-whoever-asks',
    rule: 15,
    bug: 'each unpaid request has the page made once more',
    edits: [
      {
        file: `${src}/looking.ts`,
        search: "if (answer !== null && method === 'GET') pages.set(nameOfPage(page), now());",
        replace: '',
      },
    ],
    test: { file: aside, name: 'a page is made once' },
  },
  {
    id: 'gate-checks-without-bound',
    rule: 15,
    bug: 'one good licence spends all that the key of a site may ask, and no sale gets through',
    edits: [
      {
        file: `${src}/knowing/licences.ts`,
        search: "if (!mayAsk(own, OF_ONE) || !mayAsk(ofAll, OF_ALL)) return 'busy';",
        replace: '',
      },
    ],
    test: { file: 'test/unit/publisher/licence-bounds.test.ts', name: 'sixteen licences' },
  },
  {
    id: 'gate-checks-one-licence-alone',
    rule: 15,
    bug: 'the holder of one licence has all others at the site told to come back',
    edits: [{ file: `${src}/knowing/licences.ts`, search: 'if (!mayAsk(own, OF_ONE) || ', replace: 'if (' }],
    test: { file: 'test/unit/publisher/licence-bounds.test.ts', name: 'one licence is asked about eight times' },
  },
  {
    id: 'gate-counts-tokens-as-licences',
    rule: 15,
    bug: 'the holder of one licence fetches token after token, and has the share of a licence with each',
    edits: [{ file: `${src}/knowing/licences.ts`, search: "typeof licence === 'string' ? licence : jti", replace: 'jti' }],
    test: { file: 'test/unit/publisher/licence-bounds.test.ts', name: 'tokens of one licence share' },
  },
  {
    id: 'gate-honours-what-it-could-not-check',
    rule: 15,
    bug: 'a caller who asks too much reads by a licence that was revoked',
    edits: [
      {
        file: `${src}/knowing/licences.ts`,
        search: "!mayAsk(ofAll, OF_ALL)) return 'busy';",
        replace: '!mayAsk(ofAll, OF_ALL)) return true;',
      },
    ],
    test: { file: 'test/unit/publisher/licence-bounds.test.ts', name: 'sixteen licences' },
  },
  {
    id: 'gate-sells-empty-coding',
    rule: 15,
    bug: 'a page that a compressing filter emptied is paid for: twenty bytes of gzip',
    edits: [
      {
        file: `${src}/selling/sale.ts`,
        search: ' && (!made.chunks || (await hasContent(made.chunks, made.encoding)))',
        replace: '',
      },
    ],
    test: { file: coding, name: 'a page that a filter emptied' },
  },
  {
    id: 'gate-sells-two-lengths',
    rule: 15,
    bug: 'a page is paid for that no client can read: with a length, and in chunks besides',
    edits: [
      { file: `${src}/selling/soldResponse.ts`, search: 'isForCaches(name) || isHopByHop(name)', replace: 'isForCaches(name)' },
    ],
    test: { file: coding, name: 'without headers of its connection' },
  },
  {
    id: 'gate-sells-nothing-for-money',
    rule: 15,
    bug: 'an empty page is paid for',
    edits: [{ file: `${src}/core/decide.ts`, search: ' && bytes > 0;', replace: ';' }],
    test: { file: decide, name: 'a page of status ' },
  },
  {
    id: 'gate-takes-one-of-two-payments',
    rule: 12,
    bug: 'of two different payments in one request one is settled',
    edits: [
      { file: `${src}/request.ts`, search: "isTwo ? { state: 'two' } :", replace: "isTwo && v1 === '' ? { state: 'two' } :" },
    ],
    test: { file: 'test/unit/publisher/who.test.ts', name: 'two headers with one payment are one' },
  },
  {
    id: 'gate-reads-paths-with-case',
    rule: 17,
    bug: 'a page spelled in capitals is none, and a server that ignores case sends it free',
    edits: [
      {
        file: `${src}/core/page.ts`,
        search: 'slugOf(articlePrefixes.map(lower), lower(path)) !== null',
        replace: 'slugOf(articlePrefixes, path) !== null',
      },
    ],
    test: { file: 'test/unit/publisher/page.test.ts', name: 'a path that differs from a priced one' },
  },
  {
    id: 'a-refusal-is-an-outage',
    rule: 15,
    bug: 'a page whose price a buyer can make unavailable is free meanwhile',
    edits: [{ file: `${src}/telling/failures.ts`, search: "if (code === 'credits_unavailable') return false;", replace: '' }],
    test: { file: bounds, name: 'a quote answered with ' },
  },
  {
    id: 'a-bad-address-is-free',
    rule: 15,
    bug: 'an address that the service refuses is served as if it were away',
    edits: [{ file: `${src}/knowing/quotes.ts`, search: 'if (failure.status === 400)', replace: 'if (failure.status === 418)' }],
    test: { file: bounds, name: 'a quote answered with ' },
  },
  {
    id: 'prices-of-all-kinds-alike',
    rule: 17,
    bug: 'the price of one kind is kept for the other',
    edits: [
      {
        file: `${src}/knowing/quotes.ts`,
        search: '    find: (resource, kind, asker = {}) => {\n      const key = keyOf(resource, kind, asker);',
        replace: "    find: (resource, kind, asker = {}) => {\n      const key = keyOf(resource, 'read', asker);",
      },
    ],
    test: { file: bounds, name: 'the price of a page is never that of another host' },
  },
  {
    id: 'pages-held-without-a-bound',
    rule: 10,
    bug: 'any number of payments that are worth nothing have pages made and held',
    edits: [
      {
        file: `${src}/selling/sale.ts`,
        search: 'if (waiting >= AT_ONCE || heldBytes >= most)',
        replace: 'if (heldBytes >= most)',
      },
    ],
    test: { file: 'test/unit/publisher/waiting-pages.test.ts', name: 'Express: a page that is not made in half a minute' },
  },
  {
    id: 'addresses-of-all-hosts-alike',
    rule: 17,
    bug: 'where a request leads is remembered by its path alone: a page is sold at the price of another host',
    edits: [
      {
        file: `${src}/routes.ts`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
        search: 'const key = `${named} ${request.target}`;',
        replace: 'const key = request.target;',
      },
    ],
    test: { file: 'test/unit/publisher/request-targets.test.ts', name: 'where a request leads is read by its host' },
  },
  {
    id: 'settled-though-the-buyer-is-gone',
    rule: 15,
    bug: 'a page that nobody waits for any longer is settled',
    edits: [
      {
        file: `${src}/selling/heldPage.ts`,
        search: "if (this.#state !== 'open' && this.#state !== 'shut') sale.abandon();",
        replace: "if (this.#state === 'held') void this.#settle();",
      },
    ],
    test: { file: held, name: 'a page whose connection the server ends' },
  },
  {
    id: 'offer-names-its-own-price-header',
    rule: 17,
    bug: 'the header crawler-price is what comes beside an offer, and not what the offer asks',
    edits: [
      {
        file: `${src}/answers.ts`,
        search: 'const headers = { ...others, ...offer, ...links };',
        replace: 'const headers = { ...others, ...offer, ...links, ...(quote.x402.headers as typeof links) };',
      },
    ],
    test: { file: 'test/unit/publisher/lying-answers.test.ts', name: 'of headers that an offer names besides' },
  },
  {
    id: 'crawler-price-in-tenths-of-a-cent',
    rule: 17,
    bug: 'the header crawler-price is rounded: a crawler is told another price than it signs for',
    edits: [
      {
        file: `${src}/answers.ts`,
        search: "'crawler-price': dollars(quote.price),",
        replace: "'crawler-price': dollars(Math.round(quote.price / 10_000) * 10_000),",
      },
    ],
    test: { file: 'test/property/one-price.test.ts', name: 'tells what the gate charges' },
  },
  {
    id: 'refusal-outgrows-its-headers',
    rule: 15,
    bug: 'the reason of a refusal lengthens an offer past what a proxy takes, and the buyer sees 502',
    edits: [{ file: `${src}/core/fitOffer.ts`, search: 'if (bytes > left) continue;', replace: '' }],
    test: { file: budget, name: 'the offer fits' },
  },
  {
    id: 'receipt-outgrows-its-headers',
    rule: 15,
    bug: 'a long receipt stands whole beside a long licence: the buyer has paid and gets 502',
    edits: [
      {
        file: 'modules/settlement/use/answer/receipt.ts',
        search: 'if (whole.length + licenceJws.length <= MOST_PAID_CHARS) return whole;',
        replace: 'if (whole.length > 0) return whole;',
      },
    ],
    test: { file: budget, name: 'what a sale puts on the page fits' },
  },
  {
    id: 'long-url-is-sold',
    rule: 15,
    bug: 'a page is sold whose URL makes the headers of the paid page longer than a proxy takes',
    edits: [{ file: 'modules/quotes/use/issue.ts', search: '  requireSellable(resource);\n', replace: '' }],
    test: { file: budget, name: 'a page whose URL is longer than what fits' },
  },
  {
    id: 'gate-feeds-the-article',
    rule: 15,
    bug: 'the feed of a sold article goes out unpaid, since a feed is no page',
    edits: [{ file: `${src}/core/aside.ts`, search: "if (asked === 'form') return true;", replace: '' }],
    test: { file: 'test/e2e/publisher-forms.test.ts', name: 'unpaid, ' },
  },
  {
    id: 'gate-forgets-the-article',
    rule: 15,
    bug: 'who bought the article pays again for its Markdown, since the licence is shown for another address',
    edits: [
      {
        file: `${src}/knowing/pages.ts`,
        search: 'page.spellings.length === 1 && !page.mayBeForm',
        replace: 'page.spellings.length === 1',
      },
    ],
    test: { file: 'test/e2e/publisher-forms.test.ts', name: 'a licence of the page opens ' },
  },
  {
    id: 'gate-sells-another-page',
    rule: 15,
    bug: 'a gate that is mounted at a path sells the page that the rest of the path names in place of the article',
    edits: [
      { file: `${src}/express.ts`, search: "app.path?.() ?? ''", replace: "(request as { baseUrl?: string }).baseUrl ?? ''" },
    ],
    test: { file: 'test/unit/publisher/adapters.test.ts', name: 'a gate of Express at a path sells the article' },
  },
  {
    id: 'gate-takes-a-hidden-line-end-for-a-name',
    rule: 15,
    bug: 'a path that hides a control character is out of scope, and its page free',
    edits: [{ file: `${src}/core/page.ts`, search: 'CONTROL.test(pathname) ? null : pathname', replace: 'pathname' }],
    test: { file: 'test/unit/publisher/request-targets.test.ts', name: 'hides a control character' },
  },
  {
    id: 'gate-gives-unclear-pages-to-posts',
    rule: 15,
    bug: 'a page is given to whoever asks for it with POST, under a name that only the site’s router understands',
    edits: [
      {
        file: `${src}/gate.ts`,
        search: "const refused: Judgement = { ...judgement, decision: { act: 'refuse', status: 400 } };",
        replace: 'const refused = asReader;',
      },
    ],
    test: { file: 'test/unit/publisher/request-targets.test.ts', name: 'an agent is refused at the target' },
  },
  {
    id: 'gate-takes-a-lenient-path-for-none',
    rule: 15,
    bug: 'an article is free under a path of which a lenient router decodes more than the service does',
    edits: [
      {
        file: `${src}/routes.ts`,
        search: 'isInScope(config, lenientPath(pathname))',
        replace: 'isInScope(config, path)',
      },
    ],
    test: { file: 'test/unit/publisher/request-targets.test.ts', name: 'is an article to a router that decodes what it can' },
  },
  {
    id: 'gate-converts-without-bound',
    rule: 15,
    bug: 'a holder of a licence takes the process with conversions',
    edits: [{ file: `${src}/selling/markdown.ts`, search: 'second.made > A_SECOND', replace: 'false' }],
    test: { file: 'test/unit/publisher/markdown.test.ts', name: 'two pages a second' },
  },
  {
    id: 'gate-believes-names',
    rule: 15,
    bug: 'whoever writes Googlebot into one header reads everything free',
    edits: [
      {
        file: `${src}/knowing/readers.ts`,
        search: "(claims.worth(userAgent, () => whenceOf(request)) === 'false' && lists.masquerade()) || found",
        replace: 'found',
      },
    ],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'who calls himself Googlebot and is' },
  },
  {
    id: 'gate-believes-strangers-headers',
    rule: 15,
    bug: 'a false Googlebot that calls past the proxies reads free by writing an address of Google into X-Forwarded-For',
    edits: [
      {
        file: `${src}/core/whence.ts`,
        search: 'near !== undefined && !isOurs(near)',
        replace: "near !== undefined && !isOurs(near) && !header('x-forwarded-for')",
      },
    ],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'who calls himself Googlebot and is' },
  },
  {
    id: 'gate-charges-behind-a-forgotten-proxy',
    rule: 15,
    bug: 'the true Googlebot pays at a site that did not name a proxy of its own network',
    edits: [{ file: `${src}/core/whence.ts`, search: '|| (isProxied && !isPublic(address))', replace: '' }],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'who calls himself Googlebot and is' },
  },
  {
    id: 'gate-charges-robots-for-their-neighbours',
    rule: 15,
    bug: 'a stranger has the true robot charged, by asking from an address beside it that name servers do not know',
    edits: [{ file: `${src}/knowing/reverse.ts`, search: 'is === false ? own : network', replace: 'network' }],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'what name servers say against one address' },
  },
  {
    id: 'gate-reads-proxies-from-the-left',
    rule: 15,
    bug: 'behind a named proxy, a false Googlebot reads free by what it wrote into X-Forwarded-For before the proxy did',
    edits: [{ file: `${src}/core/whence.ts`, search: 'of hopsOf(header).reverse()) {', replace: 'of hopsOf(header)) {' }],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'who calls himself Googlebot and is' },
  },
  {
    id: 'gate-charges-the-true-robot-in-ipv6',
    rule: 15,
    bug: 'on a socket of both families Google is charged, since its IPv4 inside IPv6 is in no list',
    edits: [
      {
        file: `${src}/core/ranges.ts`,
        search: 'return isMapped ? (bytes?.slice(12) ?? null) : bytes;',
        replace: 'return bytes;',
      },
    ],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'who calls himself Googlebot and is' },
  },
  {
    id: 'gate-forgets-the-shipped-lists',
    rule: 15,
    bug: 'the gate never loads the lists of its release: where the service has none yet, false robots read free',
    edits: [
      {
        file: `${src}/knowing/siteConfig.ts`,
        search: 'Promise.all([asked, deps.claims?.ready()])',
        replace: 'Promise.all([asked])',
      },
    ],
    test: { file: 'test/unit/publisher/claims.test.ts', name: 'a gate learns lists with its settings' },
  },
  {
    id: 'address-list-lets-everybody-in',
    rule: 15,
    bug: 'one bad list of an operator makes half of the internet Googlebot',
    edits: [
      { file: 'platform/addressRanges.ts', search: 'length > width || length < LEAST_BITS[width]', replace: 'length > width' },
    ],
    test: { file: 'test/unit/address-ranges.test.ts', name: 'takes no list that has' },
  },
  {
    id: 'address-list-shrinks-at-once',
    rule: 15,
    bug: 'a list that lost most of its ranges by mistake makes the true Googlebot pay, and the site falls out of the index',
    edits: [
      { file: 'modules/gate/use/addresses.ts', search: 'before && !keepsHalf(before.ranges, said)', replace: 'before && false' },
    ],
    test: { file: 'test/integration/addresses.test.ts', name: 'a list that loses more than half' },
  },
];
