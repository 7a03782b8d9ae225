<?php
namespace ContentSettlement;

/** Where a request comes from, by the rules of the JavaScript package. */
final class Whence {
	const MOST_HOPS    = 8;
	const MOST_GUESSES = 4;
	const ONE_ADDRESS  = array( 'cf-connecting-ip', 'true-client-ip', 'x-real-ip' );

	/** Of the request that is being answered. The site names its proxies in `CONTENT_SETTLEMENT_TRUSTED_PROXIES` (CIDR, with commas; '' for none). */
	public static function now(): array {
		$trusted = null;
		if ( defined( 'CONTENT_SETTLEMENT_TRUSTED_PROXIES' ) ) {
			$trusted = array_values( array_filter( array_map( 'trim', explode( ',', (string) CONTENT_SETTLEMENT_TRUSTED_PROXIES ) ) ) );
		}
		$headers = array();
		foreach ( array_merge( self::ONE_ADDRESS, array( 'x-forwarded-for', 'via', 'forwarded' ) ) as $name ) {
			$key = 'HTTP_' . strtoupper( str_replace( '-', '_', $name ) );
			// phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- compared with addresses, never printed.
			$headers[ $name ] = isset( $_SERVER[ $key ] ) ? (string) wp_unslash( $_SERVER[ $key ] ) : '';
		}
		// phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- the same.
		return self::read( $trusted, isset( $_SERVER['REMOTE_ADDR'] ) ? (string) $_SERVER['REMOTE_ADDR'] : '', $headers );
	}

	/**
	 * Addresses that may be those of who asks: the one behind the proxies that were named, none where that cannot be told. `$trusted` null: nobody said who is in
	 * front, so whatever the connection or a proxy's header names may be the one.
	 */
	public static function read( ?array $trusted, string $peer, array $headers ): array {
		$hops = array_reverse( array_slice( array_map( 'trim', explode( ',', $headers['x-forwarded-for'] ?? '' ) ), -self::MOST_HOPS ) );
		if ( null !== $trusted ) {
			foreach ( array_merge( array( $peer ), $hops ) as $hop ) {
				$bytes = Ranges::bytes( $hop );
				if ( '' === $bytes ) {
					return array();
				}
				if ( ! Ranges::has( $trusted, $bytes ) ) {
					// Nobody on the internet has it: a proxy that the site forgot to name, which hides who asks.
					return '' !== implode( '', $headers ) && ! Ranges::is_public( $hop ) ? array() : array( $hop );
				}
			}
			return array();
		}
		$named = $hops;
		foreach ( self::ONE_ADDRESS as $name ) {
			$named[] = $headers[ $name ] ?? '';
		}
		$named      = array_filter( $named, array( Ranges::class, 'is_public' ) );
		$is_proxied = '' !== implode( '', $headers );
		if ( $is_proxied && array() === $named ) {
			return array();
		}
		$all = Ranges::is_public( $peer ) ? array_merge( array( $peer ), $named ) : $named;
		return array_slice( array_values( array_unique( $all ) ), 0, self::MOST_GUESSES );
	}
}
