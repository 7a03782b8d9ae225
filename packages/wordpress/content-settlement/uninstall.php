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
	ContentSettlement\Lifecycle::on_each_site( array( ContentSettlement\Lifecycle::class, 'erase_site' ) );
	ContentSettlement\Lifecycle::erase_network();
} else {
	ContentSettlement\Lifecycle::erase_site();
}
delete_metadata( 'user', 0, ContentSettlement\Wallet::META, '', true );
