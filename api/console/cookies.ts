import type { IncomingMessage } from 'node:http';

/** A cookie of the console: no script reads it, and no other site sends it. */
export interface Cookie {
  /** The value that a request carries; null for none, and for two of one name, of which one was put there by somebody else. */
  read(request: Pick<IncomingMessage, 'headers'>): string | null;
  /** The `Set-Cookie` line of a value that lasts so many seconds. */
  write(value: string, seconds: number): string;
  /** The `Set-Cookie` line that takes it away. */
  readonly clear: string;
}

/** A value we write: letters that need no quoting. */
const VALUE = /^[\w-]{1,2048}$/;

/**
 * A cookie of this name. Over https it is `Secure` and `__Host-`: no other host and no page without TLS can set one in its place. `Strict`
 * is sent for our own pages only; `Lax` also when another site leads here by a link, as an identity provider does.
 */
export function cookieOf(name: string, sameSite: 'Strict' | 'Lax', isSecure: boolean): Cookie {
  const full = isSecure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers }) => {
      const found = (headers.cookie ?? '').split(';').flatMap((pair) => {
        const [key, value] = pair.trim().split('=', 2);
        return key === full && value !== undefined ? [value] : [];
      });
      const [only, ...others] = found;
      return only !== undefined && others.length === 0 && VALUE.test(only) ? only : null;
    },
    write: (value, seconds) => `${full}=${value}; Max-Age=${seconds}; ${attributes}`,
    clear: `${full}=; Max-Age=0; ${attributes}`,
  };
}
