<?php
/**
 * Stands for the page caches that come as a drop-in of this name, at their defaults: answers before plugins run, keeps the 200 of a GET of a visitor
 * without cookies by its address alone, and honours DONOTCACHEPAGE but no header.
 */
if ( 'cli' !== PHP_SAPI && 'GET' === $_SERVER['REQUEST_METHOD'] && empty( $_COOKIE ) && ! preg_match( '~^/wp-(?!json)~', $_SERVER['REQUEST_URI'] ) ) {
	$kept = sys_get_temp_dir() . '/test-page-cache-' . sha1( __FILE__ . $_SERVER['REQUEST_URI'] );
	if ( is_file( $kept ) ) {
		header( 'X-Page-Cache: hit' );
		readfile( $kept );
		exit;
	}
	ob_start(
		static function ( string $page ) use ( $kept ): string {
			if ( 200 === http_response_code() && '' !== $page && ! ( defined( 'DONOTCACHEPAGE' ) && DONOTCACHEPAGE ) ) {
				file_put_contents( $kept, $page );
			}
			return $page;
		}
	);
}
