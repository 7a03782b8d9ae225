<?php
namespace ContentSettlement;

/** What deactivating and uninstalling take away. */
final class Lifecycle {
	/** No event stays scheduled, for the whole network on all its sites; settings and wallets stay. */
	public static function deactivate( bool $network_wide = false ): void {
		if ( $network_wide && is_multisite() ) {
			self::on_each_site( array( self::class, 'deactivate' ) );
			return;
		}
		wp_clear_scheduled_hook( Reports::EVENT );
		wp_clear_scheduled_hook( Gate_Config::EVENT );
		wp_clear_scheduled_hook( Claims::EVENT );
	}

	/** Does something on each site of the network. */
	public static function on_each_site( callable $what ): void {
		foreach ( get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) as $site_id ) {
			switch_to_blog( $site_id );
			$what();
			restore_current_blog();
		}
	}

	/** What the network keeps for all its sites. */
	public static function erase_network(): void {
		global $wpdb;
		// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- there is no function that lists options by their beginning.
		$names = $wpdb->get_col( $wpdb->prepare( "SELECT meta_key FROM $wpdb->sitemeta WHERE meta_key LIKE %s", $wpdb->esc_like( Settings::PREFIX ) . '%' ) );
		array_map( 'delete_site_option', $names );
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
