<?php
namespace ContentSettlement;

/** What the owner has set. The API key is an option of its own, which is not loaded with every page and is never shown again. */
final class Settings {
	/** Every option and transient of the plugin begins with it; uninstalling removes by it. */
	const PREFIX = 'content_settlement_';

	const MAIN = self::PREFIX . 'settings';
	const KEY  = self::PREFIX . 'api_key';
	/** SHA-256 of the token the service shows when it asks who wrote a post; the token itself is nowhere. */
	const CREDITS_TOKEN = self::PREFIX . 'credits_token';
	/** A second key, until the host is proven: it may have that looked at. */
	const PROOF_KEY = self::PREFIX . 'proof_key';
	/** The account and the site that this WordPress was connected to by the button. */
	const SITE = self::PREFIX . 'site';

	/** The service's address without a closing slash; '' until it is set. */
	public static function service_url(): string {
		return (string) ( self::all()['service_url'] ?? '' );
	}

	/** The publisher key; '' until it is set. */
	public static function api_key(): string {
		return (string) get_option( self::KEY, '' );
	}

	/** Whether the plugin has what it needs; until then it changes nothing on the site. */
	public static function is_complete(): bool {
		return '' !== self::service_url() && '' !== self::api_key();
	}

	/** Names of the post types that are sold. */
	public static function post_types(): array {
		$types = self::all()['post_types'] ?? array( 'post' );
		return array_values( array_filter( (array) $types, 'is_string' ) );
	}

	/** Whether named AI crawlers get excerpts from feeds and the REST API, where the whole text would be free. */
	public static function closes_side_doors(): bool {
		return (bool) ( self::all()['side_doors'] ?? true );
	}

	/** Whether the owner says that his page cache never serves agents, so that it may keep what is sold. */
	public static function trusts_page_cache(): bool {
		return (bool) ( self::all()['page_cache'] ?? false );
	}

	/** Keeps what the settings page sent; false when the address is none that may be called. */
	public static function save( string $service_url, array $post_types, bool $side_doors, bool $page_cache ): bool {
		$url = self::clean_address( $service_url );
		if ( null === $url ) {
			return false;
		}
		update_option( self::MAIN, array( 'service_url' => $url ) + compact( 'post_types', 'side_doors', 'page_cache' ) );
		return true;
	}

	/** Keeps a key; it is read only where the service is called. */
	public static function save_key( string $key ): void {
		delete_option( self::KEY );
		add_option( self::KEY, $key, '', false );
	}

	/** Whether a text has the form of a publisher key. */
	public static function is_key( string $text ): bool {
		return 1 === preg_match( '/^svc_(live|test)_[A-Za-z0-9_-]{8,200}$/D', $text );
	}

	/** The key that may prove the host: one of its own until it is proven, else the key. */
	public static function proof_key(): string {
		$own = (string) get_option( self::PROOF_KEY, '' );
		return '' === $own ? self::api_key() : $own;
	}

	/** Keeps the key for the proof; '' ends it. */
	public static function save_proof_key( string $key ): void {
		delete_option( self::PROOF_KEY );
		if ( '' !== $key ) {
			add_option( self::PROOF_KEY, $key, '', false );
		}
	}

	/** account, site and tenant that the button connected; an empty array where a key was entered by hand. */
	public static function site(): array {
		$site = get_option( self::SITE, array() );
		return is_array( $site ) ? $site : array();
	}

	public static function save_site( array $site ): void {
		if ( array() === $site ) {
			delete_option( self::SITE );
		} else {
			update_option( self::SITE, $site, false );
		}
	}

	/** Whether the credits API is closed to all but the service. */
	public static function has_credits_token(): bool {
		return '' !== (string) get_option( self::CREDITS_TOKEN, '' );
	}

	/** Makes the token of the credits API anew and returns it, the only time it can be seen; the one before opens nothing any more. */
	public static function make_credits_token(): string {
		$token = self::new_credits_token();
		self::keep_credits_token( $token );
		return $token;
	}

	/** A token that opens nothing yet. */
	public static function new_credits_token(): string {
		return 'wpc_' . bin2hex( random_bytes( 24 ) );
	}

	/** From now on this token opens the credits API, and no other; only its hash is kept. */
	public static function keep_credits_token( string $token ): void {
		delete_option( self::CREDITS_TOKEN );
		add_option( self::CREDITS_TOKEN, hash( 'sha256', $token ), '', false );
	}

	/**
	 * An address the server may be sent to: https anywhere, http to this machine alone (the sandbox), no credentials, query or path
	 * tricks. Null for everything else.
	 */
	public static function clean_address( string $text ): ?string {
		$parts = wp_parse_url( trim( $text ) );
		if ( ! is_array( $parts ) || empty( $parts['host'] ) || array_intersect_key( $parts, array_flip( array( 'user', 'pass', 'query', 'fragment' ) ) ) ) {
			return null;
		}
		$scheme   = strtolower( $parts['scheme'] ?? '' );
		$is_local = in_array( strtolower( $parts['host'] ), array( '127.0.0.1', 'localhost', '[::1]' ), true );
		if ( 'https' !== $scheme && ! ( 'http' === $scheme && $is_local ) ) {
			return null;
		}
		$port = isset( $parts['port'] ) ? ':' . $parts['port'] : '';
		return $scheme . '://' . strtolower( $parts['host'] ) . $port . untrailingslashit( $parts['path'] ?? '' );
	}

	private static function all(): array {
		$stored = get_option( self::MAIN, array() );
		return is_array( $stored ) ? $stored : array();
	}
}
