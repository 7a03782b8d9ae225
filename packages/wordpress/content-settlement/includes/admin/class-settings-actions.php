<?php
namespace ContentSettlement;

/**
 * What the buttons of the settings page do. Each: an administrator, a nonce, one change, and the page again with a sentence. The sentence stands in
 * the answer to the press alone, since it may hold a secret: nothing of it is stored.
 */
final class Settings_Actions {
	const ACTIONS = array( 'begin', 'finish', 'cancel', 'disconnect', 'connect', 'prove', 'sell', 'token', 'send' );

	/** @var array|null What the button of this request came to: [good, sentence]. */
	private static $news = null;

	/** Does what was pressed, before the settings page is printed. WordPress lets nobody but administrators come here. */
	public static function on_load(): void {
		if ( current_user_can( 'manage_options' ) ) {
			Connection::come_back();
			self::$news = Connection::word();
		}
		// phpcs:ignore WordPress.Security.NonceVerification -- checked below, by the action's own name.
		$pressed = isset( $_POST['action'] ) && is_string( $_POST['action'] ) ? sanitize_key( wp_unslash( $_POST['action'] ) ) : '';
		foreach ( self::ACTIONS as $action ) {
			if ( Settings::PREFIX . $action === $pressed && current_user_can( 'manage_options' ) ) {
				check_admin_referer( self::nonce( $action ) );
				self::$news = self::$action();
			}
		}
		if ( current_user_can( 'manage_options' ) ) {
			Site_Facts::gather(); // Before the notices are printed, which it may end.
		}
	}

	/** What the last button came to: [good, sentence]; null for nothing. */
	public static function news(): ?array {
		return self::$news;
	}

	/** What the nonce of a button is for. One that makes a token is spent with it: a page that is loaded again makes no other. */
	public static function nonce( string $action ): string {
		return Settings::PREFIX . $action . ( 'token' === $action ? get_option( Settings::CREDITS_TOKEN, '' ) : '' );
	}

	private static function begin(): array {
		return Connection::begin( self::text( 'service_url' ) );
	}

	private static function finish(): array {
		return Connection::finish();
	}

	private static function cancel(): array {
		return Connection::cancel();
	}

	private static function disconnect(): array {
		return Connection::disconnect();
	}

	/** By hand: address and key; the key's field is empty when it stays as it is. */
	private static function connect(): array {
		$key = self::text( 'api_key' );
		if ( '' !== $key && ! Settings::is_key( $key ) ) {
			return array( false, __( 'That is no key of the service: it begins with svc_live_. Nothing was saved.', 'content-settlement' ) );
		}
		$before = Settings::service_url();
		if ( ! Settings::save( self::text( 'service_url' ), Settings::post_types(), Settings::closes_side_doors(), Settings::trusts_page_cache() ) ) {
			return array( false, __( 'The address of the service has to begin with https://. Nothing was saved.', 'content-settlement' ) );
		}
		if ( '' === $key && '' !== $before && Settings::service_url() !== $before ) {
			// A key goes nowhere but to the service it was entered for.
			Settings::save_key( '' );
			return array( false, __( 'The address has changed, so enter the key of that service, too.', 'content-settlement' ) );
		}
		if ( '' !== $key ) {
			Settings::save_key( $key );
			Settings::save_proof_key( '' );
			Settings::save_site( array() );
		}
		return self::try_connection();
	}

	private static function try_connection(): array {
		Gate_Config::forget();
		Key_Set::forget();
		array_map( 'delete_transient', Breaker::ALL );
		$answer = Gate_Config::refresh();
		if ( 200 === $answer['status'] ) {
			Health::note_success();
			return array( true, trim( __( 'Connected.', 'content-settlement' ) . ' ' . ( Settings::has_credits_token() ? '' : self::new_token() ) ) );
		}
		if ( Service_Client::refuses_key( $answer ) ) {
			return array( false, __( 'The service answers, but does not accept this key. A connection key lasts 30 days; make a new key in your account.', 'content-settlement' ) );
		}
		/* translators: %s: what went wrong, technical. */
		return array( false, sprintf( __( 'Saved, but the service cannot be reached at this address (%s).', 'content-settlement' ), Service_Client::complaint( $answer ) ) );
	}

	private static function prove(): array {
		$missing = Host_Proof::prove();
		if ( '' !== $missing ) {
			return array( false, $missing );
		}
		Gate_Config::forget();
		/* translators: %s: host name. */
		return array( true, sprintf( __( '%s is proven to be yours.', 'content-settlement' ), Host_Proof::host() ) );
	}

	private static function sell(): array {
		// phpcs:ignore WordPress.Security.NonceVerification -- checked above.
		$sent  = isset( $_POST['post_types'] ) ? array_map( 'sanitize_key', (array) wp_unslash( $_POST['post_types'] ) ) : array();
		$types = array_values( array_intersect( $sent, get_post_types( array( 'public' => true ) ) ) );
		Settings::save( Settings::service_url(), $types, '' !== self::text( 'side_doors' ), '' !== self::text( 'page_cache' ) );
		return array( true, __( 'Saved.', 'content-settlement' ) );
	}

	private static function token(): array {
		return array( true, self::new_token() );
	}

	/** The token is shown once, by the page that answers. */
	private static function new_token(): string {
		/* translators: %s: a secret. */
		return sprintf( __( 'Copy this token now and enter it at the service, with the address of step 3; it is not shown again: %s', 'content-settlement' ), Settings::make_credits_token() );
	}

	private static function send(): array {
		Reports::send_waiting();
		$left = Reports::count_waiting();
		/* translators: %d: a number. */
		return 0 === $left ? array( true, __( 'Everything is sent.', 'content-settlement' ) ) : array( false, sprintf( __( 'The service does not take reports now; %d wait.', 'content-settlement' ), $left ) );
	}

	private static function text( string $name ): string {
		// phpcs:ignore WordPress.Security.NonceVerification -- checked above.
		return isset( $_POST[ $name ] ) && is_string( $_POST[ $name ] ) ? trim( sanitize_text_field( wp_unslash( $_POST[ $name ] ) ) ) : '';
	}
}
