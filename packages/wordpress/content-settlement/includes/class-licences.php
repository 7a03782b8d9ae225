<?php
namespace ContentSettlement;

/**
 * Licences to read again, checked by the service and remembered for 60 s. While it is away, one that it has confirmed holds to its own
 * end. What cannot be a licence of this site costs no call, and one that was refused none for a minute.
 */
final class Licences {
	const FRESH     = 60;
	const MAX_CHARS = 8192;

	/** Whether the licence of the request opens the page. */
	public static function open( string $licence, string $resource, string $slug, string $issuer ): bool {
		$ends = self::end_of( $licence, $issuer );
		if ( $ends <= time() ) {
			return false;
		}
		$name = Settings::PREFIX . 'licence_' . md5( "$licence $resource" );
		$seen = (int) get_transient( $name );
		if ( $seen < 0 ) {
			return false;
		}
		if ( $seen > 0 && time() - $seen <= self::FRESH ) {
			return true;
		}
		if ( Breaker::is_open() ) {
			return $seen > 0;
		}
		$answer = Service_Client::post( '/_svc/license/check', array( 'license' => $licence, 'resource' => $resource, 'slug' => $slug, 'kind' => 'read' ) );
		Breaker::note( ! Service_Client::is_away( $answer ) );
		if ( 200 !== $answer['status'] ) {
			return $seen > 0;
		}
		if ( true !== ( $answer['body']->entitled ?? false ) ) {
			set_transient( $name, -1, self::FRESH );
			return false;
		}
		set_transient( $name, time(), min( $ends - time(), DAY_IN_SECONDS ) );
		return true;
	}

	/** When the licence says it ends, epoch seconds; 0 for what is none of this issuer. Proves nothing: the service does that. */
	private static function end_of( string $licence, string $issuer ): int {
		$parts = explode( '.', $licence );
		if ( strlen( $licence ) > self::MAX_CHARS || 3 !== count( $parts ) ) {
			return 0;
		}
		// phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- a JWS is base64 by its standard.
		$claims = json_decode( (string) base64_decode( strtr( $parts[1], '-_', '+/' ) ), true );
		if ( ! is_array( $claims ) || ( '' !== $issuer && ( $claims['iss'] ?? '' ) !== $issuer ) ) {
			return 0;
		}
		return (int) ( $claims['exp'] ?? 0 );
	}
}
