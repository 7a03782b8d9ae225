<?php
namespace ContentSettlement;

/**
 * Feeds and the REST API hold the whole text of every post. Crawlers that are known by name get the excerpt there, so that a price on the
 * page means something; feed readers, which people use, and editors get what they always got. The REST API, which no
 * feed reader asks, is closed to everything that says it is automated.
 */
final class Side_Doors {
	public static function register(): void {
		add_filter( 'pre_option_rss_use_excerpt', array( self::class, 'feed' ) );
		add_action( 'wp', array( self::class, 'watch_feed' ), 0 );
		add_action( 'rest_api_init', array( self::class, 'watch_rest' ) );
	}

	/** @param mixed $value False: as the site has set. */
	public static function feed( $value ) {
		return is_feed() && self::is_closed() ? '1' : $value;
	}

	public static function watch_feed(): void {
		if ( is_feed() && self::is_closed() ) {
			Answer::mark();
		}
	}

	public static function watch_rest(): void {
		foreach ( Settings::post_types() as $type ) {
			add_filter( "rest_prepare_$type", array( self::class, 'rest' ), PHP_INT_MAX );
		}
	}

	public static function rest( \WP_REST_Response $response ): \WP_REST_Response {
		$data = $response->get_data();
		if ( isset( $data['content']['rendered'] ) && self::is_closed( true ) ) {
			$data['content']['rendered'] = $data['excerpt']['rendered'] ?? '';
			$response->set_data( $data );
			$response->header( 'Cache-Control', 'private, no-store' );
		}
		return $response;
	}

	/** Whether who asks gets excerpts; `$to_all` closes a door that no feed reader uses to whatever says that it is automated, too. */
	private static function is_closed( bool $to_all = false ): bool {
		if ( ! Settings::is_complete() || ! Settings::closes_side_doors() || is_user_logged_in() ) {
			return false;
		}
		list( $who, $why ) = Gate::classify( Visit::now(), Gate_Config::kept() );
		return 'blocked' === $who || ( 'agent' === $who && ( $to_all || 'isbot' !== $why ) );
	}
}
