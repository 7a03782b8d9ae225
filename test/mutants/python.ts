import type { Mutant } from './mutant.ts';

const src = 'packages/python/src/content_settlement';
const gate = 'test/e2e/python-gate.test.ts';
const rules = 'test/unit/python-package.test.ts';

/** Bugs in the gate for Python: those that the gate for Node must not have either, where Python has lines of its own. */
export const PYTHON_MUTANTS: readonly Mutant[] = [
  {
    id: 'python-takes-one-of-two-payments',
    rule: 12,
    bug: 'of two different payments in one request one is settled',
    edits: [
      { file: `${src}/gate.py`, search: 'if first is None or first != second:', replace: 'if first is None and second == "":' },
    ],
    test: { file: gate, name: 'two payments in one request' },
  },
  {
    id: 'python-sells-errors',
    rule: 15,
    bug: 'a page with nothing in it is paid for',
    edits: [
      { file: `${src}/decide.py`, search: 'return 200 <= status <= 299 and size > 0', replace: 'return 200 <= status <= 299' },
    ],
    test: { file: gate, name: 'a page that cannot be made, and one with nothing in it' },
  },
  {
    id: 'python-offers-in-an-outage',
    rule: 15,
    bug: 'a verify that did not answer is taken for a refusal, and the buyer signs another payment',
    edits: [{ file: `${src}/decide.py`, search: 'if status == 402 and code', replace: 'if status != 503 and code' }],
    test: { file: gate, name: 'readers notice nothing, agents read what has no known price' },
  },
  {
    id: 'python-offers-what-was-bought',
    rule: 15,
    bug: 'a licence that cannot be proven while the service is away is none, and its holder pays again',
    edits: [
      {
        file: `${src}/decide.py`,
        search: 'if facts.licence == "unproven" and facts.payment == "none":',
        replace: 'if facts.licence == "unproven" and facts.payment == "never":',
      },
    ],
    test: { file: gate, name: 'one that was never looked at waits' },
  },
  {
    id: 'python-gives-pages-in-another-form',
    rule: 15,
    bug: 'an article is given to whoever asks for it as data',
    edits: [{ file: `${src}/aside.py`, search: 'if asked == "name":', replace: 'if asked in ("name", "page"):' }],
    test: { file: gate, name: 'a page that nobody has asked for yet' },
  },
  {
    id: 'python-falls-over-nested-texts',
    rule: 15,
    bug: 'a header nested deeper than Python reads is an error of the site, and its page goes out',
    edits: [{ file: `${src}/shapes.py`, search: 'except (ValueError, RecursionError):', replace: 'except ValueError:' }],
    test: { file: rules, name: 'what strangers send is read without an error' },
  },
  {
    id: 'python-prices-lines',
    rule: 15,
    bug: 'a path that ends in a line feed is priced under another name, and the page of the one without it is given for nothing',
    edits: [
      {
        file: `${src}/page.py`,
        search: 'if _CONTROL.search(raw.decode("utf-8", "replace")):',
        replace: 'if _CONTROL.search(""):',
      },
    ],
    test: { file: rules, name: 'a path that names no page for certain' },
  },
  {
    id: 'python-gives-unclear-pages-to-posts',
    rule: 15,
    bug: 'a page is given to whoever asks for it with POST, under a name that only the site understands',
    edits: [
      {
        file: `${src}/gate.py`,
        search: 'refused = judgement._replace(decision=Decision("refuse", status=400))',
        replace: 'refused = as_reader',
      },
    ],
    test: { file: rules, name: 'a path that names no page for certain' },
  },
  {
    id: 'python-believes-mounts',
    rule: 15,
    bug: 'who names a mount of his own reads every page for nothing',
    edits: [{ file: `${src}/gate.py`, search: 'for path in request.inner:', replace: 'for path in request.inner[:0]:' }],
    test: { file: rules, name: 'a mount that a client names' },
  },
  {
    id: 'python-makes-endless-answers',
    rule: 15,
    bug: 'an endless answer in whose place an offer went out goes on, and its server answers nobody else',
    edits: [
      {
        file: `${src}/asgi.py`,
        search: 'if is_more and not self.over.done():',
        replace: 'if self.is_late and not self.over.done():',
      },
    ],
    test: { file: rules, name: 'an endless answer in whose place another goes out' },
  },
  {
    id: 'python-frees-tills-in-use',
    rule: 15,
    bug: 'buyers who leave while they are charged make room for more than the threads that charge',
    edits: [{ file: `${src}/asgi.py`, search: 'if self._judging is None:', replace: 'if self._judging != 0:' }],
    test: { file: rules, name: 'one who leaves frees no place that a thread still uses' },
  },
  {
    id: 'python-forgets-good-licences',
    rule: 15,
    bug: 'made-up licences displace those that readers paid for',
    edits: [{ file: `${src}/knowing.py`, search: 'self._bad: Lru[float] = Lru(2_000)', replace: 'self._bad = self._good' }],
    test: { file: rules, name: 'made-up licences displace none that is good' },
  },
];
