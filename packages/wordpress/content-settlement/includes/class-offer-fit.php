<?php
namespace ContentSettlement;

/**
 * What of an offer travels in the header PAYMENT-REQUIRED: the service's rule, here for an offer that a reason is put into. One table of cases drives
 * this, the service and the JavaScript package.
 */
final class Offer_Fit {
	/** Most bytes that our headers of one answer have together: names, ': ' and line ends included, the status line and what the site adds not. */
	const MOST_OUR_HEADERS = 2560;
	/** Most bytes that a description or a reason has in a header; the body has all of it. */
	const MOST_TEXT = 120;
	/** Most bytes of the other headers of an offer. */
	const MOST_OTHERS = 380;
	/** Most bytes of the JSON in PAYMENT-REQUIRED beside the settlement response of a refused payment, before a nonce has its own digits. */
	const MOST_REFUSED = 1300;

	private const JSON = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;

	/**
	 * The offer with as much in it as 1,300 bytes of JSON hold. What a client needs to pay stays: the resource and the first entry of accepts. Where
	 * even these are too long, the description goes first and then entries of accepts, the last first; of the extensions those stay, in their order,
	 * that still fit.
	 */
	private static function fit( object $offer ): object {
		$extensions         = (array) ( $offer->extensions ?? array() );
		$fitted             = clone $offer;
		$fitted->extensions = new \stdClass();
		if ( self::bytes( $fitted ) > self::MOST_REFUSED ) {
			$fitted->resource = clone $fitted->resource;
			unset( $fitted->resource->description );
		}
		while ( self::bytes( $fitted ) > self::MOST_REFUSED && count( $fitted->accepts ) > 1 ) {
			array_pop( $fitted->accepts );
		}
		$left = self::MOST_REFUSED - self::bytes( $fitted );
		foreach ( $extensions as $name => $extension ) {
			$bytes = self::bytes( (string) $name ) + self::bytes( $extension ) + 2; // Its name, a colon and a comma.
			if ( $bytes <= $left ) {
				$fitted->extensions->$name = $extension;
				$left                     -= $bytes;
			}
		}
		return $fitted;
	}

	/** The header of an offer with the reason of a refusal in it, beside that payment's settlement response. */
	public static function with_error( string $header, string $error ): string {
		// phpcs:disable WordPress.PHP.DiscouragedPHPFunctions, WordPress.WP.AlternativeFunctions -- the header is base64 of JSON by its standard.
		$offer        = json_decode( (string) base64_decode( $header ) );
		$offer->error = self::clip( $error );
		return base64_encode( (string) json_encode( self::fit( $offer ), self::JSON ) );
		// phpcs:enable
	}

	/** The beginning of a text that has at most 120 bytes as JSON, whole characters alone. */
	public static function clip( string $text ): string {
		if ( self::bytes( $text ) - 2 <= self::MOST_TEXT ) {
			return $text;
		}
		$clipped = '';
		$left    = self::MOST_TEXT - 3;
		foreach ( preg_split( '//u', $text, -1, PREG_SPLIT_NO_EMPTY ) as $character ) {
			$left -= self::bytes( $character ) - 2;
			if ( $left < 0 ) {
				break;
			}
			$clipped .= $character;
		}
		return "$clipped...";
	}

	/** Of the headers beside an offer those that fit: of Link the first documents that do. */
	public static function links( string $header, array $links ): array {
		$left = self::MOST_OUR_HEADERS - self::MOST_OTHERS - self::lines( array( 'PAYMENT-REQUIRED' => $header ) );
		$kept = array();
		foreach ( preg_split( '/, (?=<)/', $links['link'] ?? '', -1, PREG_SPLIT_NO_EMPTY ) as $link ) {
			$longer = array_merge( $kept, array( $link ) );
			if ( self::lines( array( 'link' => implode( ', ', $longer ) ) ) <= $left ) {
				$kept = $longer;
			}
		}
		return array() === $kept ? array() : array( 'link' => implode( ', ', $kept ) );
	}

	/** Bytes of headers as HTTP/1.1 writes them. */
	private static function lines( array $headers ): int {
		$sum = 0;
		foreach ( $headers as $name => $value ) {
			$sum += strlen( $name ) + strlen( $value ) + 4;
		}
		return $sum;
	}

	private static function bytes( $value ): int {
		// phpcs:ignore WordPress.WP.AlternativeFunctions -- as many bytes as are sent; nothing in it is not JSON.
		return strlen( (string) json_encode( $value, self::JSON ) );
	}
}
