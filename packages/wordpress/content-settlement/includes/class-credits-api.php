<?php
namespace ContentSettlement;

/** What the service asks: who wrote the page behind a slug? …/wp-json/content-settlement/v1/credits/{slug} */
final class Credits_Api {
	const NAMESPACE = 'content-settlement/v1';
	/** When somebody who knows the token asked last, to the hour. */
	const READ_AT = Settings::PREFIX . 'credits_read_at';

	public static function register(): void {
		add_action(
			'rest_api_init',
			static function (): void {
				register_rest_route(
					self::NAMESPACE,
					'/credits/(?P<slug>.+)',
					array(
						'methods'             => 'GET',
						'callback'            => array( self::class, 'answer' ),
						'permission_callback' => array( self::class, 'is_allowed' ),
					)
				);
			}
		);
	}

	/** The address to enter at the service; a slug follows. */
	public static function address(): string {
		return untrailingslashit( rest_url( self::NAMESPACE ) );
	}

	/** Who shows the token, which is made when the site is connected; anybody before. */
	public static function is_allowed(): bool {
		$hash  = (string) get_option( Settings::CREDITS_TOKEN, '' );
		// phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- hashed and compared.
		$shown = (string) wp_unslash( $_SERVER['HTTP_AUTHORIZATION'] ?? $_SERVER['REDIRECT_HTTP_AUTHORIZATION'] ?? '' );
		if ( '' === $hash ) {
			return true;
		}
		$is_known = hash_equals( $hash, hash( 'sha256', (string) preg_replace( '/^Bearer /i', '', $shown ) ) );
		if ( $is_known && time() - (int) get_option( self::READ_AT, 0 ) > HOUR_IN_SECONDS ) {
			update_option( self::READ_AT, time(), false );
		}
		return $is_known;
	}

	/** 200 with the credits, 404 when there is nobody to pay. */
	public static function answer( \WP_REST_Request $request ): \WP_REST_Response {
		if ( ! defined( 'DONOTCACHEPAGE' ) ) {
			define( 'DONOTCACHEPAGE', true );
		}
		$post     = Page_Address::post_at( Gate_Config::prefixes(), rawurldecode( (string) $request['slug'] ) );
		$credits  = null === $post ? null : Credits::of( $post );
		$response = null === $credits
			? new \WP_REST_Response( array( 'error' => 'nobody to pay' ), 404 )
			: new \WP_REST_Response( $credits, 200 );
		$response->header( 'Cache-Control', 'private, no-store' );
		return $response;
	}
}
