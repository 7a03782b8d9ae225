<?php
namespace ContentSettlement;

/** Amounts are whole micro-USDC; decimals are for people and for headers that advertise. */
final class Money {
	/** 3000 → '0.003': every digit that is there, none rounded. */
	public static function usd( string $micro ): string {
		$digits   = str_pad( ltrim( $micro, '0' ), 7, '0', STR_PAD_LEFT );
		$fraction = rtrim( substr( $digits, -6 ), '0' );
		return substr( $digits, 0, -6 ) . ( '' === $fraction ? '' : '.' . $fraction );
	}

	/** What a crawler price header says, in micro-USDC; null for other currencies, more than six decimals, and what is no amount. */
	public static function micro( string $text ): ?int {
		if ( ! preg_match( '/^(?:USD\s+)?(\d{1,9})(?:\.(\d{1,6}))?$/Di', trim( $text ), $found ) ) {
			return null;
		}
		return (int) $found[1] * 1000000 + (int) str_pad( $found[2] ?? '', 6, '0' );
	}
}
