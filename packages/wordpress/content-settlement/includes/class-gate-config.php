<?php
namespace ContentSettlement;

/**
 * What the gate decides by (enforce-config): kept, by its ETag, for 300 s or until the service names a newer version; the last good copy when the service is away. Nobody who reads
 * free ever waits for it: for them it is refreshed by cron.
 */
final class Gate_Config {
	const NAME  = Settings::PREFIX . 'config';
	const EVENT = self::NAME . '_refresh';
	const FRESH = 300;
	const PAUSE = 60;
	/** Seconds between two readings for the sake of a newer version: one that never comes costs no more. */
	const LEAST = 2;

	public static function register(): void {
		add_action( self::EVENT, array( self::class, 'refresh' ) );
	}

	/** The part `enforcement` as kept, an empty array before the first answer. Asks nobody. */
	public static function kept(): array {
		$kept = self::copy();
		if ( time() - $kept['tried_at'] > self::FRESH && ! wp_next_scheduled( self::EVENT ) ) {
			wp_schedule_single_event( time(), self::EVENT );
		}
		return $kept['enforcement'];
	}

	/** The same, asked for when it is old; the one call an agent may wait for. */
	public static function fresh(): array {
		$kept = self::copy();
		$wait = array() === $kept['enforcement'] ? self::PAUSE : self::FRESH;
		if ( time() - $kept['tried_at'] > $wait && ! Breaker::is_open() ) {
			self::refresh();
		}
		return self::copy()['enforcement'];
	}

	/** Hears which version of the site an answer names, for an agent who waits anyway: an older copy is read again at once. */
	public static function heard( array $headers ): void {
		$kept = self::copy();
		if ( (int) ( $headers['x-svc-site-version'] ?? 0 ) > ( $kept['version'] ?? PHP_INT_MAX ) && time() - $kept['tried_at'] >= self::LEAST ) {
			self::refresh();
		}
	}

	/** Asks the service now and returns its answer. */
	public static function refresh(): array {
		$kept   = self::copy();
		$answer = Service_Client::get( '/_svc/enforce-config?addresses=' . Claims::version(), '' === $kept['etag'] ? array() : array( 'if-none-match' => $kept['etag'] ) );
		Breaker::note( ! Service_Client::is_away( $answer ) );
		$kept['tried_at'] = time();
		if ( 200 === $answer['status'] && isset( $answer['body']->enforcement ) ) {
			$kept['etag']        = $answer['headers']['etag'] ?? '';
			$kept['version']     = (int) ( $answer['body']->version ?? 0 );
			if ( isset( $answer['body']->addresses ) && is_object( $answer['body']->addresses ) ) {
				Claims::learn( $answer['body']->addresses );
			}
			$kept['enforcement'] = json_decode( (string) wp_json_encode( $answer['body']->enforcement ), true );
		}
		update_option( self::NAME, $kept );
		return $answer;
	}

	/** Forgets the copy: it was that of another service or key. */
	public static function forget(): void {
		delete_option( self::NAME );
		delete_option( Claims::LISTS );
	}

	/** Article prefixes; the whole site until the service has said. */
	public static function prefixes(): array {
		$prefixes = self::copy()['enforcement']['articlePrefixes'] ?? array( '/' );
		return is_array( $prefixes ) ? $prefixes : array( '/' );
	}

	/** Whether a plain path is in scope by the site's rules. */
	public static function covers( array $enforcement, string $path ): bool {
		$scope = $enforcement['gateScope'] ?? array( 'mode' => 'prefixes' );
		if ( 'site' !== ( $scope['mode'] ?? '' ) ) {
			return null !== Page_Address::slug_of( $enforcement['articlePrefixes'] ?? array( '/' ), $path );
		}
		foreach ( $scope['excludePrefixes'] ?? array() as $prefix ) {
			if ( 0 === strpos( $path . '/', rtrim( $prefix, '/' ) . '/' ) ) {
				return false;
			}
		}
		return true;
	}

	private static function copy(): array {
		$kept = get_option( self::NAME );
		return is_array( $kept ) ? $kept : array( 'etag' => '', 'tried_at' => 0, 'enforcement' => array() );
	}
}
