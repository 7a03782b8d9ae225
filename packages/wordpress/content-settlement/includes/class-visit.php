<?php
namespace ContentSettlement;

/** What the request says, read once: method, headers of payment and licence. */
final class Visit {
	/** @var string */
	public $method;
	/** @var string */
	public $user_agent;
	/** @var string What the visitor takes. */
	public $accept;
	/** @var bool Whether only a part of the page is asked for. */
	public $is_partial;
	/** @var string The payment as received; '' for none. */
	public $payment = '';
	/** @var string none, one, or two: when both headers are there and hold different payments. */
	public $payments = 'none';
	/** @var string */
	public $licence = '';
	/** @var string What a wallet signed that bought the page, as sent. */
	public $proof = '';
	/** @var string The most that a crawler would pay, and the exact sum, as sent. */
	public $max_price = '';
	/** @var string */
	public $exact_price = '';

	public static function now(): self {
		$visit             = new self();
		$visit->method     = strtoupper( self::header( 'REQUEST_METHOD', '' ) );
		$visit->user_agent = wp_check_invalid_utf8( self::header( 'USER_AGENT' ), true );
		$visit->accept     = self::header( 'ACCEPT' );
		$visit->is_partial = '' !== self::header( 'RANGE' );
		$visit->proof       = self::header( 'SIGN_IN_WITH_X' );
		$visit->max_price   = self::header( 'CRAWLER_MAX_PRICE' );
		$visit->exact_price = self::header( 'CRAWLER_EXACT_PRICE' );
		$v2                = self::header( 'PAYMENT_SIGNATURE' );
		$v1                = self::header( 'X_PAYMENT' );
		$visit->payment    = '' !== $v2 ? $v2 : $v1;
		if ( '' !== $visit->payment ) {
			$visit->payments = '' !== $v1 && '' !== $v2 && ! self::is_same( $v1, $v2 ) ? 'two' : 'one';
		}
		$authorization = self::header( 'AUTHORIZATION' );
		if ( '' === $authorization ) {
			$authorization = self::header( 'REDIRECT_HTTP_AUTHORIZATION', '' );
		}
		if ( preg_match( '/^License (\S+)$/i', $authorization, $found ) ) {
			$visit->licence = $found[1];
		}
		return $visit;
	}

	/** Whether somebody pays or has paid: no browser of a person does. */
	public function is_paying(): bool {
		$hints = $this->max_price . $this->exact_price . self::header( 'ACCEPT_PAYMENT' );
		return '' !== $this->payment || '' !== $this->licence || '' !== $this->proof || '' !== $hints;
	}

	/** Whether a browser asks if it may send from another site what an agent sends that pays or has paid. */
	public function is_preflight(): bool {
		return 'OPTIONS' === $this->method && 1 === preg_match( '/payment|crawler-|authorization|sign-in-with-x/i', self::header( 'ACCESS_CONTROL_REQUEST_HEADERS' ) );
	}

	/** Whether a person looks at the answer. */
	public function wants_html(): bool {
		return false !== strpos( $this->accept, 'text/html' );
	}

	/** Some wallets send both headers; they must hold one and the same payment. */
	private static function is_same( string $v1, string $v2 ): bool {
		$signature_of = static function ( string $text ): string {
			// phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- payments are base64 by their standard.
			$payment = json_decode( (string) base64_decode( $text ), true );
			return is_array( $payment ) && isset( $payment['payload']['signature'] ) && is_string( $payment['payload']['signature'] ) ? $payment['payload']['signature'] : '';
		};
		return $v1 === $v2 || ( '' !== $signature_of( $v1 ) && $signature_of( $v1 ) === $signature_of( $v2 ) );
	}

	private static function header( string $name, string $before = 'HTTP_' ): string {
		// phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- passed on as received, or matched; never printed unescaped.
		return isset( $_SERVER[ $before . $name ] ) ? (string) wp_unslash( $_SERVER[ $before . $name ] ) : '';
	}
}
