import { expect, test } from 'vitest';
import { readCard } from '../../../modules/gate/rules/webbotauth/card.ts';
import { claimOf } from '../../../modules/gate/rules/webbotauth/claim.ts';
import { sourceOf } from '../../../modules/gate/rules/webbotauth/source.ts';
import { readSignatures } from '../../../modules/gate/use/agents/signatures.ts';

const POLICY = { now: 1_000, mostLife: 600, refusedKeys: new Set<string>() };
const TIMES = ';created=1000;expires=1300;keyid="k";tag="web-bot-auth"';

function claim(input: string, agent: string | null) {
  const read = readSignatures({ 'signature-input': input, ...(agent === null ? {} : { 'signature-agent': agent }) });
  if (read === null || read.agent === 'broken') return read?.agent ?? 'malformed';
  const found = claimOf(read.inputs[0]!, read.agent, POLICY);
  return 'outcome' in found ? `${found.outcome} ${found.reason}` : `${found.source.type} ${found.source.address}`;
}

const WELL_KNOWN = '/.well-known/http-message-signatures-directory';

test.each([
  [
    'its own member',
    `sig1=("@authority" "signature-agent";key="sig1")${TIMES}`,
    'sig1="https://a.example"',
    `directory https://a.example${WELL_KNOWN}`,
  ],
  [
    'a member by another name',
    `sig1=("@authority" "signature-agent";key="x")${TIMES}`,
    'x="https://a.example"',
    `directory https://a.example${WELL_KNOWN}`,
  ],
  [
    'the target instead of the authority',
    `s=("@target-uri" "signature-agent";key="s")${TIMES}`,
    's="https://a.example/"',
    `directory https://a.example${WELL_KNOWN}`,
  ],
  [
    'the string of earlier drafts',
    `s=("@authority" "signature-agent")${TIMES}`,
    '"https://a.example"',
    `directory https://a.example${WELL_KNOWN}`,
  ],
  [
    'all of a dictionary with one member',
    `s=("@authority" "signature-agent")${TIMES}`,
    'x="https://a.example"',
    `directory https://a.example${WELL_KNOWN}`,
  ],
  [
    'all of one with two members',
    `s=("@authority" "signature-agent")${TIMES}`,
    's="https://a.example", x="https://b.example"',
    'unverified agent_unsupported',
  ],
  [
    'its own member among several',
    `s=("@authority" "signature-agent";key="x" "signature-agent";key="s")${TIMES}`,
    's="https://a.example", x="https://b.example"',
    `directory https://a.example${WELL_KNOWN}`,
  ],
  [
    'two members of others',
    `s=("@authority" "signature-agent";key="x" "signature-agent";key="y")${TIMES}`,
    'y="https://a.example", x="https://b.example"',
    'unverified agent_unsupported',
  ],
  ['a name that it does not sign', `s=("@authority")${TIMES}`, 's="https://a.example"', 'invalid not_covered'],
  [
    'a member that is not there',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    'x="https://a.example"',
    'invalid not_covered',
  ],
  [
    'a member of what is a string',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    '"https://a.example"',
    'invalid not_covered',
  ],
  ['no name', `s=("@authority")${TIMES}`, null, 'unverified no_agent'],
  [
    'neither authority nor target',
    `s=("@path" "signature-agent";key="s")${TIMES}`,
    's="https://a.example"',
    'invalid not_covered',
  ],
  [
    'no end',
    's=("@authority" "signature-agent";key="s");created=1000;keyid="k";tag="web-bot-auth"',
    's="https://a.example"',
    'invalid parameter_missing',
  ],
  [
    'no key',
    's=("@authority" "signature-agent";key="s");created=1000;expires=1300;tag="web-bot-auth"',
    's="https://a.example"',
    'invalid parameter_missing',
  ],
  [
    'a key set',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    's="https://a.example/k?x=1#y";type=jwks_uri',
    'jwks_uri https://a.example/k?x=1',
  ],
  [
    'a card',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    's="https://a.example/card";type=cimd',
    'cimd https://a.example/card',
  ],
  [
    'a type of tomorrow',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    's="https://a.example";type=ledger',
    'unverified agent_unsupported',
  ],
  [
    'a type in quotes',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    's="https://a.example";type="jwks_uri"',
    'unverified agent_unsupported',
  ],
  [
    'a directory with a path',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    's="https://a.example/x"',
    'unverified agent_refused',
  ],
  [
    'a directory without TLS',
    `s=("@authority" "signature-agent";key="s")${TIMES}`,
    's="http://a.example"',
    'unverified agent_refused',
  ],
  ['a number', `s=("@authority" "signature-agent";key="s")${TIMES}`, 's=1', 'unverified agent_refused'],
  ['text that is no dictionary', `s=("@authority" "signature-agent";key="s")${TIMES}`, 's="https://a.example', 'broken'],
  ['an item instead of a list', 's=1', null, 'malformed'],
])('a signature over %s is read as the drafts say', (_what, input, agent, expected) => {
  expect(claim(input, agent)).toBe(expected);
});

test('a source has one spelling: no other case, credentials, dot, port in the name, or query in who it is', () => {
  for (const value of [
    'https://A.example',
    'https://u@a.example',
    'https://a.example.',
    'https://a.example?x',
    'a.example',
    '',
    'https://',
  ])
    expect(sourceOf('directory', value), value).toBeNull();
  expect(sourceOf('jwks_uri', 'https://a.example/keys?x=1')).toMatchObject({
    identifier: 'https://a.example/keys',
    host: 'a.example',
  });
  expect(sourceOf('directory', 'https://xn--bcher-kva.example')).toMatchObject({ host: 'xn--bcher-kva.example' });
});

test('of a card only short plain words are kept', () => {
  expect(readCard({ client_name: ' Example Bot ', web_bot_auth: { purpose: 'search' } })).toEqual({
    operator: 'Example Bot',
    purpose: 'search',
  });
  expect(readCard({ name: 'Old', purpose: 'tdm' })).toEqual({ operator: 'Old', purpose: 'tdm' });
  for (const document of [null, [], 'x', { client_name: 1, purpose: {} }, { client_name: 'a\nb', purpose: 'x'.repeat(121) }])
    expect(readCard(document)).toEqual({ operator: null, purpose: null });
});
