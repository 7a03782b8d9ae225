/** How a site asks itself for a page, past its own gate: signed with its key, for one address, for ten seconds. */
import type { PublisherOptions } from './options.ts';
import { settle } from './options.ts';

/** The header of such a request. */
const PASS = 'x-svc-pass';
const LIFE_MS = 10_000;
/** What a request for the page leaves out: what was paid with, and what would have the page come in a form to undo. */
const LEFT_OUT = ['payment-signature', 'x-payment', 'authorization', 'host', 'connection', 'accept-encoding'];

/** What an answer says of the connection it came by. */
const OF_THE_WAY = ['connection', 'keep-alive', 'transfer-encoding', 'content-encoding', 'content-length'];

/** Makes and knows such requests. */
export interface Passes {
  /** The page of a request, as the site makes it. Rejects when the site does not answer. */
  pageFor(request: Request): Promise<Response>;
  /** True for a request that this site sent itself. */
  isOurs(request: Request): Promise<boolean>;
}

/** Opens it. Throws TypeError for options that cannot be used. */
export function openPasses(options: PublisherOptions<Request> & { readonly self?: string }): Passes {
  const { apiKey, now } = settle(options);
  const text = new TextEncoder();
  const use = { name: 'HMAC', hash: 'SHA-256' };
  let imported: ReturnType<typeof crypto.subtle.importKey> | null = null;
  const key = () => (imported ??= crypto.subtle.importKey('raw', text.encode(`pass ${apiKey}`), use, false, ['sign', 'verify']));
  const messageOf = (untilMs: string, { url }: Request) => {
    const { pathname, search } = new URL(url);
    return text.encode(`${untilMs} ${pathname}${search}`);
  };
  return {
    pageFor: async (request) => {
      const untilMs = String(now() + LIFE_MS);
      const signature = new Uint8Array(await crypto.subtle.sign('HMAC', await key(), messageOf(untilMs, request)));
      const headers = new Headers(request.headers);
      for (const name of LEFT_OUT) headers.delete(name);
      headers.set('accept-encoding', 'identity');
      headers.set(PASS, `${untilMs}.${btoa(String.fromCharCode(...signature))}`);
      const { pathname, search } = new URL(request.url);
      const page = await (options.fetch ?? fetch)(`${options.self ?? ownAddress(request)}${pathname}${search}`, {
        headers,
        redirect: 'manual',
      });
      const own = new Headers(page.headers);
      for (const name of OF_THE_WAY) own.delete(name);
      return new Response(page.body, { status: page.status, statusText: page.statusText, headers: own });
    },
    isOurs: async (request) => {
      const [, untilMs, signed] = /^(\d{13})\.([A-Za-z0-9+/]{43}=)$/.exec(request.headers.get(PASS) ?? '') ?? [];
      if (untilMs === undefined || signed === undefined || Number(untilMs) < now()) return false;
      const signature = Uint8Array.from(atob(signed), (letter) => letter.charCodeAt(0));
      return crypto.subtle.verify('HMAC', await key(), signature, messageOf(untilMs, request));
    },
  };
}

/**
 * Where the site reaches itself. A request to this very machine is by http: Next says https of it as soon as a proxy in front, which ends TLS,
 * names that with X-Forwarded-Proto.
 */
function ownAddress({ url }: Request): string {
  const { origin, hostname, host } = new URL(url);
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) ? `http://${host}` : origin;
}
