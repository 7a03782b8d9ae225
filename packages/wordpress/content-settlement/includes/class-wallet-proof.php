<?php
namespace ContentSettlement;

/**
 * A wallet that shows it bought the page (x402 sign-in-with-x, header SIGN-IN-WITH-X): the service says whether it did. What is no message about
 * this site costs no call; of the others as many are asked about at once as pages are sold, since a wallet with code can be slow at will.
 */
final class Wallet_Proof {
	const MAX_CHARS = 16384;
	const SECONDS   = 4;

	/** state: good with licence; bad, with error where it says why (without, the wallet holds nothing here); busy: it may have bought the page. */
	public static function judge( string $header, string $resource, string $slug ): array {
		$refusal = self::refuse( $header, $resource );
		if ( '' !== $refusal ) {
			return array( 'state' => 'bad', 'error' => "unknown_credential: $refusal" );
		}
		if ( Breaker::is_open() || ! Places::take( Places::SALES ) ) {
			return array( 'state' => 'busy' );
		}
		try {
			$question = array( 'signInWithX' => $header, 'resource' => $resource, 'slug' => $slug, 'kind' => 'read' );
			return self::read( Service_Client::post( '/_svc/license/proof', $question, self::SECONDS ) );
		} finally {
			Places::give_back();
		}
	}

	/** Why a header needs no question: it is no message that anybody signed for this site; '' when it may be one. */
	public static function refuse( string $header, string $resource ): string {
		if ( strlen( $header ) > self::MAX_CHARS ) {
			return 'SIGN-IN-WITH-X is too long';
		}
		// phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- the header is base64 by its standard.
		$sent = json_decode( (string) base64_decode( $header, true ), true );
		if ( ! is_array( $sent ) || ! is_string( $sent['nonce'] ?? null ) || ! is_string( $sent['signature'] ?? null ) ) {
			return 'SIGN-IN-WITH-X is not readable';
		}
		$port = wp_parse_url( $resource, PHP_URL_PORT );
		$host = wp_parse_url( $resource, PHP_URL_HOST ) . ( $port ? ":$port" : '' );
		return ( $sent['domain'] ?? null ) === $host ? '' : 'the message is for another site';
	}

	/**
	 * The header of an offer with a nonce of this answer's own: an offer is shown to many, and each may show once what it signed. The service takes
	 * its nonce with digits of anybody's behind it.
	 */
	public static function with_own_nonce( string $header ): string {
		// phpcs:disable WordPress.PHP.DiscouragedPHPFunctions -- the header is base64 by its standard.
		$text  = (string) base64_decode( $header );
		$nonce = json_decode( $text, true )['extensions']['sign-in-with-x']['info']['nonce'] ?? null;
		if ( ! is_string( $nonce ) || ! preg_match( '/^[0-9a-f]{32,76}$/D', $nonce ) ) {
			return $header;
		}
		return base64_encode( substr_replace( $text, $nonce . bin2hex( random_bytes( 10 ) ), (int) strpos( $text, $nonce ), strlen( $nonce ) ) );
		// phpcs:enable
	}

	/** The body of an offer with a nonce of this answer's own; of a body that declares none the body. */
	public static function body_with_own_nonce( object $body ): object {
		$said  = json_decode( (string) json_encode( $body ) ); // phpcs:ignore WordPress.WP.AlternativeFunctions -- a copy: the offer is shown to many.
		$nonce = $said->extensions->{'sign-in-with-x'}->info->nonce ?? null;
		if ( is_string( $nonce ) && preg_match( '/^[0-9a-f]{32,76}$/D', $nonce ) ) {
			$said->extensions->{'sign-in-with-x'}->info->nonce = $nonce . bin2hex( random_bytes( 10 ) );
		}
		return $said;
	}

	private static function read( array $answer ): array {
		if ( 200 !== $answer['status'] ) {
			return array( 'state' => 400 === $answer['status'] || 404 === $answer['status'] ? 'bad' : 'busy' );
		}
		$licence = $answer['body']->license ?? null;
		if ( true === ( $answer['body']->entitled ?? false ) && is_string( $licence ) && preg_match( '/^[\w-]+\.[\w-]+\.[\w-]+$/D', $licence ) ) {
			return array( 'state' => 'good', 'licence' => $licence );
		}
		$error = $answer['body']->error ?? '';
		return array( 'state' => 'bad', 'error' => is_string( $error ) ? $error : '' );
	}
}
