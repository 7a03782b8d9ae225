<?php
namespace ContentSettlement;

/**
 * What a page costs: kept for 60 s, and for 600 s while the service is away or somebody else asks already; a quote's own token names its
 * price, so that an old one charges nobody wrongly.
 */
final class Quotes {
	const FRESH = 60;
	const STALE = 600;
	/** Headers that the service puts on a 402: where documents about the site stand. */
	const TOLD = array( 'link' );
	/** A lock that its owner did not give back is anybody's after this long, seconds. */
	const LOCK = 5;

	/** state: priced, free, refused, bad, away or busy; quote: the service's object without the offer; offer: header, body and further headers. */
	public static function of( string $resource ): array {
		$name = Settings::PREFIX . 'quote_' . md5( $resource );
		$kept = get_transient( $name );
		$age  = is_array( $kept ) ? time() - $kept['at'] : PHP_INT_MAX;
		if ( $age <= self::FRESH && self::is_alive( $kept ) ) {
			return self::read( $kept );
		}
		$is_usable = $age <= self::STALE && self::is_alive( $kept );
		if ( Breaker::is_open() ) {
			return $is_usable ? self::read( $kept ) : self::away( 'the service has failed several times; it is asked again in a few seconds' );
		}
		$has_lock = Lock::take( $name, self::LOCK );
		if ( ! $has_lock ) {
			return $is_usable ? self::read( $kept ) : self::ask( $name, $resource, null );
		}
		try {
			$now = self::kept_now( $name ); // who had the lock a moment ago may have asked
			if ( $now !== $kept && is_array( $now ) && time() - $now['at'] <= self::FRESH && self::is_alive( $now ) ) {
				return self::read( $now );
			}
			return self::ask( $name, $resource, $is_usable ? $kept : null );
		} finally {
			Lock::give_back( $name ); // after the answer is kept: the next holder finds it
		}
	}

	/** Asks the service and keeps its answer; `$usable` is what an unanswered question falls back to. */
	private static function ask( string $name, string $resource, ?array $usable ): array {
		$answer = Service_Client::get( '/_svc/quote?build=402&signIn=1&resource=' . rawurlencode( $resource ) );
		Breaker::note( ! Service_Client::is_away( $answer ) );
		if ( 200 === $answer['status'] || 204 === $answer['status'] ) {
			$json = 200 === $answer['status'] ? wp_json_encode( $answer['body'] ) : '';
			$kept = array( 'at' => time(), 'json' => $json, 'until' => (int) ( ( $answer['body']->expiresAt ?? 0 ) / 1000 ) );
			set_transient( $name, $kept, self::STALE );
			Health::note_success();
			Gate_Config::heard( $answer['headers'] );
			return self::read( $kept );
		}
		if ( Service_Client::refuses_agent( $answer ) ) {
			return array( 'state' => 'refused' );
		}
		// A page that the service can never price, such as one with a URL too long for headers, is given to nobody who would have to pay.
		if ( 400 === $answer['status'] ) {
			return array( 'state' => 'bad' );
		}
		if ( Service_Client::is_unproven( $answer ) ) {
			return array( 'state' => 'free', 'why' => '' ); // Nothing is sold before the site is proven.
		}
		if ( Service_Client::refuses_key( $answer ) ) {
			Health::note_refused_key( Service_Client::complaint( $answer ) );
		}
		if ( null !== $usable ) {
			return self::read( $usable );
		}
		$is_away = Service_Client::is_away( $answer ) || Service_Client::refuses_key( $answer );
		return $is_away ? self::away( Service_Client::complaint( $answer ) ) : array( 'state' => 'busy' );
	}

	/** The same, asked for anew: a payment was refused, and the price may be another one by now. */
	public static function renewed( string $resource ): array {
		$name = Settings::PREFIX . 'quote_' . md5( $resource );
		$kept = get_transient( $name );
		if ( is_array( $kept ) ) {
			$kept['at'] = min( $kept['at'], time() - self::FRESH - 1 );
			set_transient( $name, $kept, self::STALE );
		}
		return self::of( $resource );
	}

	/** An offer that says why the last payment was not taken, in both of its forms; in its body what to do next, too. */
	public static function with_error( array $offer, string $error, ?object $next ): array {
		$body        = clone $offer['body'];
		$body->next  = $next ?? (object) array( 'action' => 'sign_again' );
		$body->error = substr( (string) preg_replace( '/[^\x20-\x7e]/', '?', $error ), 0, 200 );
		return array( 'header' => Offer_Fit::with_error( $offer['header'], $body->error ), 'body' => $body ) + $offer;
	}

	/** What is kept at this moment, past WordPress' memory of what this request has read. */
	private static function kept_now( string $name ) {
		if ( wp_using_ext_object_cache() ) {
			return wp_cache_get( $name, 'transient', true );
		}
		foreach ( array( "_transient_$name", "_transient_timeout_$name", 'notoptions' ) as $read ) {
			wp_cache_delete( $read, 'options' );
		}
		return get_transient( $name );
	}

	private static function read( array $kept ): array {
		if ( '' === $kept['json'] ) {
			return array( 'state' => 'free', 'why' => '' );
		}
		$quote = json_decode( $kept['json'] );
		$offer = self::offer_of( $quote );
		unset( $quote->x402 );
		return array( 'state' => 'priced', 'quote' => $quote, 'offer' => $offer );
	}

	private static function offer_of( object $quote ): array {
		$told = array();
		foreach ( self::TOLD as $name ) {
			$value = $quote->x402->headers->$name ?? null;
			if ( is_string( $value ) && preg_match( '/^[\x20-\x7e]{1,2048}$/D', $value ) ) {
				$told[ $name ] = $value;
			}
		}
		return array( 'header' => (string) $quote->x402->header, 'body' => $quote->x402->body, 'headers' => $told );
	}

	private static function is_alive( $kept ): bool {
		return '' === $kept['json'] || time() < $kept['until'];
	}

	private static function away( string $why ): array {
		return array( 'state' => 'away', 'why' => $why );
	}
}
