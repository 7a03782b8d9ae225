<?php
/**
 * Runs when the plugin is deleted: nothing of it stays behind.
 *
 * @package ContentSettlement
 */

if ( ! defined( 'WP_UNINSTALL_PLUGIN' ) ) {
	exit;
}

foreach ( array( 'lifecycle', 'settings', 'reports', 'gate-config', 'claims', 'credits', 'wallet' ) as $part ) {
	require_once __DIR__ . "/includes/class-$part.php";
}

if ( is_multisite() ) {
	foreach ( get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) as $site_id ) {
		switch_to_blog( $site_id );
		ContentSettlement\Lifecycle::erase_site();
		restore_current_blog();
	}
} else {
	ContentSettlement\Lifecycle::erase_site();
}
delete_metadata( 'user', 0, ContentSettlement\Wallet::META, '', true );
