/** A person at the admin pages: keeps cookies, fills in the forms that the pages have. */
import type { WordPress } from './wordpress.ts';

/** A browser that has logged in. */
export interface Browser {
  /** A page's HTML; throws unless it is there. */
  read(path: string): Promise<string>;
  /** Sends the form of a page that has this hidden `action` (or id), with its hidden fields; gives the page it leads to. */
  submit(path: string, form: string, fields: Readonly<Record<string, string>>): Promise<string>;
  /** A bare request with the cookies. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

const PERSON = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/** Logs in. Throws when the password is not taken. */
export async function logIn(wordpress: WordPress, user: string, password: string): Promise<Browser> {
  const cookies = new Map<string, string>();
  const request: Browser['request'] = async (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    if (!headers.has('user-agent')) headers.set('user-agent', PERSON);
    const response = await fetch(`${wordpress.url}${path}`, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const follow = async (path: string, init?: RequestInit): Promise<string> => {
    const response = await request(path, init);
    const to = response.headers.get('location');
    if (to !== null) return follow(pathOf(new URL(to, `https://x${path}`)));
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  const submit: Browser['submit'] = async (path, form, fields) => {
    const html = await follow(path);
    const found = [...html.matchAll(/<form[^>]*>[\s\S]*?<\/form>/g)]
      .map(([text]) => text)
      .find((text) => text.includes(`"${form}"`));
    if (found === undefined) throw new Error(`${path} has no form ${form}`);
    const body = new URLSearchParams();
    for (const [input] of found.matchAll(/<input[^>]*>/g)) {
      const attribute = (name: string): string => decoded(new RegExp(`\\b${name}=["']([^"']*)["']`).exec(input)?.[1] ?? '');
      const isSent = !/type=["'](submit|checkbox|radio)["']/.test(input) || /\bchecked\b/.test(input);
      if (isSent && attribute('name') !== '') body.append(attribute('name'), attribute('value'));
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const action = decoded(/action=["']([^"']*)["']/.exec(found)?.[1] ?? path).replace(/^https:\/\/[^/]+/, '');
    return follow(action.startsWith('/') ? action : path, { method: 'POST', body });
  };
  await request('/wp-login.php');
  const answer = await request('/wp-login.php', {
    method: 'POST',
    body: new URLSearchParams({ log: user, pwd: password, 'wp-submit': 'Log In', testcookie: '1', redirect_to: '/wp-admin/' }),
  });
  if (answer.status !== 302) throw new Error(`${user} cannot log in: ${answer.status}`);
  return { read: (path) => follow(path), submit, request };
}

/** The path of an address, by whichever name of the site. */
function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}

function decoded(text: string): string {
  return text.replaceAll('&#038;', '&').replaceAll('&amp;', '&').replaceAll('&#039;', "'").replaceAll('&quot;', '"');
}
