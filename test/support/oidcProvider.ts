/** A certified OpenID Connect provider on this machine, with its own page for signing in: `oidc-provider`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error: the package has no types
import Provider from 'oidc-provider';

/** A running provider with one client. */
export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where it sends browsers back to; set before the first sign-in. */
  redirectUri: string;
  /**
   * Signs a person in, as a browser would go: from the address that the console leads to, through the provider's pages, to the address it
   * leads back to.
   */
  signIn(startUrl: string, userId: string): Promise<string>;
  /** How often somebody asked for tokens. */
  readonly asked: () => number;
  stop(): Promise<void>;
}

/** Starts it. PKCE is demanded of every client, as RFC 9700 asks. */
export async function startProvider(): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { clientId: 'console', clientSecret: 'a-secret-of-this-test-alone-and-long' };
  let asked = 0;
  let handler: ((request: unknown, response: unknown) => void) | null = null;
  const self: TestProvider = {
    issuer,
    ...client,
    redirectUri: '',
    signIn: (startUrl, userId) => walk(startUrl, userId, self.redirectUri),
    asked: () => asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('request', (request, response) => {
    handler ??= new Provider(issuer, {
      clients: [
        {
          client_id: client.clientId,
          client_secret: client.clientSecret,
          redirect_uris: [self.redirectUri],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      cookies: { keys: ['only for this test'] },
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      pkce: { required: () => true },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    }).callback() as (request: unknown, response: unknown) => void;
    if (request.url === '/token') asked += 1;
    handler(request, response);
  });
  return self;
}

/** Follows redirects and fills in the forms of the provider's own pages until it leads back. */
async function walk(startUrl: string, userId: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next: { readonly url: string; readonly body?: URLSearchParams } = { url: startUrl };
  for (let step = 0; step < 12; step++) {
    const response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.body ? { method: 'POST', body: next.body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=', 2);
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const text = await response.text();
    if (location !== null) {
      const url = new URL(location, next.url).href;
      if (url.startsWith(redirectUri)) return url;
      next = { url };
    } else {
      const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1];
      if (action === undefined || prompt === undefined)
        throw new Error(`the provider showed ${response.status}: ${text.slice(0, 200)}`);
      next = { url: new URL(action, next.url).href, body: new URLSearchParams({ prompt, login: userId, password: 'any' }) };
    }
  }
  throw new Error('the provider leads in circles');
}
