<?php
namespace ContentSettlement;

/** One page that is sold for one payment: the page is made, then the money moves, then the page is sent. */
final class Sale {
	/** Errors after which PHP has not finished the page. */
	const FATAL = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;

	/** @var Visit */
	private $visit;
	/** @var string */
	private $resource;
	/** @var string */
	private $slug;
	/** @var string */
	private $reason;
	/** @var array */
	private $quote;
	/** @var int Depth of the buffer that holds the page. */
	private $level = 0;

	public function __construct( Visit $visit, string $resource, string $slug, string $reason, array $quote ) {
		$this->visit    = $visit;
		$this->resource = $resource;
		$this->slug     = $slug;
		$this->reason   = $reason;
		$this->quote    = $quote;
	}

	/** 402 with the page's offer, and in it why, if there is a reason. */
	public function offer( string $error = '', ?object $next = null ): void {
		$offer = $this->quote['offer'];
		Answer::offer( '' === $error ? $offer : Quotes::with_error( $offer, $error, $next ), $this->quote['quote'], $this->visit );
	}

	/** 402 after a payment that was not taken: with the price of now. Free by now: the page, which is made. */
	private function offer_again( string $error, ?object $next, string $page ): void {
		$quote = Quotes::renewed( $this->resource );
		if ( 'free' === $quote['state'] ) {
			echo $page; // phpcs:ignore WordPress.Security.EscapeOutput -- the page as WordPress made it.
			return;
		}
		if ( 'priced' === $quote['state'] ) {
			$this->quote = $quote;
		}
		$this->offer( $error, $next );
	}

	/**
	 * Buffers the page from here on. What is sent is decided at shutdown, which comes also after a fatal error, and after a plugin that
	 * ends the request by itself; before priority 1, at which WordPress lets go of the buffers. False when too many pages are being sold.
	 */
	public function begin(): bool {
		if ( ! Places::take( Places::SALES ) ) {
			return false;
		}
		Answer::mark();
		ob_start( null, 0, PHP_OUTPUT_HANDLER_CLEANABLE | PHP_OUTPUT_HANDLER_REMOVABLE );
		$this->level = ob_get_level();
		add_action( 'shutdown', array( $this, 'finish' ), 0 );
		return true;
	}

	/** The page is made, or will not be. */
	public function finish(): void {
		try {
			$this->decide();
		} finally {
			Places::give_back();
		}
	}

	private function decide(): void {
		if ( ob_get_level() < $this->level || headers_sent() ) {
			// Something let go of the buffer and has sent the page: it is too late for a receipt, so nobody is charged.
			$this->report_unservable();
			return;
		}
		while ( ob_get_level() > $this->level ) {
			ob_end_flush();
		}
		$page   = (string) ob_get_clean();
		$status = (int) http_response_code();
		if ( $status >= 300 && $status < 400 ) {
			echo $page; // phpcs:ignore WordPress.Security.EscapeOutput -- the page as WordPress made it.
			return;
		}
		if ( 200 !== $status || '' === trim( $page ) || $this->has_failed() ) {
			$this->report_unservable();
			if ( $status < 400 ) {
				status_header( 500 );
			}
			echo '' === trim( $page ) ? 'This page cannot be shown now. You were not charged.' : $page; // phpcs:ignore WordPress.Security.EscapeOutput
			return;
		}
		$this->settle( $page );
	}

	private function settle( string $page ): void {
		if ( Breaker::is_open( Breaker::SALES ) ) {
			Answer::wait( (string) Breaker::PAUSE );
			return;
		}
		ignore_user_abort( true );
		$answer = Service_Client::post(
			'/_svc/verify',
			array(
				'payment'  => $this->visit->payment,
				'legs'     => $this->quote['quote']->legs,
				'quote'    => $this->quote['quote'],
				'resource' => $this->resource,
				'agent'    => array( 'ua' => $this->visit->user_agent, 'classifyReason' => $this->reason ),
			),
			Service_Client::SETTLING
		);
		$code   = (string) ( $answer['headers']['x-svc-error-code'] ?? '' );
		// A service that says so of a network is there: sales on the others go on.
		Breaker::note( 'chain_unavailable' === $code || ! Service_Client::is_away( $answer ), Breaker::SALES );
		$next   = Decision::after_verify( $answer['status'], $code );
		Answer::receipt( $answer );
		if ( 'page' === $next ) {
			Answer::sold( $answer['body'] );
			$page = Forms::wants_markdown( $this->visit ) ? Markdown::or_page( $page ) : $page;
			if ( is_string( $answer['body']->receiptId ?? null ) ) {
				Reports::add_body( $answer['body']->receiptId, $page );
			}
			echo $page; // phpcs:ignore WordPress.Security.EscapeOutput -- the page as WordPress made it.
		} elseif ( 'offer' === $next ) {
			$error = isset( $answer['body']->error ) ? (string) $answer['body']->error : 'the payment was not taken';
			$this->offer_again( $error, Service_Client::next_of( $answer['body'] ), $page );
		} else {
			self::note( $answer );
			Answer::wait( (string) ( $answer['headers']['retry-after'] ?? '5' ) );
		}
	}

	/** A payment that is on its way is no failure; everything else that leaves one undecided is. */
	private static function note( array $answer ): void {
		if ( 402 === $answer['status'] ) {
			return;
		}
		Health::note_unsettled( Service_Client::complaint( $answer ) );
		if ( Service_Client::refuses_key( $answer ) ) {
			Health::note_refused_key( Service_Client::complaint( $answer ) );
		}
	}

	private function has_failed(): bool {
		$last = error_get_last();
		return null !== $last && 0 !== ( $last['type'] & self::FATAL );
	}

	private function report_unservable(): void {
		Reports::add( 'unservable', $this->resource, $this->slug, $this->reason, $this->visit->user_agent, $this->quote['quote']->price );
	}
}
