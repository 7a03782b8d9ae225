/** A WordPress of the tests' own, with the plugin, behind a front: files copied from the system's, a MariaDB and a PHP of its own. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { choosePort } from '../../../sandbox/parts/ports.ts';
import type { PartProcess } from '../../../sandbox/parts/processes.ts';
import { startProcess, untilReady } from '../../../sandbox/parts/processes.ts';
import type { Front } from './front.ts';
import { openFront } from './front.ts';
import { WORDPRESS } from './parts.ts';

const run = promisify(execFile);
const SITE = fileURLToPath(new URL('../site/', import.meta.url));
const PLUGIN = fileURLToPath(new URL('../../../packages/wordpress/content-settlement', import.meta.url));
const START_MS = 60_000;

/** The public name of the site; the service reaches it as a name of the sandbox's. */
export const HOST = 'blog.sandbox.example';
/** The administrator of the site. */
export const ADMIN = { user: 'admin', password: 'correct horse battery staple' };

/** A running WordPress. */
export interface WordPress {
  /** The front's address, where everybody reads the site. */
  readonly url: string;
  /** Runs PHP inside the WordPress and gives what it echoes, read as JSON when it is. Throws with what PHP says if it fails. */
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  php(code: string): Promise<any>;
  /** What PHP and the plugin wrote into the log. */
  log(): string;
  stop(): Promise<void>;
}

/** What a WordPress of the tests is. */
export interface WordPressOptions {
  readonly host?: string;
  /** See `openFront`. */
  readonly isForPeople?: boolean;
  /** Host names of further sites: the WordPress is a network, where the plugin is active for all. */
  readonly network?: readonly string[];
}

/** Starts everything in a folder; the caller stops it. */
export async function startWordPress(
  folder: string,
  { host = HOST, isForPeople = false, network = [] }: WordPressOptions = {},
): Promise<WordPress> {
  const root = join(folder, 'wordpress');
  const parts: PartProcess[] = [];
  let front: Front | null = null;
  const stop = async (): Promise<void> => {
    await front?.close();
    for (const part of parts.toReversed()) await part.stop();
    rmSync(root, { recursive: true, force: true });
  };
  try {
    layOut(root);
    const socket = join(folder, 'maria.sock');
    parts.push(await startDatabase(folder, socket));
    writeFileSync(join(root, 'wp-config.php'), configuration(socket, host));
    const php = (code: string) => runPhp(root, code, host);
    await runPhp(root, await readInstall(), host, 'install');
    if (network.length > 0) {
      await runPhp(root, NETWORK.replaceAll('HOST', host), host, 'run');
      writeFileSync(join(root, 'wp-config.php'), configuration(socket, host, true));
      await runPhp(root, ACTIVE_FOR_ALL, host);
      for (const [at, name] of network.entries()) await runPhp(root, siteOfNetwork(name, at), host);
    }
    const port = await choosePort();
    const server = await startProcess({
      name: 'PHP',
      command: 'php',
      args: ['-d', 'display_errors=0', '-d', 'log_errors=1', '-S', `127.0.0.1:${port}`, '-t', root, join(SITE, 'router.php')],
      env: { ...process.env, PHP_CLI_SERVER_WORKERS: '6' },
      logFile: join(folder, 'php.log'),
    });
    parts.push(server);
    front = await openFront(host, port, { isForPeople, hosts: network });
    const { url } = front;
    await untilReady(server, () => fetch(`${url}/wp-login.php`), START_MS);
    return { url, php, stop, log: () => server.tail(10_000) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A copy, since WordPress looks for its configuration beside itself. */
function layOut(root: string): void {
  mkdirSync(root, { recursive: true });
  cpSync(WORDPRESS, root, { recursive: true, dereference: true, filter: (path) => !/wp-config\.php$|wp-content\/./.test(path) });
  mkdirSync(join(root, 'wp-content', 'plugins'), { recursive: true });
  cpSync(join(SITE, 'theme'), join(root, 'wp-content', 'themes', 'plain'), { recursive: true });
  symlinkSync(PLUGIN, join(root, 'wp-content', 'plugins', 'content-settlement'));
  cpSync(join(SITE, 'must-use.php'), join(root, 'wp-content', 'mu-plugins', 'must-use.php'));
}

async function startDatabase(folder: string, socket: string): Promise<PartProcess> {
  const data = join(folder, 'maria');
  const common = ['--no-defaults', `--datadir=${data}`, '--user=root'];
  mkdirSync(data, { recursive: true });
  await run('mariadb-install-db', [...common, '--auth-root-authentication-method=normal', '--skip-test-db']);
  const database = await startProcess({
    name: 'MariaDB',
    command: 'mariadbd',
    args: [
      ...common,
      `--socket=${socket}`,
      '--skip-networking',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-buffer-pool-size=32M',
    ],
    logFile: join(folder, 'maria.log'),
  });
  const create = ['--no-defaults', `--socket=${socket}`, '--user=root', '-e', 'create database wordpress character set utf8mb4'];
  await untilReady(database, () => run('mariadb', create), START_MS);
  return database;
}

function configuration(socket: string, host: string, isNetwork = false): string {
  return `<?php
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', 'root' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', 'localhost:${socket}' );
define( 'DB_CHARSET', 'utf8mb4' );
${isNetwork ? networkOf(host) : `define( 'WP_HOME', 'https://${host}' );\ndefine( 'WP_SITEURL', 'https://${host}' );`}
define( 'AUTH_KEY', 'tests' );
define( 'WP_CACHE', is_file( __DIR__ . '/wp-content/advanced-cache.php' ) );
define( 'DISABLE_WP_CRON', true );
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'WP_ACCESSIBLE_HOSTS', '127.0.0.1' );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
$table_prefix = 'wp_';
if ( 'https' === ( $_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '' ) ) {
	$_SERVER['HTTPS'] = 'on';
}
defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`;
}

function networkOf(host: string): string {
  return `define( 'MULTISITE', true );
define( 'SUBDOMAIN_INSTALL', true );
define( 'DOMAIN_CURRENT_SITE', '${host}' );
define( 'PATH_CURRENT_SITE', '/' );
define( 'SITE_ID_CURRENT_SITE', 1 );
define( 'BLOG_ID_CURRENT_SITE', 1 );
define( 'COOKIE_DOMAIN', '' );`;
}

/** Makes the one site a network's first, as Tools → Network Setup does. */
const NETWORK = `
  require_once ABSPATH . 'wp-admin/includes/upgrade.php';
  require_once ABSPATH . 'wp-admin/includes/network.php';
  global $wpdb;
  update_option( 'home', 'https://HOST' );
  update_option( 'siteurl', 'https://HOST' );
  foreach ( $wpdb->tables( 'ms_global' ) as $table => $prefixed ) {
    $wpdb->$table = $prefixed;
  }
  install_network();
  $result = populate_network( 1, 'HOST', 'admin@example.com', 'Network', '/', true );
  if ( is_wp_error( $result ) && 'no_wildcard_dns' !== $result->get_error_code() ) {
    throw new RuntimeException( $result->get_error_message() );
  }
  update_option( 'active_plugins', array() );
`;

/** Only a network has options of its own: before it is one, WordPress keeps them beside the site's. */
const ACTIVE_FOR_ALL =
  "update_site_option( 'active_sitewide_plugins', array( 'content-settlement/content-settlement.php' => time() ) );";

/** A further site at a host of its own, or with a slash in its name in a folder of one. */
function siteOfNetwork(name: string, at: number): string {
  const [domain, ...folders] = name.split('/');
  const path = folders.length === 0 ? '/' : `/${folders.join('/')}/`;
  return `
    $id = wp_insert_site( array( 'domain' => '${domain}', 'path' => '${path}', 'network_id' => 1, 'user_id' => 1, 'title' => 'Site ${at + 2}' ) );
    if ( is_wp_error( $id ) ) { throw new RuntimeException( $id->get_error_message() ); }
    switch_to_blog( $id );
    update_option( 'home', 'https://${domain}${path === '/' ? '' : path.slice(0, -1)}' );
    update_option( 'siteurl', 'https://${domain}${path === '/' ? '' : path.slice(0, -1)}' );
    restore_current_blog();`;
}

async function readInstall(): Promise<string> {
  return `require ABSPATH . 'wp-admin/includes/upgrade.php';
    wp_install( 'The Daily Test', '${ADMIN.user}', 'admin@example.com', true, '', '${ADMIN.password}' );
    switch_theme( 'plain' );
    update_option( 'active_plugins', array( 'content-settlement/content-settlement.php' ) );`;
}

async function runPhp(root: string, code: string, host: string, mode: 'install' | 'run' = 'run') {
  const before =
    `error_reporting( E_ALL & ~E_DEPRECATED ); ini_set( 'display_errors', 'stderr' ); $_SERVER['HTTP_HOST'] = '${host}';` +
    `$_SERVER['HTTPS'] = 'on'; $_SERVER['REMOTE_ADDR'] = '127.0.0.1'; $_SERVER['REQUEST_URI'] = '/'; ${mode === 'install' ? "define( 'WP_INSTALLING', true );" : ''}` +
    `require '${root}/wp-load.php';`;
  const { stdout, stderr } = await run('php', ['-r', `${before}\n${code}`], { maxBuffer: 16_777_216 });
  if (/PHP (Fatal|Parse|Warning)/.test(stderr)) throw new Error(stderr);
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
}
