<?php
namespace ContentSettlement;

/**
 * What to do with a request: a pure rule over plain facts, the same as that of the JavaScript package.
 *
 * - serve: the page, free;   - offer: 402 with the price;   - settle: make the page, then take the payment;
 * - refuse: 403;   - reject: 400;   - discover: 402 that is never charged (HEAD, a part of a page);   - wait: 503 without an offer.
 */
final class Decision {
	const READS_FREE = array( 'person', 'search', 'robot', 'allowed' );

	/**
	 * Facts: who (person, search, robot, allowed, blocked, agent), in_scope, method, is_partial, payment (none, one, two),
	 * licence (none, good, busy: it could not be looked at now), quote (priced, free, away: nobody answers or our key is refused, busy: cannot be
	 * priced now, refused: its owner does not give it to this agent, bad: it can have no price), proof (none, good, bad, busy: that the wallet bought
	 * the page could not be looked at now). Returns the act, the verdict to report or null, the error for the offer, and what to do next about that
	 * ('': sign by the offer).
	 */
	public static function of( array $facts ): array {
		if ( in_array( $facts['who'], self::READS_FREE, true ) || ! $facts['in_scope'] ) {
			return self::act( 'serve' );
		}
		if ( 'blocked' === $facts['who'] ) {
			return self::act( 'refuse', 'blocked' );
		}
		if ( 'good' === $facts['licence'] ) {
			return self::act( 'serve', 'agent-reread' );
		}
		if ( 'busy' === $facts['licence'] && 'none' === $facts['payment'] ) {
			return self::act( 'wait' ); // It may open the page: an offer would have its reader pay again.
		}
		if ( 'free' === $facts['quote'] || 'away' === $facts['quote'] ) {
			return self::act( 'serve', 'served-free' );
		}
		if ( 'refused' === $facts['quote'] ) {
			return self::act( 'refuse', 'blocked' );
		}
		if ( 'bad' === $facts['quote'] ) {
			return self::act( 'reject' );
		}
		return 'busy' === $facts['quote'] ? self::act( 'wait' ) : self::of_priced( $facts );
	}

	/** A payment is for the whole page, and only GET is sure to make it without doing anything else. */
	private static function of_priced( array $facts ): array {
		$proof = $facts['proof'] ?? 'none';
		if ( 'good' === $proof ) {
			return self::act( 'serve', 'agent-reread' );
		}
		if ( 'busy' === $proof && 'none' === $facts['payment'] ) {
			return self::act( 'wait' ); // An offer would have it pay again.
		}
		if ( 'HEAD' === $facts['method'] ) {
			return self::act( 'discover' );
		}
		if ( 'GET' !== $facts['method'] ) {
			return self::act( 'offer', null, 'invalid_parameter: pay with GET', 'fix_request' );
		}
		if ( 'none' === $facts['payment'] ) {
			return self::act( 'offer', 'denied' );
		}
		if ( $facts['is_partial'] ) {
			return self::act( 'discover', null, 'invalid_parameter: only the whole page is sold, ask without Range', 'fix_request' );
		}
		return 'one' === $facts['payment'] ? self::act( 'settle' ) : self::act( 'offer', null, 'authorization_invalid: two payments in one request' );
	}

	/** What follows from an answer of verify: the page, a fresh offer, or waiting. Undecided is never an offer: a client signs on each. */
	public static function after_verify( int $status, string $code ): string {
		if ( 200 === $status ) {
			return 'page';
		}
		return 402 === $status && 'settlement_pending' !== $code ? 'offer' : 'wait';
	}

	private static function act( string $act, ?string $verdict = null, string $error = '', string $next = '' ): array {
		return compact( 'act', 'verdict', 'error', 'next' );
	}
}
