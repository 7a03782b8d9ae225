<?php
namespace ContentSettlement;

/** A wallet that receives an author's share: 0x and 40 hex digits, kept with its checksum (EIP-55). */
final class Wallet {
	/** User meta; the same name on guest authors of Co-Authors Plus, which are posts. */
	const META = 'content_settlement_wallet';

	const ZERO = '0x0000000000000000000000000000000000000000';

	/**
	 * The wallet in the form that is kept; null for what nobody may be paid at. One case throughout carries no checksum and is
	 * taken; mixed case must carry the right one, so that a digit that was mistyped is noticed.
	 */
	public static function clean( string $text ): ?string {
		$text = trim( $text );
		if ( ! preg_match( '/^0x[0-9a-fA-F]{40}$/D', $text ) || self::ZERO === $text ) {
			return null;
		}
		$digits = substr( $text, 2 );
		if ( PHP_INT_SIZE < 8 ) {
			return strtolower( $digits ) === $digits ? $text : null;
		}
		$checked = self::with_checksum( $text );
		$is_bare = strtolower( $digits ) === $digits || strtoupper( $digits ) === $digits;
		return $is_bare || $checked === $text ? $checked : null;
	}

	/** EIP-55: a letter is a capital where the digit of the hash above it is 8 or more. */
	public static function with_checksum( string $wallet ): string {
		$digits = strtolower( substr( $wallet, 2 ) );
		$hash   = Keccak::hash256( $digits );
		for ( $index = 0; $index < 40; $index++ ) {
			if ( hexdec( $hash[ $index ] ) >= 8 ) {
				$digits[ $index ] = strtoupper( $digits[ $index ] );
			}
		}
		return '0x' . $digits;
	}

	/** The wallet of a user; '' for none. */
	public static function of_user( int $user_id ): string {
		return (string) get_user_meta( $user_id, self::META, true );
	}
}
