<?php
namespace ContentSettlement;

/** What deactivating and uninstalling take away. */
final class Lifecycle {
	/** No event stays scheduled; settings and wallets stay. */
	public static function deactivate(): void {
		wp_clear_scheduled_hook( Reports::EVENT );
		wp_clear_scheduled_hook( Gate_Config::EVENT );
		wp_clear_scheduled_hook( Claims::EVENT );
	}

	/** Everything of this site: events, options, transients, meta of posts. Wallets are the network's; see uninstall.php. */
	public static function erase_site(): void {
		global $wpdb;
		self::deactivate();
		foreach ( array( '', '_transient_', '_transient_timeout_' ) as $before ) {
			$like = $wpdb->esc_like( $before . Settings::PREFIX ) . '%';
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- there is no function that lists options by their beginning.
			$names = $wpdb->get_col( $wpdb->prepare( "SELECT option_name FROM $wpdb->options WHERE option_name LIKE %s", $like ) );
			array_map( 'delete_option', $names );
		}
		delete_post_meta_by_key( Credits::META );
		delete_post_meta_by_key( Wallet::META );
	}
}
