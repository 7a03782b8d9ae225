<?php
namespace ContentSettlement;

/** How often something is done in one second, counted over all of PHP's workers. */
final class Rate {
	/** Counts once more; false when `$most` were counted this second. A name's row stays, so names are few. */
	public static function allows( string $name, int $most ): bool {
		global $wpdb;
		$rate = $name . '_rate';
		$now  = time();
		if ( wp_using_ext_object_cache() ) {
			wp_cache_add( "{$rate}_$now", 0, 'content-settlement', 2 );
			$count = wp_cache_incr( "{$rate}_$now", 1, 'content-settlement' );
			return is_int( $count ) && $count <= $most;
		}
		// The value is the second and, behind it, its count: one statement begins, counts and refuses.
		$none = $now * 1000;
		// phpcs:disable WordPress.DB.DirectDatabaseQuery
		$update = "UPDATE $wpdb->options SET option_value = CASE WHEN option_value > %d THEN option_value + 1 ELSE %d END WHERE option_name = %s AND option_value < %d";
		if ( 1 === $wpdb->query( $wpdb->prepare( $update, $none, $none + 1, $rate, $none + $most ) ) ) { // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
			return true;
		}
		$insert = "INSERT IGNORE INTO $wpdb->options (option_name, option_value, autoload) VALUES (%s, %d, 'no')";
		return 1 === $wpdb->query( $wpdb->prepare( $insert, $rate, $none + 1 ) ); // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
		// phpcs:enable
	}
}
