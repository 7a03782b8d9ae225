import { describeService } from '../../api/app.ts';
import { STATUS_BY_KIND } from '../../api/errors.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import type { ErrorCode } from '../../modules/kernel/errors.ts';
import { ERROR_CODES, FAILURE_REASONS, kindOf } from '../../modules/kernel/errors.ts';
import { markdownTable } from './markdownTable.ts';

/** What this page reads of the OpenAPI document. */
interface Operation {
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}
interface Described {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
}

/** `docs/specification.md`: the API as built, from the OpenAPI document and the closed lists. The same text every time. */
export function renderSpecification(): string {
  const described = describeService('/') as unknown as Described;
  return `${[
    HEAD.replace('VERSION', described.info.version),
    '## Operations\n',
    ...operationLists(described),
    '## Errors\n',
    ERRORS,
    markdownTable(['Status', 'Kind', 'Codes'], errorRows()),
    `Reasons of a failed payment that the audit counts:\n${FAILURE_REASONS.map((reason) => `\`${reason}\``).join(', ')}.\n`,
    '## Scopes\n',
    `A publisher key carries some of ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.\n${SCOPE_RULES}\n`,
    '## Events\n',
    `Two types: ${Object.keys(described.webhooks)
      .map((type) => `\`${type}\``)
      .join(', ')}. [Webhooks](webhooks.md) has headers, signatures and retries.`,
  ].join('\n')}\n`;
}

const HEAD = `<!-- Written by \`npm run generate\`; edit tools/check/specification.ts. -->
# The API as built

Version VERSION. [openapi.json](../openapi.json), also at \`GET /_svc/openapi.json\`, says what each call does, takes and answers; [GraphQL](graphql.md)
is the owners' surface.

- Money is an integer number of micro-USDC; a formatted amount beside it is never parsed.
- Times are epoch milliseconds on the API, seconds inside a licence.
- A credential is checked before the body. A key reads and settles for its own site alone.
- Each answer carries \`x-request-id\` and \`svc-api-version\`; each error its code in \`x-svc-error-code\`.
`;

const ERRORS = `The body is \`{error, next}\` ([what to do next](integrating-buyer.md#what-to-do-next)); \`upgrade: true\` where the plan is missing, \`ok: false\` in front at
\`verify\` and \`observe\`, \`{verified: false, reason}\` where a host is not proven. \`Accept: application/problem+json\` gets RFC 9457. 429 and 503 carry
\`Retry-After\`.
`;

const SCOPE_RULES = `API access begins with the plan \`studio\`. Only the connection key
carries \`domain.manage\`, until the first proof.`;

const CREDENTIALS: Readonly<Record<string, string>> = {
  publisherKey: 'publisher key',
  buyerAccount: 'buyer account',
  signInWithX: 'signed message',
};

/** One line for each tag and credential, in the order of the document. What a call does stands there. */
function operationLists({ paths }: Described): readonly string[] {
  const calls = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { tags = [], security = [] }] of Object.entries(methods)) {
      const who = security.flatMap((way) => Object.keys(way)).map((name) => CREDENTIALS[name] ?? name);
      const group = `- **${tags[0] ?? 'Others'}**, ${who.join(' or ') || 'no credential'}: `;
      calls.set(group, [...(calls.get(group) ?? []), `\`${method.toUpperCase()} ${path}\``]);
    }
  }
  return [...calls].map(([group, ones]) => group + ones.join(', ')).concat('');
}

function errorRows(): readonly string[][] {
  const byKind = Map.groupBy(ERROR_CODES, (code: ErrorCode) => kindOf(code));
  return [...byKind].map(([kind, codes]) => [String(STATUS_BY_KIND[kind]), kind, codes.map((code) => `\`${code}\``).join(', ')]);
}
