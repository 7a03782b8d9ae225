<?php
namespace ContentSettlement;

/**
 * What the gate decided, for the service's audit, and the hashes of pages that were sold, for the records of their payments. Reports of a
 * request are sent after the visitor has got the page, where PHP can do that; elsewhere, and when the service is away, each waits as an
 * option of its own (two requests never overwrite each other's) until cron sends them, 50 at a time. More than 500 do not wait: the oldest
 * are dropped, and counted.
 */
final class Reports {
	const ROW     = Settings::PREFIX . 'report_';
	const EVENT   = Settings::PREFIX . 'send_reports';
	const BATCH   = 50;
	const WAITING = 500;
	const SECONDS = 5;
	/** After a failure, and for what comes together: how long until cron sends. */
	const PAUSE = 30;

	/** @var array[] Of this request. */
	private static $gathered = array();

	public static function register(): void {
		add_action( self::EVENT, array( self::class, 'send_waiting' ) );
		add_action( 'shutdown', array( self::class, 'flush' ), PHP_INT_MAX );
	}

	/** A report of this request, sent when it is over. */
	public static function add( string $verdict, string $resource, string $slug, string $reason, string $user_agent, ?int $price_micro = null ): void {
		$report = array(
			'resource'     => $resource,
			'slug'         => $slug,
			'verdict'      => $verdict,
			'classifiedAs' => 'agent',
			'at'           => (int) ( microtime( true ) * 1000 ),
			'agent'        => array( 'ua' => str_replace( "\0", '', $user_agent ), 'classifyReason' => $reason ),
		);
		if ( null !== $price_micro ) {
			$report['priceMicro'] = $price_micro;
		}
		self::$gathered[] = $report;
	}

	/** The page that was served for a payment, as WordPress made it. */
	public static function add_body( string $receipt_id, string $page ): void {
		$body              = array( 'receiptId' => $receipt_id, 'sha256' => hash( 'sha256', $page ), 'bytes' => strlen( $page ) );
		self::$gathered[] = array( 'at' => (int) ( microtime( true ) * 1000 ), 'body' => $body );
	}

	/** Ends the answer to the visitor where that can be done, and sends; else keeps. */
	public static function flush(): void {
		$reports = self::$gathered;
		if ( array() === $reports ) {
			return;
		}
		self::$gathered = array();
		$has_ended      = self::end_answer();
		$unsent         = $has_ended ? self::send( $reports ) : $reports;
		if ( array() === $unsent ) {
			return;
		}
		array_map( array( self::class, 'keep' ), $unsent );
		self::drop_oldest();
		self::schedule();
	}

	/** Sends what waits; stops at the first failure and tries again later. */
	public static function send_waiting(): void {
		for ( $batch = 0; $batch < self::WAITING / self::BATCH; $batch++ ) {
			$reports = self::claim();
			if ( array() === $reports ) {
				return;
			}
			$unsent = self::send( $reports );
			if ( array() !== $unsent ) {
				array_map( array( self::class, 'keep' ), $unsent );
				self::schedule();
				return;
			}
		}
	}

	/** How many wait. */
	public static function count_waiting(): int {
		global $wpdb;
		// phpcs:ignore WordPress.DB.DirectDatabaseQuery
		return (int) $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM $wpdb->options WHERE option_name LIKE %s", self::like() ) );
	}

	/** Those that the service has not got, and may take another time. */
	private static function send( array $reports ): array {
		$is_body  = static function ( array $report ): bool {
			return isset( $report['body'] );
		};
		$bodies   = array_values( array_filter( $reports, $is_body ) );
		$verdicts = array_values( array_diff_key( $reports, array_filter( $reports, $is_body ) ) );
		$unsent   = self::is_taken( '/_svc/observe', $verdicts ) ? array() : $verdicts;
		return self::is_taken( '/_svc/receipts/bodies', array_column( $bodies, 'body' ) ) ? $unsent : array_merge( $unsent, $bodies );
	}

	/** True when the service has them, or will never take them (they are wrong, and would be wrong again). */
	private static function is_taken( string $path, array $rows ): bool {
		$answer = array() === $rows ? array( 'status' => 200 ) : Service_Client::post( $path, $rows, self::SECONDS );
		return in_array( $answer['status'], array( 200, 202, 400 ), true );
	}

	private static function keep( array $report ): void {
		global $wpdb;
		$name = self::ROW . sprintf( '%014d_%s', $report['at'], bin2hex( random_bytes( 4 ) ) );
		// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- past the options' cache, which has no use for these.
		$wpdb->insert( $wpdb->options, array( 'option_name' => $name, 'option_value' => wp_json_encode( $report ), 'autoload' => 'no' ) );
	}

	/** Takes up to 50, the oldest first. The process that deletes a row sends it, so that none is sent twice. */
	private static function claim(): array {
		global $wpdb;
		// phpcs:disable WordPress.DB.DirectDatabaseQuery
		$rows    = $wpdb->get_results( $wpdb->prepare( "SELECT option_name, option_value FROM $wpdb->options WHERE option_name LIKE %s ORDER BY option_name LIMIT %d", self::like(), self::BATCH ) );
		$claimed = array();
		foreach ( $rows as $row ) {
			$report = json_decode( $row->option_value, true );
			if ( 1 === $wpdb->delete( $wpdb->options, array( 'option_name' => $row->option_name ) ) && is_array( $report ) ) {
				$claimed[] = $report;
			}
		}
		// phpcs:enable
		return $claimed;
	}

	private static function drop_oldest(): void {
		global $wpdb;
		$too_many = self::count_waiting() - self::WAITING;
		if ( $too_many > 0 ) {
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery
			$wpdb->query( $wpdb->prepare( "DELETE FROM $wpdb->options WHERE option_name LIKE %s ORDER BY option_name LIMIT %d", self::like(), $too_many ) );
			Health::note_dropped_reports( $too_many );
		}
	}

	private static function schedule(): void {
		if ( ! wp_next_scheduled( self::EVENT ) ) {
			wp_schedule_single_event( time() + self::PAUSE, self::EVENT );
		}
	}

	private static function end_answer(): bool {
		if ( function_exists( 'fastcgi_finish_request' ) ) {
			return fastcgi_finish_request();
		}
		return function_exists( 'litespeed_finish_request' ) && litespeed_finish_request();
	}

	private static function like(): string {
		global $wpdb;
		return $wpdb->esc_like( self::ROW ) . '%';
	}
}
