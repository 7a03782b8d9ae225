/** How a site asks itself for a page, past its own gate: signed with its key, for one address, once, for ten seconds. */
import type { PublisherOptions } from '../options.ts';
import { readOptions } from '../options.ts';

/** The header of such a request. */
const PASS = 'x-svc-pass';
const LIFE_MS = 10_000;
/** As many passes are remembered as used; while there are more, none opens anything. */
const REMEMBERED = 10_000;
/** What a request for the page leaves out: what was paid with, and what would have the page come in a form to undo. */
const LEFT_OUT = ['payment-signature', 'x-payment', 'sign-in-with-x', 'authorization', 'host', 'connection', 'accept-encoding'];

/** What an answer says of the connection it came by. */
const OF_THE_WAY = ['connection', 'keep-alive', 'transfer-encoding', 'content-encoding', 'content-length'];

/** Makes and knows such requests. */
export interface Passes {
  /** The page of a request, as the site makes it. Rejects when the site does not answer. */
  pageFor(request: Request): Promise<Response>;
  /** True for a request that this site sent itself. */
  isOwnCall(request: Request): Promise<boolean>;
}

/** Opens it. Throws TypeError for options that cannot be used. */
export function openPasses(options: PublisherOptions<Request> & { readonly self?: string }): Passes {
  const { apiKey, now, origin } = readOptions(options);
  const used = openUsed(now);
  const text = new TextEncoder();
  const use = { name: 'HMAC', hash: 'SHA-256' };
  let imported: ReturnType<typeof crypto.subtle.importKey> | null = null;
  const key = () => (imported ??= crypto.subtle.importKey('raw', text.encode(`pass ${apiKey}`), use, false, ['sign', 'verify']));
  const messageOf = (nonce: string, { url }: Request) => {
    const { pathname, search } = new URL(url);
    return text.encode(`${nonce} ${pathname}${search}`);
  };
  return {
    pageFor: async (request) => {
      const address = options.self ?? ownAddress(request, origin);
      if (address === null)
        throw new TypeError(`${new URL(request.url).host} is nobody's word but the request's: set \`self\` or \`origin\``);
      const nonce = `${now() + LIFE_MS}.${crypto.randomUUID()}`;
      const signature = new Uint8Array(await crypto.subtle.sign('HMAC', await key(), messageOf(nonce, request)));
      const headers = new Headers(request.headers);
      for (const name of LEFT_OUT) headers.delete(name);
      headers.set('accept-encoding', 'identity');
      headers.set(PASS, `${nonce}.${btoa(String.fromCharCode(...signature))}`);
      const { pathname, search } = new URL(request.url);
      const page = await (options.fetch ?? fetch)(`${address}${pathname}${search}`, {
        headers,
        redirect: 'manual',
      });
      const own = new Headers(page.headers);
      for (const name of OF_THE_WAY) own.delete(name);
      return new Response(page.body, { status: page.status, statusText: page.statusText, headers: own });
    },
    isOwnCall: async (request) => {
      const [, nonce, signed] = /^(\d{13}\.[a-f0-9-]{36})\.([A-Za-z0-9+/]{43}=)$/.exec(request.headers.get(PASS) ?? '') ?? [];
      if (nonce === undefined || signed === undefined || untilMsOf(nonce) < now()) return false;
      const signature = Uint8Array.from(atob(signed), (letter) => letter.charCodeAt(0));
      return (await crypto.subtle.verify('HMAC', await key(), signature, messageOf(nonce, request))) && used.isFirst(nonce);
    },
  };
}

function untilMsOf(nonce: string): number {
  return Number(nonce.slice(0, 13));
}

/** Remembers passes until they end. */
function openUsed(now: () => number) {
  const nonces = new Set<string>();
  return {
    /** True once for a nonce. */
    isFirst: (nonce: string): boolean => {
      // Those that end first were, nearly, put in first: what has ended goes as far as it stands in front.
      for (const one of nonces) {
        if (untilMsOf(one) >= now()) break;
        nonces.delete(one);
      }
      if (nonces.has(nonce) || nonces.size >= REMEMBERED) return false;
      nonces.add(nonce);
      return true;
    },
  };
}

/**
 * Where the site reaches itself; null for a host that only the request names: a pass opens every page, and goes to nobody else. A request to this
 * very machine is by http: Next says https of it as soon as a proxy in front, which ends TLS, names that with X-Forwarded-Proto.
 */
function ownAddress({ url }: Request, known: string | undefined): string | null {
  const { origin, hostname, host } = new URL(url);
  if (/^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(hostname)) return `http://${host}`;
  return origin === known ? origin : null;
}
