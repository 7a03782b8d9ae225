/** A network of sites, where the plugin is active for all: each site with settings, keys and proof of its own. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { WordPress } from './support/wordpress.ts';
import { HOST, startWordPress } from './support/wordpress.ts';

const SECOND = 'second.sandbox.example';
let wordpress: WordPress;

beforeAll(async () => {
  const folder = mkdtempSync(join(inject('parts').folder, 'wp-net-'));
  wordpress = await startWordPress(folder, { network: [SECOND, `${SECOND}/shop`] });
});
afterAll(() => wordpress?.stop());

/** Runs PHP on a site of the network: 1, 2 or 3. */
const on = (site: number, code: string) => wordpress.php(`switch_to_blog( ${site} ); ${code} restore_current_blog();`);
const proofAt = async (host: string, path = ''): Promise<readonly [number, string]> => {
  const answer = await fetch(`${wordpress.url}/.well-known/svc-challenge${path}`, { headers: { 'x-host': host } });
  return [answer.status, (await answer.text()).slice(0, 20)];
};

test('each site has keys of its own, and asks for authors at its own address', async () => {
  for (const site of [1, 2]) {
    await on(
      site,
      `ContentSettlement\\Settings::save( 'https://svc.example', array( 'post' ), true, false ); ContentSettlement\\Settings::save_key( 'svc_live_ofsite${site}' );`,
    );
  }
  const said = (site: number) =>
    on(site, 'echo wp_json_encode( array( ContentSettlement\\Settings::api_key(), ContentSettlement\\Host_Proof::host() ) );');
  expect(await said(1)).toEqual(['svc_live_ofsite1', HOST]);
  expect(await said(2)).toEqual(['svc_live_ofsite2', SECOND]);
  expect(await said(3)).toEqual(['', SECOND]);
});

test('the proof of a host is shown at that host alone, whichever of its sites was asked for it', async () => {
  await on(2, "ContentSettlement\\Host_Proof::keep( 'tokenofsecond' );");
  expect(await proofAt(SECOND)).toEqual([200, 'tokenofsecond']);
  expect(await proofAt(SECOND, '/tokenofsecond')).toEqual([200, 'tokenofsecond']);
  expect((await proofAt(SECOND, '/other'))[0]).toBe(404);
  expect((await proofAt(HOST))[0]).toBe(404);
  await on(3, "ContentSettlement\\Host_Proof::keep( 'tokenofshop' );");
  expect(await proofAt(SECOND)).toEqual([200, 'tokenofshop']);
});

test('a second site of one host is told which one is connected there, and leads nowhere', async () => {
  const begun = (site: number) =>
    on(
      site,
      `wp_set_current_user( 1 ); update_option( 'permalink_structure', '/%postname%/' );
       add_filter( 'wp_redirect', static function ( $to ) { echo wp_json_encode( $to ); return false; } );
       echo wp_json_encode( ContentSettlement\\Connection::begin( 'https://svc.example' ) );`,
    );
  expect(await begun(3)).toEqual([
    false,
    expect.stringContaining(`another site of this network is connected already: ${SECOND}/`),
  ]);
  const to = new URL(await begun(2));
  expect([to.searchParams.get('host'), to.searchParams.get('redirect_uri')]).toEqual([
    SECOND,
    `https://${SECOND}/wp-admin/options-general.php?page=content-settlement`,
  ]);
});

test('the administrator of one site proves no host that others of the network share, by the button or by hand; whoever runs the network does', async () => {
  const tried = (site: number) =>
    on(
      site,
      `$id = username_exists( 'folder' ) ?: wp_insert_user( array( 'user_login' => 'folder', 'user_pass' => wp_generate_password() ) );
       add_user_to_blog( ${site}, $id, 'administrator' );
       wp_set_current_user( $id );
       update_option( 'permalink_structure', '/%postname%/' );
       add_filter( 'pre_http_request', static function () { return new WP_Error( 'asked', 'the service was asked' ); } );
       if ( ! current_user_can( 'manage_options' ) ) { throw new RuntimeException( 'no administrator' ); }
       $proven = ContentSettlement\\Host_Proof::prove();
       $begun  = ${site} === 1 ? null : ContentSettlement\\Connection::begin( 'https://svc.example' );
       echo wp_json_encode( array( $proven, $begun ) );`,
    );
  const theirs = 'Ask an administrator of the network to connect this one.';
  const folder = await tried(3);
  expect(folder).toEqual([expect.stringContaining(theirs), [false, expect.stringContaining(theirs)]]);
  expect((await tried(1))[0]).not.toContain(theirs); // alone at its host
  expect(await proofAt(SECOND)).toEqual([200, 'tokenofshop']); // as it was
});

test('deactivated for the network, no site keeps an event; deleted, nothing of any is left', async () => {
  for (const site of [1, 2]) await on(site, 'wp_schedule_single_event( time() + 999, ContentSettlement\\Gate_Config::EVENT );');
  const left = await wordpress.php(`
    ContentSettlement\\Lifecycle::deactivate( true );
    $left = array();
    foreach ( array( 1, 2, 3 ) as $site ) {
      switch_to_blog( $site );
      $left[] = strpos( (string) wp_json_encode( _get_cron_array() ), 'content_settlement' );
      restore_current_blog();
    }
    define( 'WP_UNINSTALL_PLUGIN', 'content-settlement/content-settlement.php' );
    include WP_PLUGIN_DIR . '/content-settlement/uninstall.php';
    global $wpdb;
    foreach ( array( 1, 2, 3 ) as $site ) {
      $table  = $wpdb->get_blog_prefix( $site ) . 'options';
      $left[] = $wpdb->get_col( "SELECT option_name FROM $table WHERE option_name LIKE '%content_settlement%'" );
    }
    $left[] = $wpdb->get_col( "SELECT meta_key FROM $wpdb->sitemeta WHERE meta_key LIKE 'content_settlement%'" );
    echo wp_json_encode( $left );
  `);
  expect(left).toEqual([false, false, false, [], [], [], []]);
});
