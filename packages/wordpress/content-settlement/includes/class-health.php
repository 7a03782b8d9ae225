<?php
namespace ContentSettlement;

/** What went wrong, loudly: a count, a line in PHP's log once in five minutes, a notice in the admin pages, an action for others. */
final class Health {
	const NAME     = Settings::PREFIX . 'health';
	const LOG_EACH = 300;

	const NOTHING = array( 'free_reads' => 0, 'unsettled' => 0, 'dropped_reports' => 0, 'refused_key' => '', 'last' => '', 'at' => 0, 'logged_at' => 0, 'over' => true );

	public static function register(): void {
		add_action( 'admin_notices', array( self::class, 'print_notice' ) );
	}

	/** An agent read a priced page for nothing, since the service could not be asked. */
	public static function note_free_read( string $why ): void {
		self::note( 'free_reads', "the service is away ($why): an agent read free" );
	}

	/** A payment could not be decided; nobody was charged for nothing, and the buyer was told to come back. */
	public static function note_unsettled( string $why ): void {
		self::note( 'unsettled', "a payment could not be settled ($why)" );
	}

	/** The service does not know our key any more: every page is free to agents until there is a new one. */
	public static function note_refused_key( string $why ): void {
		self::keep( array( 'refused_key' => $why ) + self::read() );
		self::note( null, "the service refuses the API key ($why)" );
	}

	public static function note_dropped_reports( int $count ): void {
		$state                     = self::read();
		$state['dropped_reports'] += $count;
		self::keep( $state );
	}

	/** The service answers again. Counts stay, notice and last problem go. */
	public static function note_success(): void {
		$state = self::read();
		if ( ! $state['over'] || '' !== $state['refused_key'] ) {
			self::keep( array( 'over' => true, 'refused_key' => '', 'last' => '' ) + $state );
		}
	}

	public static function read(): array {
		$state = get_option( self::NAME );
		return ( is_array( $state ) ? $state : array() ) + self::NOTHING;
	}

	public static function print_notice(): void {
		$state = self::read();
		if ( ! current_user_can( 'manage_options' ) || ! Settings::is_complete() || ( $state['over'] && '' === $state['refused_key'] ) ) {
			return;
		}
		$text = '' !== $state['refused_key']
			? __( 'Content Settlement: the service refuses this site’s API key, so AI agents read for free. Connect again.', 'content-settlement' )
			: __( 'Content Settlement: the service cannot be reached, so AI agents read for free. People are not affected.', 'content-settlement' );
		printf(
			'<div class="notice notice-error"><p>%s <a href="%s">%s</a></p></div>',
			esc_html( $text ),
			esc_url( Settings_Page::url() ),
			esc_html__( 'Look at the settings', 'content-settlement' )
		);
	}

	private static function note( ?string $counter, string $sentence ): void {
		$state         = self::read();
		$state['last'] = $sentence;
		$state['at']   = time();
		$state['over'] = false;
		if ( null !== $counter ) {
			++$state[ $counter ];
		}
		if ( time() - $state['logged_at'] >= self::LOG_EACH ) {
			$state['logged_at'] = time();
			// phpcs:ignore WordPress.PHP.DevelopmentFunctions -- an operator has to learn of it.
			error_log( "Content Settlement: $sentence. Agents' free reads so far: {$state['free_reads']}." );
		}
		self::keep( $state );
		/**
		 * Something failed.
		 *
		 * @param string $sentence What.
		 */
		do_action( 'content_settlement_failure', $sentence );
	}

	private static function keep( array $state ): void {
		update_option( self::NAME, $state, false );
	}
}
