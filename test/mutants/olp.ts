import type { Mutant } from './mutant.ts';

const e2e = 'test/e2e/olp.test.ts';
const held = 'who holds the licence gets another token';
const bad = { file: 'test/integration/olp.test.ts', name: 'what is asked wrongly is told in the words of the protocol' };
const token = 'modules/storefront/use/olp/token.ts';

/** Bugs around tokens of the Open License Protocol: what they are given for, and what is read of a stranger. */
export const OLP_MUTANTS: readonly Mutant[] = [
  {
    id: 'olp-any-license-will-do',
    rule: 16,
    bug: 'a token is sold for a license that the site’s document does not have',
    edits: [{ file: token, search: 'canonicalXml(element, RSL_NAMESPACE) === named', replace: 'named !== null' }],
    test: bad,
  },
  {
    id: 'olp-read-licence-cites',
    rule: 16,
    bug: 'who holds a licence to read gets a token to cite by it',
    edits: [
      {
        file: 'modules/licences/store/held.ts',
        search: "(licence.kind = 'citation' or ",
        replace: '(true or ',
      },
    ],
    test: { file: e2e, name: held },
  },
  {
    id: 'olp-sells-what-is-held',
    rule: 14,
    bug: 'who holds the licence is sold it again',
    edits: [{ file: token, search: '(await openHeld(deps, accountId, wanted)) ?? ', replace: '' }],
    test: { file: e2e, name: held },
  },
  {
    id: 'olp-yesterdays-license',
    rule: 17,
    bug: 'a license is taken though its price was changed long ago',
    edits: [
      {
        file: token,
        search: 'for (const contents of terms.former()) {',
        replace:
          'for (const contents of [...terms.former(), terms.contents.map((one) => ({ ...one, licences: one.licences.map((l) => ({ ...l, element })) }))]) {',
      },
    ],
    test: { file: 'test/integration/olp.test.ts', name: 'a license is good for ten minutes after its price was changed' },
  },
  {
    id: 'xml-with-doctype',
    rule: 24,
    bug: 'a document type is read in what strangers send',
    edits: [{ file: 'platform/xml.ts', search: "parser.on('doctype', refuse);", replace: '' }],
    test: { file: 'test/unit/xml.test.ts', name: 'what could make work, or mean two things, is not read at all' },
  },
  {
    id: 'introspects-for-anybody',
    rule: 25,
    bug: 'a site learns what tokens of other sites are worth',
    edits: [
      {
        file: 'modules/licences/use/check.ts',
        search: 'tenant.hosts.find((one) => audienceOf(one) === (claims as { aud?: unknown }).aud)',
        replace: "String((claims as { aud?: unknown }).aud).replace('https://', '')",
      },
      {
        file: 'modules/kernel/licence/licence.ts',
        search: 'if (tenantId !== undefined && tenantId !== question.tenantId) return null;',
        replace: 'void tenantId;',
      },
    ],
    test: { file: 'test/integration/olp.test.ts', name: 'a publisher learns what a token is worth on its own site' },
  },
];
