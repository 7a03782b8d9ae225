<?php
namespace ContentSettlement;

/**
 * Licences to read again: proven here by the service's published keys, and asked about once in 60 s, so that one that was revoked ends. What is
 * not signed for this page costs no call; while the service is away, a licence that is proven, or was confirmed, holds to its own end.
 */
final class Licences {
	const FRESH = 60;

	/** Whether the licence of the request opens the page. `$issuer`: who signs licences of this site; '' while that is unknown. */
	public static function open( string $licence, string $resource, string $slug, string $issuer ): bool {
		$read  = Licence_Proof::read( $licence );
		$grant = null === $read ? 'none' : self::prove( $read, $resource, $slug, $issuer );
		$ends  = null === $read ? 0 : (int) ( $read['claims']['exp'] ?? 0 );
		if ( 'none' === $grant || $ends <= time() ) {
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
		$while_away = $seen > 0 || 'plain' === $grant;
		if ( Breaker::is_open( Breaker::LICENCES ) ) {
			return $while_away;
		}
		$answer = Service_Client::post( '/_svc/license/check', array( 'license' => $licence, 'resource' => $resource, 'slug' => $slug, 'kind' => 'read' ) );
		Breaker::note( ! Service_Client::is_away( $answer ), Breaker::LICENCES );
		if ( 200 !== $answer['status'] && 400 !== $answer['status'] ) {
			return $while_away;
		}
		if ( true !== ( $answer['body']->entitled ?? false ) ) {
			set_transient( $name, -1, self::FRESH );
			return false;
		}
		set_transient( $name, time(), min( $ends - time(), DAY_IN_SECONDS ) );
		return true;
	}

	/** As `Licence_Proof::grant`, or `unknown`: here it can be neither proven nor refused, so the service is asked. */
	private static function prove( array $read, string $resource, string $slug, string $issuer ): string {
		$page  = array(
			'issuer'  => '' === $issuer ? ( $read['claims']['iss'] ?? '' ) : $issuer,
			'host'    => (string) wp_parse_url( $resource, PHP_URL_HOST ),
			'slug'    => $slug,
			'now'     => time(),
			'is_test' => 0 === strpos( Settings::api_key(), 'svc_test_' ),
		);
		$grant = Licence_Proof::grant( $read['claims'], $page );
		$key   = 'none' === $grant ? '' : Key_Set::find( $read['key'] );
		$is_signed = null === $key || '' === $issuer ? null : Licence_Proof::is_signed( $read, $key );
		if ( 'none' === $grant || false === $is_signed ) {
			return 'none';
		}
		return null === $is_signed ? 'unknown' : $grant;
	}
}
