import type { Mutant } from './mutant.ts';

const documents = 'test/integration/discovery-documents.test.ts';
const list = 'test/integration/discovery-list.test.ts';

/** Bugs in what everybody may read of a site: a price that no 402 asks, or a site that is told of though it sells nothing. */
export const DISCOVERY_MUTANTS: readonly Mutant[] = [
  {
    id: 'manifest-of-another-price',
    rule: 17,
    bug: 'the manifest tells another price than the 402 of the page asks',
    edits: [
      {
        file: 'modules/pricing/rules/manifest.ts',
        search: 'const micro = microOf(read);',
        replace: 'const micro = microOf(citation);',
      },
    ],
    test: { file: 'test/property/manifest.test.ts', name: 'the first pattern of a manifest ' },
  },
  {
    id: 'documents-of-a-suspended-site',
    rule: 24,
    bug: 'a site that does not sell any more is told of with its prices',
    edits: [{ file: 'modules/discovery/use/site.ts', search: "tenant?.status !== 'active' || ", replace: '!tenant || ' }],
    test: { file: documents, name: 'whatever there is not ' },
  },
  {
    id: 'list-of-suspended-sites',
    rule: 24,
    bug: 'the public list names sites that do not sell any more',
    edits: [
      { file: 'modules/discovery/use/list.ts', search: "tenant?.status !== 'active' || ", replace: '!tenant || ' },
      { file: 'modules/tenants/store/publicList.ts', search: "tenant.status = 'active' and ", replace: '' },
    ],
    test: { file: list, name: 'who leaves the list' },
  },
  {
    id: 'own-documents-are-hidden',
    rule: 15,
    bug: 'a document that the site has itself is replaced by ours',
    edits: [
      {
        file: 'packages/publisher/src/looking.ts',
        search: 'mayBePage: (status, type) => status === 404 ||',
        replace: 'mayBePage: (status, type) => status > 0 ||',
      },
    ],
    test: { file: 'test/unit/publisher/documents.test.ts', name: 'the own document of a site wins' },
  },
  {
    id: 'robots-unasked',
    rule: 15,
    bug: "lines of ours stand in the publisher's robots.txt though he did not ask for them",
    edits: [
      {
        file: 'packages/publisher/src/documents.ts',
        search: 'documents[path] ?? !ASKED_FOR.has(path)',
        replace: 'documents[path] ?? true',
      },
    ],
    test: { file: 'test/unit/publisher/documents.test.ts', name: 'what speaks in the ' },
  },
  {
    id: 'robots-grants-what-is-sold',
    rule: 17,
    bug: 'robots.txt grants a use for which some pages cost money',
    edits: [
      {
        file: 'modules/pricing/rules/rsl/robots.ts',
        search: "if (outcomes.every((outcome) => outcome === 'free'))",
        replace: "if (outcomes.some((outcome) => outcome === 'free'))",
      },
    ],
    test: { file: 'test/property/rsl.test.ts', name: 'no line for robots.txt grants ' },
  },
];
