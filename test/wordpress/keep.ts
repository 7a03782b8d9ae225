/**
 * `npm run wordpress`: a WordPress with the plugin to look at, beside the sandbox that runs (`npm start`). It says what to do; Ctrl+C ends it, and
 * nothing of it stays but its site in the sandbox, without the host's server.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { missingParts } from './support/parts.ts';
import type { WordPress } from './support/wordpress.ts';
import { ADMIN, startWordPress } from './support/wordpress.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SANDBOX = join(ROOT, '.sandbox/sandbox.json');
const INSTALL = 'apt-get install wordpress php-cli php-mysql php-curl mariadb-server';

/** Two authors with wallets and a post by both. */
const POSTS = `
  global $wp_rewrite;
  $wp_rewrite->set_permalink_structure( '/stories/%postname%/' );
  $wp_rewrite->flush_rules();
  $ids = array();
  foreach ( array( 'ann' => '1', 'bob' => '2' ) as $name => $digit ) {
    $ids[ $name ] = wp_insert_user( array( 'user_login' => $name, 'user_pass' => wp_generate_password(), 'display_name' => ucfirst( $name ), 'role' => 'author' ) );
    update_user_meta( $ids[ $name ], ContentSettlement\\Wallet::META, '0x' . str_repeat( $digit, 40 ) );
  }
  $post = wp_insert_post( array( 'post_title' => 'A story by two', 'post_name' => 'two', 'post_content' => 'The whole text.', 'post_status' => 'publish', 'post_author' => $ids['ann'] ) );
  ContentSettlement\\Credits::store( $post, array( $ids['ann'] => 2, $ids['bob'] => 1 ), false );
`;

const why = whyNot();
if (why === null) await keep();
else {
  console.error(why);
  process.exitCode = 1;
}

function whyNot(): string | null {
  const missing = missingParts();
  if (missing.length > 0) return `There is no ${missing.join(', ')} (${INSTALL}).`;
  return existsSync(SANDBOX) ? null : 'Start the sandbox first, and leave it running: npm start';
}

async function keep(): Promise<void> {
  const { baseUrl, site } = JSON.parse(readFileSync(SANDBOX, 'utf8')) as { baseUrl: string; site: { controlUrl: string } };
  const host = `blog-${randomBytes(3).toString('hex')}.sandbox.example`;
  const folder = mkdtempSync(join(tmpdir(), 'wordpress-'));
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  let wordpress: WordPress | null = null;
  const answerFor = (port: number | null) =>
    fetch(`${site.controlUrl}/sites`, { method: 'POST', body: JSON.stringify({ host, port }) });
  try {
    wordpress = await startWordPress(folder, { host, isForPeople: true });
    await wordpress.php(POSTS);
    await answerFor(Number(new URL(wordpress.url).port));
    console.log(wordsOf({ host, baseUrl, url: wordpress.url, ownerToken: await openSite(host) }));
    await ended;
    await answerFor(null).catch(() => undefined); // the sandbox may be gone
  } finally {
    await wordpress?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A site at the sandbox for this WordPress to be connected to, and the token that its owner signs in with. */
async function openSite(host: string): Promise<string> {
  const admin = async (...args: string[]) =>
    JSON.parse((await promisify(execFile)(process.execPath, ['bin/admin.ts', ...args], { cwd: ROOT })).stdout);
  const pricing = ['--price', '0.003', '--prefix', '/stories/'];
  const { tenantId } = await admin('site', 'add', '--host', `home-${host}`, '--plan', 'studio', ...pricing);
  const { token } = await admin('owner', 'token', tenantId, '--user', 'wordpress');
  return token;
}

interface Told {
  readonly host: string;
  readonly url: string;
  readonly baseUrl: string;
  readonly ownerToken: string;
}

function wordsOf({ host, url, baseUrl, ownerToken }: Told): string {
  return `
WordPress   ${url}/stories/two/ (public name: ${host})
Log in      ${url}/wp-login.php as ${ADMIN.user}, password: ${ADMIN.password}
Settings    ${url}/wp-admin/options-general.php?page=content-settlement
Connect     enter ${baseUrl}, press Connect, sign in with ${ownerToken}, choose home-${host}, and say yes here
An agent    curl -i -A GPTBot/1.3 ${url}/stories/two/
Buy         BUYER_PRIVATE_KEY=$(node -p "require('./.sandbox/sandbox.json').buyer.privateKey") npx node examples/buyer/buyer.ts ${url}/stories/two/

Ctrl+C ends it.`;
}
