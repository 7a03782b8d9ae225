import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { refusalOf } from '../refusal.ts';
import type { World } from '../world.ts';

interface Facts {
  readonly kind: World['keyKind'];
  readonly answer: { readonly ok: boolean; readonly status?: number | undefined; readonly code?: string | undefined } | null;
  readonly site: { readonly status: string } | null;
}

/** Is the key good, and for what? */
export const keyCheck: Check<Facts> = {
  id: 'key',
  probe: async (world) => {
    const self = await world.self();
    if (self === null) return { kind: world.keyKind, answer: null, site: null };
    const { answer, row } = self;
    const told = answer.ok ? { ok: true, status: answer.status } : { ok: false, status: answer.status, code: answer.code };
    return { kind: world.keyKind, answer: told, site: row };
  },
  judge: ({ kind, answer, site }) => {
    if (kind === 'none') return [unknown('No key was given.', 'Set SVC_API_KEY.')];
    if (kind === 'unknown') {
      return [problem('This is not a publisher key.', 'Keys begin with svc_live_ or svc_test_: copy it again, whole.')];
    }
    if (answer === null || answer.status === undefined || answer.status >= 500) {
      return [unknown('The key could not be tried: the service does not answer.', 'Run this again when it does.')];
    }
    if (!answer.ok) {
      const { says, todo } = refusalOf(kind, answer.status, answer.code);
      return [problem(says, todo)];
    }
    return [...kindFindings(kind), ...siteFindings(site)];
  },
};

function kindFindings(kind: 'live' | 'test'): Finding[] {
  if (kind === 'live') return [ok('The key is live, and has the scopes that a gate needs.')];
  return [
    warning(
      'This is a test key: what it sells moves no money.',
      'Give the gate of the live site a key that begins with svc_live_.',
    ),
  ];
}

function siteFindings(site: Facts['site']): Finding[] {
  if (site === null || site.status === 'active') return [];
  const todo =
    site.status === 'pending'
      ? 'Let the owner prove a host of the site (openHost, checkHost): until then all its pages are free.'
      : 'Ask the operator of the service.';
  return [problem(`The site of this key is ${site.status}.`, todo)];
}
