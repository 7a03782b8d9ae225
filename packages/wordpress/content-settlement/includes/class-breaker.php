<?php
namespace ContentSettlement;

/** After five failures in a row nobody asks for ten seconds: no visitor of a busy site waits two seconds for a service that is away. */
final class Breaker {
	const NAME     = Settings::PREFIX . 'breaker';
	const FAILURES = 5;
	const PAUSE    = 10;

	/** Whether asking is held back now. */
	public static function is_open(): bool {
		$state = get_transient( self::NAME );
		return is_array( $state ) && $state['failures'] >= self::FAILURES && time() < $state['until'];
	}

	/** Takes note of how a call went. */
	public static function note( bool $went_well ): void {
		$state = get_transient( self::NAME );
		if ( $went_well ) {
			if ( false !== $state ) {
				delete_transient( self::NAME );
			}
			return;
		}
		$failures = ( is_array( $state ) ? $state['failures'] : 0 ) + 1;
		set_transient( self::NAME, array( 'failures' => $failures, 'until' => time() + self::PAUSE ), HOUR_IN_SECONDS );
	}
}
