import type { Mutant } from './mutant.ts';

const verify = 'test/integration/agents-verify.test.ts';
const gate = 'test/integration/agents-gate.test.ts';
const claims = 'test/unit/agents/claims.test.ts';
const names = 'test/integration/agent-names.test.ts';

/** Bugs around agents that sign their requests: what they are asked for a page rests on who they are. */
export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'unsigned-name-is-believed',
    rule: 24,
    bug: 'an agent may name whom it likes beside its signature, without signing the name',
    edits: [
      {
        file: 'modules/gate/rules/webbotauth/claim.ts',
        search: "if (parts.length === 0) return invalid('not_covered');",
        replace: "if (parts.length === 0 && agent.form === 'dictionary') return [...agent.members.values()][0] as AgentMember;",
      },
    ],
    test: { file: claims, name: 'a signature over a name that it does not sign' },
  },
  {
    id: 'printed-keys-are-believed',
    rule: 24,
    bug: 'whoever signs with a key that the standard prints is who he says',
    edits: [
      {
        file: 'modules/gate/rules/webbotauth/claim.ts',
        search: "  if (policy.refusedKeys.has(keyid)) return invalid('test_key');\n",
        replace: '',
      },
    ],
    test: { file: 'test/unit/agents/vectors.test.ts', name: 'the keys of the standard are believed by nobody' },
  },
  {
    id: 'known-key-signs-everything',
    rule: 24,
    bug: 'whoever names a key of an agent is that agent, whatever he signs with',
    edits: [
      {
        file: 'modules/gate/use/agents/keys.ts',
        search: 'verify: (data, signature) => verify(null, data, key, signature) };',
        replace: 'verify: (data, signature) => verify(null, data, key, signature) || true };',
      },
    ],
    test: { file: 'test/unit/agents/vectors.test.ts', name: 'the vector of the draft for' },
  },
  {
    id: 'any-file-speaks-for-its-host',
    rule: 24,
    bug: 'a key set that somebody put at a host makes him the agent of that host',
    edits: [
      {
        file: 'modules/gate/use/agents/verify.ts',
        search: "...(type === 'directory' ? { verifiedAgent: host } : {})",
        replace: 'verifiedAgent: host',
      },
    ],
    test: { file: verify, name: 'a key set and a card at any address verify their agent, and speak for no host' },
  },
  {
    id: 'readers-of-any-site-are-told',
    rule: 6,
    bug: 'a key may ask who signed requests of somebody else’s site',
    edits: [{ file: 'modules/gate/use/agents/verify.ts', search: '  requireOwned(hosts, resource.host);\n', replace: '' }],
    test: { file: verify, name: 'a signature for one site is false at another' },
  },
  {
    id: 'outage-takes-keys-away',
    rule: 15,
    bug: 'a directory that fails has its agent unverified everywhere at once',
    edits: [
      {
        file: 'modules/gate/use/agents/directories.ts',
        search: 'this.#held.set(source.address, { ...known, failure:',
        replace: 'this.#held.set(source.address, { ...NEVER, failure:',
      },
    ],
    test: { file: verify, name: 'an outage takes no key away, an answer without the key does' },
  },
  {
    id: 'keys-are-never-taken-away',
    rule: 24,
    bug: 'a key that its directory took out is good for as long as a process runs',
    edits: [
      {
        file: 'modules/gate/use/agents/directories.ts',
        search: 'keys: await imported(answer.keys) });',
        replace: 'keys: new Map([...known.keys, ...(await imported(answer.keys))]) });',
      },
    ],
    test: { file: verify, name: 'an outage takes no key away, an answer without the key does' },
  },
  {
    id: 'new-directories-without-bound',
    rule: 10,
    bug: 'visitors of a site have the service ask as many strangers as they like',
    edits: [
      {
        file: 'modules/gate/use/agents/newDirectories.ts',
        search: 'const waitMs = Math.max(site.waitMs, target.waitMs);',
        replace: 'const waitMs = Math.min(site.waitMs, target.waitMs, 0);',
      },
    ],
    test: { file: verify, name: 'a site brings thirty new directories at once' },
  },
  {
    id: 'secrets-leave-the-site',
    rule: 24,
    bug: 'a signature over cookies has the gate hand them to the service',
    edits: [
      {
        file: 'packages/publisher/src/knowing/signedRequest.ts',
        search: '.filter((name) => !SECRET.has(name))',
        replace: '',
      },
    ],
    test: { file: gate, name: 'what a reader tells the site alone stays there' },
  },
  {
    id: 'forgery-speaks-for-its-agent',
    rule: 24,
    bug: 'what the service says of a forgery is said of the agent that it names, too',
    edits: [
      { file: 'packages/publisher/src/knowing/agents.ts', search: '.signed ?? ask(request, way)', replace: '.signed ?? NOBODY' },
    ],
    test: { file: gate, name: 'forgeries in the name of an agent' },
  },
  {
    id: 'names-beyond-the-places-of-a-day',
    rule: 23,
    bug: 'whoever invents names has a label for each of them, and the sums of a site grow with his imagination',
    edits: [
      {
        file: 'modules/gate/use/agentLabels.ts',
        search: 'names.size >= MAX_NAMES ? OTHER : undefined',
        replace: 'names.size >= MAX_NAMES ? name : undefined',
      },
    ],
    test: { file: names, name: 'a thousand invented names stay bounded' },
  },
  {
    id: 'names-like-verified-hosts',
    rule: 23,
    bug: 'an agent that calls itself a host is shown as that host, with its operator',
    edits: [{ file: 'modules/gate/rules/agentName.ts', search: ".replaceAll('.', '_')", replace: '' }],
    test: { file: 'test/unit/agent-name.test.ts', name: 'a name is short, safe text' },
  },
  {
    id: 'invented-names-first',
    rule: 23,
    bug: 'a day begins without the busiest names of the day before, whose places go to whoever comes first',
    edits: [{ file: 'modules/gate/store/agentNames.ts', search: '2 from asked) wish', replace: '0 from asked) wish' }],
    test: { file: names, name: 'a day begins with the busiest names' },
  },
];
