import { expect, test } from 'vitest';
import { choiceOf } from '../../console/screens/connect/choice.ts';
import { requestOf } from '../../console/screens/connect/request.ts';
import type { AskedConnection } from '../../modules/operations/rules/connection.ts';
import { answerAddress, readConnection } from '../../modules/operations/rules/connection.ts';
import { keyNames } from '../../modules/operations/use/connectionKeys.ts';

const ASKED: AskedConnection = {
  host: 'blog.example.com',
  redirectUri: 'https://blog.example.com/wp-admin/options-general.php?page=content-settlement',
  creditsUrl: 'https://blog.example.com/wp-json/content-settlement/v1',
  state: 's'.repeat(32),
  codeChallenge: 'c'.repeat(43),
  codeChallengeMethod: 'S256',
};
const refusalOf = (changes: Partial<AskedConnection>): string => {
  try {
    readConnection({ ...ASKED, ...changes });
    return 'granted';
  } catch (error) {
    return (error as { details: { parameter: string } }).details.parameter;
  }
};
const page = '?page=content-settlement';

test('a WordPress is answered at its own settings page, in a folder, by its international name, or on this machine', () => {
  expect(readConnection(ASKED)).toMatchObject({ host: 'blog.example.com', name: 'WordPress blog.example.com' });
  const granted = (changes: Partial<AskedConnection>) => readConnection({ ...ASKED, ...changes });
  const folder = granted({ redirectUri: `https://blog.example.com/a/b/wp-admin/options-general.php${page}` });
  expect(folder.name).toBe('WordPress blog.example.com/a/b');
  const named = granted({
    host: 'Bücher.example.com',
    redirectUri: `https://bücher.example.com/wp-admin/options-general.php${page}`,
    creditsUrl: 'https://bücher.example.com/index.php/wp-json/content-settlement/v1',
  });
  expect([named.host, named.redirectUri.startsWith('https://xn--')]).toEqual(['xn--bcher-kva.example.com', true]);
  expect(granted({ redirectUri: `http://127.0.0.1:8080/wp-admin/options-general.php${page}` }).host).toBe('blog.example.com');
});

test.each([
  'https://evil.example/wp-admin/options-general.php?page=content-settlement',
  'https://blog.example.com.evil.example/wp-admin/options-general.php?page=content-settlement',
  'https://sub.blog.example.com/wp-admin/options-general.php?page=content-settlement',
  'https://evil.example#@blog.example.com/wp-admin/options-general.php?page=content-settlement',
  'https://blog.example.com@evil.example/wp-admin/options-general.php?page=content-settlement',
  'https://blog.example.com:443@evil.example/wp-admin/options-general.php?page=content-settlement',
  'https://evil.example\\@blog.example.com/wp-admin/options-general.php?page=content-settlement',
  'http://blog.example.com/wp-admin/options-general.php?page=content-settlement',
  'https://blog.example.com:8443/wp-admin/options-general.php?page=content-settlement',
  'http://127.0.0.1.evil.example/wp-admin/options-general.php?page=content-settlement',
  'http://192.0.2.1/wp-admin/options-general.php?page=content-settlement',
  'javascript:alert(1)//blog.example.com/wp-admin/options-general.php?page=content-settlement',
  'https://blog.example.com/go?to=https://evil.example/wp-admin/options-general.php?page=content-settlement',
  'https://blog.example.com/wp-admin/options-general.php',
  'https://blog.example.com/wp-admin/options-general.php?page=content-settlement&to=https://evil.example',
  'https://blog.example.com/wp-admin/options-general.php?page=content-settlement#x',
  'https://blog.example.com/wp-admin/../go/options-general.php?page=content-settlement',
  '//blog.example.com/wp-admin/options-general.php?page=content-settlement',
  `https://blog.example.com/${'a'.repeat(512)}/wp-admin/options-general.php?page=content-settlement`,
])('no code goes to %s', (redirectUri) => {
  expect(refusalOf({ redirectUri })).toBe('redirect_uri');
});

test('authors are asked for at the host that is connected, and at the plugin there', () => {
  for (const creditsUrl of [
    'https://evil.example/wp-json/content-settlement/v1',
    'http://blog.example.com/wp-json/content-settlement/v1',
    'https://blog.example.com:8443/wp-json/content-settlement/v1',
    'https://blog.example.com/wp-content/uploads/mine.json',
    'https://blog.example.com/wp-json/content-settlement/v1?x=1',
    'https://blog.example.com@evil.example/wp-json/content-settlement/v1',
  ])
    expect([creditsUrl, refusalOf({ creditsUrl })]).toEqual([creditsUrl, 'credits_url']);
});

test('a request without PKCE by S256, without a state, or for a name that nobody can prove is refused', () => {
  expect(refusalOf({ codeChallengeMethod: 'plain' })).toBe('code_challenge');
  expect(refusalOf({ codeChallenge: 'short' })).toBe('code_challenge');
  expect(refusalOf({ state: '' })).toBe('state');
  for (const host of ['localhost', '127.0.0.1', 'blog.local', 'wordpress.com', ''])
    expect([host, refusalOf({ host })]).toEqual([host, 'host']);
});

test('two WordPresses have two names, however long their hosts and folders are', () => {
  const namesAt = (folder: string) =>
    keyNames(
      readConnection({ ...ASKED, redirectUri: `https://blog.example.com/${folder}/wp-admin/options-general.php${page}` }).name,
    );
  const long = 'a'.repeat(100);
  expect(namesAt(`${long}b`).key).not.toBe(namesAt(`${long}c`).key);
  expect(namesAt(long).proof.length).toBeLessThanOrEqual(100);
});

test('the site that is chosen for an owner is the one of the host, a new one, or one that sells nothing; never one whose payments would change hands', () => {
  const [shop, blog, empty] = [
    { tenantId: 'shop', host: 'shop.example.com', status: 'active' },
    { tenantId: 'blog', host: 'blog.example.com', status: 'active' },
    { tenantId: 'empty', host: null, status: 'active' },
  ];
  expect(choiceOf(undefined, [shop, blog], 'blog.example.com', true)).toBe('blog');
  expect(choiceOf(undefined, [shop], 'blog.example.com', true)).toBe('new');
  expect(choiceOf(undefined, [shop], 'blog.example.com', false)).toBeNull();
  expect(choiceOf(undefined, [shop, empty], 'blog.example.com', false)).toBe('empty');
  expect(choiceOf('shop', [shop], 'blog.example.com', false)).toBe('shop');
});

test('the answer keeps what the redirect URI says, and says each of its own once', () => {
  const to = answerAddress(ASKED.redirectUri, { code: 'a b&c', state: 's', iss: 'https://svc.example' });
  expect([...new URL(to).searchParams]).toEqual([
    ['page', 'content-settlement'],
    ['code', 'a b&c'],
    ['state', 's'],
    ['iss', 'https://svc.example'],
  ]);
});

test('the console shows a request only where its answer goes to the host it names, or to this computer', () => {
  const query = (changes: Record<string, string> = {}) => ({
    host: ASKED.host,
    redirect_uri: ASKED.redirectUri,
    credits_url: ASKED.creditsUrl,
    state: ASKED.state,
    code_challenge: ASKED.codeChallenge,
    code_challenge_method: 'S256',
    ...changes,
  });
  expect(requestOf(query())).toMatchObject({ host: 'blog.example.com', place: 'blog.example.com', elsewhere: null });
  const folder = 'https://blog.example.com/mallory/wp-admin/options-general.php?page=content-settlement';
  expect(requestOf(query({ redirect_uri: folder }))?.place).toBe('blog.example.com/mallory'); // which of the host's it is
  expect(requestOf(query({ redirect_uri: 'http://127.0.0.1:81/wp-admin/options-general.php' }))?.elsewhere).toBe('127.0.0.1:81');
  for (const redirect of ['https://evil.example/', 'http://blog.example.com/', 'javascript:x', 'no address'])
    expect(requestOf(query({ redirect_uri: redirect }))).toBeNull();
  expect(requestOf({})).toBeNull();
});
