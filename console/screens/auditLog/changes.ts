/** What an entry of the audit log says, in words. */

/** One thing that changed. */
export interface Changed {
  /** Where it stands: `crawlerPolicy.block`. */
  readonly place: string;
  /** Null: there was, or is, nothing. */
  readonly before: string | null;
  readonly after: string | null;
}

/** An entry as the API answers it. */
export interface Entry {
  readonly entryId: string;
  readonly actorId: string;
  readonly actorVia: string;
  readonly action: string;
  readonly target: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly at: number;
}

const MOST_CHARS = 240;

/** What differed, member by member; lists and plain values whole. */
export function changesOf({ before, after }: Pick<Entry, 'before' | 'after'>): readonly Changed[] {
  const [left, right] = [leaves(parsed(before)), leaves(parsed(after))];
  const places = [...new Set([...left.keys(), ...right.keys()])];
  return places
    .map((place) => ({ place, before: left.get(place) ?? null, after: right.get(place) ?? null }))
    .filter((one) => one.before !== one.after);
}

const ACTIONS: Readonly<Record<string, string>> = {
  'price.set': 'Prices were set',
  'credits.set': 'Authors of all pages were set',
  'credits.set_page': 'Authors of a page were set',
  'credits.remove_page': 'Authors of a page were taken away',
  'credits.set_token': 'The token of the credits API was set',
  'prefixes.set': 'Article prefixes were set',
  'slugs.set_free': 'Free pages were set',
  'rules.set': 'Price rules were set',
  'price.set_read_again': 'How long a bought page opens again was set',
  'page.import': 'Pages were imported',
  'page.remove': 'Pages were removed',
  'offering.set': 'What is licensed was set',
  'discovery.set': 'The public list was set',
  'gate.set_crawler_policy': 'The crawler policy was set',
  'gate.set_visitor_class': 'A class of visitors was set',
  'gate.set_seo_allowlist': 'Search engines were set',
  'gate.set_scope': 'What the gate looks at was set',
  'networks.set': 'Networks were set',
  'legal.set': 'The publisher’s legal name and address were set',
  'receipts.set': 'Who sees records of payments was set',
  'key.mint': 'A key was minted',
  'key.mint_connect': 'A connect key was minted',
  'key.revoke': 'A key was revoked',
  'host.open': 'A host was opened',
  'host.check': 'A host was checked',
  'host.add': 'A host was added',
  'host.remove': 'A host was removed',
  'statement.link': 'A link to a statement was made',
  'rows.link': 'A link to rows was made',
  'member.invite': 'An author was invited',
  'member.accept': 'An author accepted',
  'member.remove': 'An author was removed',
  'member.revoke_invite': 'An invitation was taken back',
  'member.erase': 'An author was erased',
  'endpoint.create': 'An endpoint was made',
  'endpoint.update': 'An endpoint was changed',
  'endpoint.enable': 'An endpoint was enabled',
  'endpoint.disable': 'An endpoint was disabled',
  'endpoint.delete': 'An endpoint was deleted',
  'endpoint.rotate_secret': 'A signing secret was rotated',
  'endpoint.ping': 'A test event was sent',
  'endpoint.replay': 'Events were replayed',
  'endpoint.recover': 'Deliveries were recovered',
  'endpoint.pause': 'An endpoint was paused',
  'endpoint.resume': 'The pause of an endpoint was ended',
  'endpoint.skip': 'Waiting attempts were made at once',
  'delivery.redeliver': 'An event was sent again',
  'licence.revoke': 'A licence was revoked',
  'licence.deny_token': 'A token was denied',
  'rule.create': 'A rule was made',
  'rule.update': 'A rule was changed',
  'rule.delete': 'A rule was removed',
  'alerts.set_address': 'The address for alerts was set',
  'alerts.confirm_address': 'The address for alerts was confirmed',
  'site.create': 'The site was made',
  'site.plan': 'The plan was changed',
  'site.status': 'The status was changed',
  'owner.set': 'The owner was set',
  'owner.issue_token': 'An owner’s token was issued',
  'owner.revoke_token': 'An owner’s token was revoked',
};

/** The actions that one can ask for. */
export const KNOWN_ACTIONS: readonly string[] = Object.keys(ACTIONS);

/** An action in words; one that is not known here, as it is. */
export function actionText(action: string): string {
  return ACTIONS[action] ?? action;
}

const VIA: Readonly<Record<string, string>> = {
  oidc: 'signed in',
  token: 'by a token',
  operator: 'operator',
  invitation: 'by an invitation',
};

/** How somebody signed in, in words. */
export function viaText(via: string): string {
  return VIA[via.toLowerCase()] ?? via;
}

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function leaves(value: unknown, place = ''): Map<string, string> {
  if (value === null || value === undefined) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) return new Map([[place, cut(textOf(value))]]);
  const found = new Map<string, string>();
  for (const [name, inner] of Object.entries(value)) {
    for (const [inside, text] of leaves(inner, place === '' ? name : `${place}.${name}`)) found.set(inside, text);
  }
  return found;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(textOf).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function cut(text: string): string {
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`;
}
