<?php
namespace ContentSettlement;

/**
 * Keccak-256 as Ethereum has it (padding 0x01; SHA3-256, which PHP brings, pads otherwise), for the checksum of wallets alone: 40
 * bytes at a time. Needs integers of 64 bits.
 */
final class Keccak {
	const RATE = 136;

	const ROTATIONS = array( 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44 );
	const LANES     = array( 10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1 );

	/** The hash in lower-case hex. */
	public static function hash256( string $text ): string {
		$padded = $text . "\x01";
		$padded = str_pad( $padded, (int) ( ceil( strlen( $padded ) / self::RATE ) * self::RATE ), "\x00" );
		$padded[ strlen( $padded ) - 1 ] = chr( ord( $padded[ strlen( $padded ) - 1 ] ) | 0x80 );

		$state = array_fill( 0, 25, 0 );
		foreach ( str_split( $padded, self::RATE ) as $block ) {
			foreach ( array_values( unpack( 'P*', $block ) ) as $index => $lane ) {
				$state[ $index ] ^= $lane;
			}
			$state = self::permute( $state );
		}
		return bin2hex( pack( 'P4', $state[0], $state[1], $state[2], $state[3] ) );
	}

	private static function permute( array $a ): array {
		$register = 1;
		for ( $round = 0; $round < 24; $round++ ) {
			$c = array();
			for ( $x = 0; $x < 5; $x++ ) {
				$c[ $x ] = $a[ $x ] ^ $a[ $x + 5 ] ^ $a[ $x + 10 ] ^ $a[ $x + 15 ] ^ $a[ $x + 20 ];
			}
			for ( $index = 0; $index < 25; $index++ ) {
				$a[ $index ] ^= $c[ ( $index + 4 ) % 5 ] ^ self::rotate( $c[ ( $index + 1 ) % 5 ], 1 );
			}
			$moving = $a[1];
			foreach ( self::LANES as $step => $lane ) {
				$next       = $a[ $lane ];
				$a[ $lane ] = self::rotate( $moving, self::ROTATIONS[ $step ] );
				$moving     = $next;
			}
			for ( $y = 0; $y < 25; $y += 5 ) {
				$row = array_slice( $a, $y, 5 );
				for ( $x = 0; $x < 5; $x++ ) {
					$a[ $y + $x ] = $row[ $x ] ^ ( ~$row[ ( $x + 1 ) % 5 ] & $row[ ( $x + 2 ) % 5 ] );
				}
			}
			$a[0] ^= self::round_constant( $register );
		}
		return $a;
	}

	/** The round's constant, bit by bit from the linear feedback register of the standard. */
	private static function round_constant( int &$register ): int {
		$constant = 0;
		for ( $bit = 0; $bit < 7; $bit++ ) {
			if ( $register & 1 ) {
				$constant ^= 1 << ( ( 1 << $bit ) - 1 );
			}
			$register <<= 1;
			if ( $register & 0x100 ) {
				$register ^= 0x171;
			}
		}
		return $constant;
	}

	private static function rotate( int $lane, int $by ): int {
		return ( $lane << $by ) | ( ( $lane >> ( 64 - $by ) ) & ( ( 1 << $by ) - 1 ) );
	}
}
