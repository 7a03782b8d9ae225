<?php
namespace ContentSettlement;

/** What a licence says, and whether it is the service's for this page: the rules of the JavaScript package, without a call. */
final class Licence_Proof {
	const MAX_CHARS = 4096;
	const SKEW      = 60;

	/** A licence taken apart: key, claims, signed, signature. Null for what is none that the service could have signed. */
	public static function read( string $licence ): ?array {
		$parts = explode( '.', $licence );
		if ( strlen( $licence ) > self::MAX_CHARS || 3 !== count( $parts ) ) {
			return null;
		}
		$header = json_decode( self::decode( $parts[0] ), true );
		$claims = json_decode( self::decode( $parts[1] ), true );
		if ( ! is_array( $header ) || ! is_array( $claims ) || 'EdDSA' !== ( $header['alg'] ?? '' ) || isset( $header['crit'] ) || ! is_string( $header['kid'] ?? null ) ) {
			return null;
		}
		return array( 'key' => $header['kid'], 'claims' => $claims, 'signed' => "$parts[0].$parts[1]", 'signature' => self::decode( $parts[2] ) );
	}

	/**
	 * What the claims grant of a page, given as issuer, host, slug, now (epoch seconds) and is_test (a test key's licences, which nobody paid
	 * for, open pages to test keys alone). `plain`: to its bearer; `bound`: the service has to judge the scope; `none`.
	 */
	public static function grant( array $claims, array $page ): string {
		$svc = $claims['svc'] ?? null;
		$is_timely = self::is_time( $claims['exp'] ?? null ) && self::is_time( $claims['nbf'] ?? null ) && self::is_time( $claims['iat'] ?? null )
			&& $page['now'] < $claims['exp'] && max( $claims['nbf'], $claims['iat'] ) <= $page['now'] + self::SKEW;
		if ( ! is_array( $svc ) || ! $is_timely || ! is_string( $claims['jti'] ?? null ) ) {
			return 'none';
		}
		if ( ( $claims['iss'] ?? '' ) !== $page['issuer'] || ! in_array( 'https://' . $page['host'], (array) ( $claims['aud'] ?? array() ), true ) ) {
			return 'none';
		}
		if ( 1 !== ( $svc['v'] ?? 0 ) || 'read' !== ( $svc['grant'] ?? '' ) || ! in_array( $svc['kind'] ?? '', array( 'read', 'citation' ), true ) ) {
			return 'none';
		}
		if ( 'mock' === ( $svc['settlementRefKind'] ?? '' ) && ! $page['is_test'] ) {
			return 'none';
		}
		if ( ! isset( $svc['scope'] ) && ( $svc['slug'] ?? '' ) !== $page['slug'] ) {
			return 'none';
		}
		// A token of a holder opens nothing by itself, and WordPress takes no proof of one: the service could only say no.
		if ( array_key_exists( 'cnf', $claims ) ) {
			return 'none';
		}
		return isset( $svc['scope'] ) || isset( $svc['licence'] ) ? 'bound' : 'plain';
	}

	/** Whether a key signed it; null where PHP has no fast way to find out: WordPress' own takes a tenth of a second for each. */
	public static function is_signed( array $read, string $key ): ?bool {
		if ( ! extension_loaded( 'sodium' ) ) {
			return null;
		}
		return 32 === strlen( $key ) && 64 === strlen( $read['signature'] ) && sodium_crypto_sign_verify_detached( $read['signature'], $read['signed'], $key );
	}

	/** Bytes of base64url; '' for what is none. */
	public static function decode( string $text ): string {
		// phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- a JWS is base64 by its standard.
		return preg_match( '/^[\w-]*$/D', $text ) ? (string) base64_decode( strtr( $text, '-_', '+/' ), true ) : '';
	}

	/** @param mixed $value Of a claim. */
	private static function is_time( $value ): bool {
		return is_int( $value ) || is_float( $value );
	}
}
