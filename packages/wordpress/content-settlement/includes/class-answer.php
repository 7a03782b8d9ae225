<?php
namespace ContentSettlement;

/** Sends what is not the page: the offer, the refusal, the request to wait. Each ends in output; the caller ends the request. */
final class Answer {
	/** @var bool Whether the header Vary has ours. */
	private static $varies = false;

	/** What every answer to an agent carries: no cache keeps it, browsers of other sites may read it. */
	public static function mark(): void {
		foreach ( array( 'DONOTCACHEPAGE', 'DONOTCACHEOBJECT', 'DONOTMINIFY' ) as $name ) {
			if ( ! defined( $name ) ) {
				define( $name, true );
			}
		}
		if ( ! self::$varies ) {
			self::$varies = true;
			header( 'Vary: PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Authorization, User-Agent, Accept', false ); // Beside what others vary by.
		}
		self::headers(
			array(
				'Cache-Control'                 => 'private, no-store',
				'Accept-Ranges'                 => 'none',
				'Access-Control-Allow-Origin'   => '*',
				'Access-Control-Expose-Headers' => '*',
			)
		);
	}

	/** 402 for both generations of clients, x402 v2 reads the header, v1 the body; browsers get a page. */
	public static function offer( array $offer, object $quote, Visit $visit ): void {
		self::begin( 402 );
		$header = Wallet_Proof::with_own_nonce( $offer['header'] );
		self::headers( array( 'PAYMENT-REQUIRED' => $header, 'crawler-price' => 'USD ' . Money::usd( (string) $quote->price ) ) );
		if ( '' === $visit->payment ) { // Who pays already needs no documents.
			self::headers( Offer_Fit::links( $header, $offer['headers'] ) );
		}
		$wrong = '' === $visit->payment ? Crawler_Error::of( (int) $quote->price, $visit->max_price, $visit->exact_price ) : '';
		if ( '' !== $wrong ) {
			self::headers( array( 'crawler-error' => $wrong ) );
		}
		if ( 'HEAD' === $visit->method ) {
			return;
		}
		if ( $visit->wants_html() ) {
			header( 'Content-Type: text/html; charset=utf-8' );
			Offer_Page::print( $quote, (string) ( $offer['body']->error ?? '' ) );
			return;
		}
		header( 'Content-Type: application/json' );
		echo wp_json_encode( Wallet_Proof::body_with_own_nonce( $offer['body'] ), JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE );
	}

	/** 503 without an offer: a client that sees one signs, and pays, a second time. */
	public static function wait( string $seconds ): void {
		self::begin( 503 );
		$seconds = preg_match( '/^\d{1,5}$/D', $seconds ) ? $seconds : '5';
		self::headers( array( 'Retry-After' => $seconds ) );
		self::refused( 'overloaded', 'please try again shortly, with the same payment', array( 'action' => 'wait', 'seconds' => (int) $seconds ) );
	}

	/** 403 for a crawler that the owner does not want. */
	public static function refuse(): void {
		self::begin( 403 );
		self::headers( array( 'crawler-error' => Crawler_Error::FORBIDDEN ) );
		self::refused( 'agent_refused', 'this site does not serve this agent', array( 'action' => 'ask_owner' ) );
	}

	/** 400 for a page that can have no price, such as one with an address too long for headers. */
	public static function reject(): void {
		self::begin( 400 );
		self::refused( 'invalid_resource', 'agents cannot read this address, or not with a body in the request', array( 'action' => 'fix_request' ) );
	}

	/** A refusal as the service has them: code, sentence, and what to do next. */
	private static function refused( string $code, string $sentence, array $next ): void {
		self::headers( array( 'Content-Type' => 'application/json; charset=utf-8', 'x-svc-error-code' => $code ) );
		echo wp_json_encode( array( 'error' => "$code: $sentence", 'next' => $next ), JSON_UNESCAPED_SLASHES );
	}

	/**
	 * The buyer's receipt as the service wrote it, whatever came of the payment, under the one name that the payer's generation of clients reads:
	 * twice it may be too long for a web server in front of PHP.
	 */
	public static function receipt( array $answer ): void {
		$value = $answer['headers']['payment-response'] ?? $answer['headers']['x-payment-response'] ?? '';
		if ( '' === $value ) {
			return;
		}
		$said    = json_decode( (string) base64_decode( $value, true ) );
		$network = is_object( $said ) && is_string( $said->network ?? null ) ? $said->network : '';
		// Version 1 of x402 names a network by a word, version 2 by namespace:reference.
		$is_v1 = '' !== $network && false === strpos( $network, ':' );
		self::headers( array( ( $is_v1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE' ) => $value ) );
	}

	/** The licence and what was charged; the page follows. */
	public static function sold( object $receipt ): void {
		self::mark(); // Again: what made the page may have said otherwise.
		self::headers( array( 'x-licence' => (string) $receipt->licenseJws, 'crawler-charged' => 'USD ' . Money::usd( (string) $receipt->chargedMicro ) ) );
	}

	/** The licence anew of a wallet that bought the page before; the page follows, and nothing is charged. */
	public static function read_again( string $licence ): void {
		self::mark();
		self::headers( array( 'x-licence' => $licence ) );
	}

	/** Answers a browser that asks whether it may send payment headers from another site. */
	public static function preflight(): void {
		status_header( 204 );
		self::headers( array( 'Access-Control-Allow-Methods' => 'GET, HEAD', 'Access-Control-Allow-Headers' => '*, Authorization', 'Access-Control-Max-Age' => '600' ) );
	}

	/** Headers as given, each on a line of its own; what holds a line break is left out. */
	public static function headers( array $headers ): void {
		foreach ( $headers as $name => $value ) {
			if ( ! preg_match( '/[\r\n]/', $value ) ) {
				header( "$name: $value" );
			}
		}
	}

	/** A status, without what the page's own making left in the headers. */
	private static function begin( int $status ): void {
		array_map( 'header_remove', array( 'Content-Encoding', 'Content-Length', 'ETag', 'Last-Modified', 'Link', 'Location', 'Expires' ) );
		status_header( $status );
		self::mark();
	}
}
