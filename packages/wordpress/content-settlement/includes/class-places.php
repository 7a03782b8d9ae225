<?php
namespace ContentSettlement;

/**
 * How many pages are sold at once, and how many licences are asked about: each payment holds one of PHP's workers for up to 25 s, each question for
 * two, and readers need the others.
 */
final class Places {
	const SALES    = 'sale';
	const LICENCES = 'licence';
	const AT_ONCE = 4;
	/** Longer than a page and its payment take: the place of a request that died is free again then, seconds. */
	const LIFE = 90;

	/** @var string The place of this request; '' for none. */
	private static $taken = '';

	/** Whether there was a place among those of sales or of licences; a request has one at most. */
	public static function take( string $of ): bool {
		/**
		 * How many payments may be on their way at once, and how many questions about licences; fewer than PHP has workers.
		 *
		 * @param int $at_once 4.
		 */
		$at_once = max( 1, (int) apply_filters( 'content_settlement_payments_at_once', self::AT_ONCE ) );
		for ( $place = 0; $place < $at_once && '' === self::$taken; $place++ ) {
			$name = Settings::PREFIX . "{$of}_$place";
			if ( Lock::take( $name, self::LIFE ) ) {
				self::$taken = $name;
			}
		}
		return '' !== self::$taken;
	}

	/** A second call changes nothing. */
	public static function give_back(): void {
		if ( '' !== self::$taken ) {
			Lock::give_back( self::$taken );
		}
		self::$taken = '';
	}
}
