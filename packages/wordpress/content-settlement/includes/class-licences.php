<?php
namespace ContentSettlement;

/**
 * Licences to read again: proven here by the service's published keys, and asked about once in 60 s, so that one that was revoked ends. What is
 * not signed for this page costs no call; while the service is away, a licence that is proven, or was confirmed, holds to its own end. Of the others
 * one licence has 20 questions a second, whatever tokens its account fetches for it, and all together 50 and four at once, so that no holder of one
 * spends the site's key or PHP's workers; above that the answer is 503.
 */
final class Licences {
	const FRESH  = 60;
	/** Questions a second. */
	const OF_ONE = 20;
	const OF_ALL = 50;
	/** Licences are counted under so many names, whose rows stay. */
	const NAMES  = 64;

	/**
	 * What the licence of the request is worth: `good` opens the page, `none` does not, `busy` could not be looked at now. `$issuer`: who signs
	 * licences of this site; '' while that is unknown.
	 */
	public static function judge( string $licence, string $resource, string $slug, string $issuer ): string {
		$read  = Licence_Proof::read( $licence );
		$grant = null === $read ? 'none' : self::prove( $read, $resource, $slug, $issuer );
		$ends  = null === $read ? 0 : (int) ( $read['claims']['exp'] ?? 0 );
		if ( 'none' === $grant || $ends <= time() ) {
			return 'none';
		}
		$name = Settings::PREFIX . 'licence_' . md5( "$licence $resource" );
		$seen = (int) get_transient( $name );
		if ( $seen < 0 ) {
			return 'none';
		}
		if ( $seen > 0 && time() - $seen <= self::FRESH ) {
			return 'good';
		}
		$while_away = $seen > 0 || 'plain' === $grant ? 'good' : 'none';
		if ( Breaker::is_open( Breaker::LICENCES ) ) {
			return $while_away;
		}
		// Not honoured as in an outage: too much is in one caller's hand, who may hold a licence that was revoked.
		if ( ! self::may_ask( $read['claims'] ) || ! Places::take( Places::LICENCES ) ) {
			return 'busy';
		}
		try {
			$answer = Service_Client::post( '/_svc/license/check', array( 'license' => $licence, 'resource' => $resource, 'slug' => $slug, 'kind' => 'read' ) );
		} finally {
			Places::give_back();
		}
		Breaker::note( ! Service_Client::is_away( $answer ), Breaker::LICENCES );
		if ( 200 !== $answer['status'] && 400 !== $answer['status'] ) {
			return $while_away;
		}
		if ( true !== ( $answer['body']->entitled ?? false ) ) {
			set_transient( $name, -1, self::FRESH );
			return 'none';
		}
		set_transient( $name, time(), min( $ends - time(), DAY_IN_SECONDS ) );
		return 'good';
	}

	/** Counts a question about the licence that was bought, which all of its tokens name. */
	private static function may_ask( array $claims ): bool {
		$bought = $claims['svc']['licence'] ?? $claims['jti'];
		$name   = Settings::PREFIX . 'licence_';
		return Rate::allows( $name . crc32( (string) wp_json_encode( $bought ) ) % self::NAMES, self::OF_ONE ) && Rate::allows( "{$name}all", self::OF_ALL );
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
