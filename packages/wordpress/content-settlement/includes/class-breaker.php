<?php
namespace ContentSettlement;

/** After five failures in a row nobody asks for ten seconds: no visitor of a busy site waits two seconds for a service that is away. */
final class Breaker {
	const NAME     = Settings::PREFIX . 'breaker';
	/** Of payments: they wait for 25 s, and would hold all of PHP's workers while the service hangs. */
	const SALES    = Settings::PREFIX . 'breaker_sales';
	/** Of licences and the keys that prove them: while the service counts as away for prices, pages are free, so nobody's licence may make it so. */
	const LICENCES = Settings::PREFIX . 'breaker_licences';
	const ALL      = array( self::NAME, self::SALES, self::LICENCES );
	const FAILURES = 5;
	const PAUSE    = 10;

	/** Whether asking is held back now. After the pause one request asks, while the others are held back for another one. */
	public static function is_open( string $name = self::NAME ): bool {
		$state = get_transient( $name );
		if ( ! is_array( $state ) || $state['failures'] < self::FAILURES ) {
			return false;
		}
		if ( time() < $state['until'] ) {
			return true;
		}
		set_transient( $name, array( 'failures' => $state['failures'], 'until' => time() + self::PAUSE ), HOUR_IN_SECONDS );
		return false;
	}

	/** Takes note of how a call went. */
	public static function note( bool $went_well, string $name = self::NAME ): void {
		$state = get_transient( $name );
		if ( $went_well ) {
			if ( false !== $state ) {
				delete_transient( $name );
			}
			return;
		}
		$failures = ( is_array( $state ) ? $state['failures'] : 0 ) + 1;
		set_transient( $name, array( 'failures' => $failures, 'until' => time() + self::PAUSE ), HOUR_IN_SECONDS );
	}
}
