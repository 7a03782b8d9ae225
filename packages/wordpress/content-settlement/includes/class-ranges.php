<?php
namespace ContentSettlement;

/** Addresses of the internet and ranges of them, as bytes: four of IPv4, sixteen of IPv6. */
final class Ranges {
	/** The address in a text as servers and proxies write it, a port behind it or not; IPv4 inside IPv6 as IPv4. '' for no address. */
	public static function bytes( string $text ): string {
		$bare  = preg_match( '~^\[([^\]]*)\](?::\d{1,5})?$~D', $text, $found ) || preg_match( '~^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$~D', $text, $found ) ? $found[1] : $text;
		$plain = explode( '%', $bare, 2 )[0];
		$bytes = false === filter_var( $plain, FILTER_VALIDATE_IP ) ? false : inet_pton( $plain );
		if ( false === $bytes ) {
			return '';
		}
		return 16 === strlen( $bytes ) && 0 === strpos( $bytes, str_repeat( "\0", 10 ) . "\xff\xff" ) ? substr( $bytes, 12 ) : $bytes;
	}

	/** Whether anybody on the internet can have an address: none of this machine, a private network or a special use. */
	public static function is_public( string $text ): bool {
		$bytes = self::bytes( $text );
		return '' !== $bytes && false !== filter_var( inet_ntop( $bytes ), FILTER_VALIDATE_IP, FILTER_FLAG_NO_PRIV_RANGE | FILTER_FLAG_NO_RES_RANGE )
			&& ! ( 4 === strlen( $bytes ) && self::has( array( '100.64.0.0/10' ), $bytes ) );
	}

	/** Whether an address is in one of some ranges (CIDR). A text that is none holds nobody. */
	public static function has( array $ranges, string $bytes ): bool {
		foreach ( $ranges as $range ) {
			$parts   = explode( '/', (string) $range, 2 );
			$network = self::bytes( trim( $parts[0] ) );
			$width   = 8 * strlen( $bytes );
			$length  = $parts[1] ?? (string) $width;
			if ( '' === $network || strlen( $network ) !== strlen( $bytes ) || 1 !== preg_match( '~^\d{1,3}$~D', $length ) || (int) $length > $width ) {
				continue;
			}
			$bits = (int) $length;
			$full = intdiv( $bits, 8 );
			$mask = chr( 0xff << ( 8 - $bits % 8 ) & 0xff );
			if ( 0 === strncmp( $network, $bytes, $full ) && ( 0 === $bits % 8 || ( $network[ $full ] & $mask ) === ( $bytes[ $full ] & $mask ) ) ) {
				return true;
			}
		}
		return false;
	}
}
