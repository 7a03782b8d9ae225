/** Where the keys of an agent stand, by what it says of itself in `Signature-Agent`. */

/** How its address leads to keys: the well-known directory of an origin, a key set at any address, or a card that names one. */
export type SourceType = 'directory' | 'jwks_uri' | 'cimd';

/** A place of keys. */
export interface KeySource {
  readonly type: SourceType;
  /** What is asked. Keys are known by this and their thumbprint together, never by the thumbprint alone. */
  readonly address: string;
  /** Who it is: the address without its query. */
  readonly identifier: string;
  /** ASCII, lower case, without port. For a directory alone it names who runs the agent: any user of a host may have put a file there. */
  readonly host: string;
}

/** Where a directory stands at its origin. */
const DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
/** Where an agent of a directory may describe itself. */
const CARD_PATH = '/.well-known/signature-agent-card';
const MAX_CHARS = 2_048;

const TYPES: ReadonlySet<string> = new Set<SourceType>(['directory', 'jwks_uri', 'cimd']);

/** True for a type of source that is read. */
export function isSourceType(type: string): type is SourceType {
  return TYPES.has(type);
}

/**
 * The source that a member of `Signature-Agent` names; null for what is none: not https, with credentials, or for a directory anything
 * but an origin in its one spelling. Whether the address may be asked is for the caller to decide.
 */
export function sourceOf(type: SourceType, value: string): KeySource | null {
  const url = value.length <= MAX_CHARS ? URL.parse(value) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  const { origin, hostname: host } = url;
  if (host.endsWith('.')) return null;
  if (type === 'directory') {
    const address = `${origin}${DIRECTORY_PATH}`;
    return value === origin || value === `${origin}/` ? { type, address, identifier: address, host } : null;
  }
  return { type, address: `${origin}${url.pathname}${url.search}`, identifier: `${origin}${url.pathname}`, host };
}

/** Where the agent of a directory may describe itself; null for the other types. */
export function cardAddressOf({ type, address }: KeySource): string | null {
  return type === 'directory' ? `${address.slice(0, -DIRECTORY_PATH.length)}${CARD_PATH}` : null;
}
