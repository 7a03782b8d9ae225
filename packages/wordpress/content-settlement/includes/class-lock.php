<?php
namespace ContentSettlement;

/** One holder at a time, over all of PHP's workers; a lock that its holder did not give back is anybody's after its time. */
final class Lock {
	/** Whether it was free. INSERT IGNORE is the one write of WordPress' tables that says who was first. */
	public static function take( string $name, int $seconds ): bool {
		global $wpdb;
		$lock = $name . '_lock';
		if ( wp_using_ext_object_cache() ) {
			return wp_cache_add( $lock, 1, 'content-settlement', $seconds );
		}
		// phpcs:disable WordPress.DB.DirectDatabaseQuery
		$wpdb->query( $wpdb->prepare( "DELETE FROM $wpdb->options WHERE option_name = %s AND option_value < %d", $lock, time() - $seconds ) );
		return 1 === $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO $wpdb->options (option_name, option_value, autoload) VALUES (%s, %d, 'no')", $lock, time() ) );
		// phpcs:enable
	}

	/** For who has taken it; a second call changes nothing. */
	public static function give_back( string $name ): void {
		global $wpdb;
		if ( wp_using_ext_object_cache() ) {
			wp_cache_delete( $name . '_lock', 'content-settlement' );
			return;
		}
		// phpcs:ignore WordPress.DB.DirectDatabaseQuery
		$wpdb->delete( $wpdb->options, array( 'option_name' => $name . '_lock' ) );
	}
}
