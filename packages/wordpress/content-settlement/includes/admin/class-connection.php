<?php
namespace ContentSettlement;

/**
 * Connecting by one button: the browser is sent to the service's console with the challenge of a verifier that stays here (OAuth 2.1, PKCE), comes back
 * with a code, and this server exchanges it. Nothing is saved before the administrator who began has seen which account it is, and has said yes.
 */
final class Connection {
	/** What one administrator has begun, or has to confirm: by user, ten minutes, in the session that began it. */
	const BEGUN   = Settings::PREFIX . 'connect_';
	const PENDING = Settings::PREFIX . 'confirm_';
	const LIFE    = 600;
	const SECONDS = 20;

	/** Sends the browser to the console of the service at this address; returns only with what is in the way: [good, sentence]. */
	public static function begin( string $address ): array {
		$service = Settings::clean_address( $address );
		$wrong   = null === $service ? __( 'The address of the service has to begin with https://. Nothing was saved.', 'content-settlement' ) : self::not_ready();
		if ( '' !== $wrong ) {
			return array( false, $wrong );
		}
		$begun = array( 'service' => $service, 'verifier' => self::random(), 'state' => self::random(), 'session' => self::session() );
		delete_transient( self::name( self::PENDING ) );
		set_transient( self::name( self::BEGUN ), $begun, self::LIFE );
		$query = array(
			'host'                  => Host_Proof::host(),
			'redirect_uri'          => Settings_Page::url(),
			'credits_url'           => Credits_Api::address(),
			'state'                 => $begun['state'],
			'code_challenge'        => self::base64url( hash( 'sha256', $begun['verifier'], true ) ),
			'code_challenge_method' => 'S256',
		);
		nocache_headers();
		// phpcs:ignore WordPress.Security.SafeRedirect -- to the service whose address the administrator has just sent.
		wp_redirect( $service . '/_svc/console/connect?' . http_build_query( $query, '', '&', PHP_QUERY_RFC3986 ), 303 );
		exit;
	}

	/**
	 * Takes the code that the browser came back with, if this administrator began it in this session, and leads to the page without it. The state
	 * stands for a nonce: only the console of the service that was asked has seen it.
	 */
	public static function come_back(): void {
		list( $code, $state, $issuer ) = array( self::query( 'code' ), self::query( 'state' ), self::query( 'iss' ) );
		if ( '' === $code || '' === $state ) {
			return;
		}
		nocache_headers();
		wp_safe_redirect( add_query_arg( 'connect', self::receive( $code, $state, $issuer ), Settings_Page::url() ), 303 );
		exit;
	}

	/** What the answer came to, by a word for the page. */
	private static function receive( string $code, string $state, string $issuer ): string {
		$begun = get_transient( self::name( self::BEGUN ) );
		if ( ! is_array( $begun ) || ! hash_equals( $begun['state'], $state ) || ! hash_equals( $begun['session'], self::session() ) ) {
			return 'unknown';
		}
		delete_transient( self::name( self::BEGUN ) );
		// Another service may have led the browser on to this one, to have its code sent to itself.
		if ( $issuer !== $begun['service'] ) {
			return 'other';
		}
		$sent   = array( 'grant_type' => 'authorization_code', 'code' => $code, 'code_verifier' => $begun['verifier'] );
		$answer = Service_Client::call_at( $begun['service'], '/_svc/console/connect/token', $sent, '', self::SECONDS );
		$said   = $answer['body'];
		if ( 200 !== $answer['status'] || ! is_object( $said ) || ! is_string( $said->access_token ?? null ) ) {
			return Service_Client::is_away( $answer ) ? 'away' : 'refused';
		}
		if ( ( $said->host ?? '' ) !== Host_Proof::host() ) {
			return 'refused';
		}
		$pending = array(
			'service' => $begun['service'],
			'grant'   => $said->access_token,
			'account' => (string) ( $said->account ?? '' ),
			'site'    => (string) ( $said->site->host ?? $said->site->tenantId ?? '' ),
			'tenant'  => (string) ( $said->site->tenantId ?? '' ),
			'session' => $begun['session'],
		);
		set_transient( self::name( self::PENDING ), $pending, self::LIFE );
		return 'confirm';
	}

	/** What waits for this administrator's yes in this session: service, account, site, tenant; null for nothing. */
	public static function pending(): ?array {
		$pending = get_transient( self::name( self::PENDING ) );
		return is_array( $pending ) && hash_equals( $pending['session'], self::session() ) ? $pending : null;
	}

	/** The administrator has said yes: fetches the keys, keeps them, and has the host looked at. */
	public static function finish(): array {
		$pending = self::pending();
		if ( null === $pending ) {
			return array( false, __( 'This took too long. Connect again.', 'content-settlement' ) );
		}
		$token  = Settings::new_credits_token();
		$answer = Service_Client::call_at( $pending['service'], '/_svc/console/connect/finish', array( 'creditsToken' => $token ), $pending['grant'], self::SECONDS );
		$said   = $answer['body'];
		$is_key = static function ( $text ): bool {
			return is_string( $text ) && Settings::is_key( $text );
		};
		if ( 201 !== $answer['status'] || ! is_object( $said ) || ! $is_key( $said->key ?? null ) ) {
			if ( 401 === $answer['status'] ) {
				delete_transient( self::name( self::PENDING ) );
			}
			/* translators: %s: what went wrong, technical. */
			return array( false, sprintf( __( 'The service did not finish the connection (%s). Nothing was saved.', 'content-settlement' ), Service_Client::complaint( $answer ) ) );
		}
		delete_transient( self::name( self::PENDING ) );
		Settings::save( $pending['service'], Settings::post_types(), Settings::closes_side_doors(), Settings::trusts_page_cache() );
		Settings::save_key( $said->key );
		Settings::save_proof_key( $is_key( $said->proofKey ?? null ) ? $said->proofKey : '' );
		Settings::keep_credits_token( $token );
		Settings::save_site( array_intersect_key( $pending, array_flip( array( 'account', 'site', 'tenant' ) ) ) );
		self::forget_former();
		if ( ! is_string( $said->challenge ?? null ) || '' === $said->challenge ) {
			return array( true, __( 'Connected.', 'content-settlement' ) );
		}
		Host_Proof::keep( $said->challenge );
		$missing = Host_Proof::check();
		return '' === $missing
			/* translators: %s: host name. */
			? array( true, sprintf( __( 'Connected, and %s is proven to be yours.', 'content-settlement' ), Host_Proof::host() ) )
			/* translators: 1: host name, 2: what is missing, a sentence. */
			: array( true, sprintf( __( 'Connected. %1$s is not proven yet: %2$s The service looks again by itself.', 'content-settlement' ), Host_Proof::host(), $missing ) );
	}

	/** The administrator has said no. */
	public static function cancel(): array {
		delete_transient( self::name( self::PENDING ) );
		return array( true, __( 'Not connected. Nothing was saved.', 'content-settlement' ) );
	}

	/** Forgets keys, token and account; agents read free from then on. Authors' wallets and what is sold stay. */
	public static function disconnect(): array {
		$service = Settings::service_url();
		Settings::save_key( '' );
		Settings::save_proof_key( '' );
		Settings::save_site( array() );
		delete_option( Settings::CREDITS_TOKEN );
		self::forget_former();
		Health::note_success();
		/* translators: %s: address. */
		return array( true, sprintf( __( 'Disconnected: agents read free. The service still has a key for this site; revoke it there: %s', 'content-settlement' ), $service . '/_svc/console/access' ) );
	}

	/** What a word of the address says of the way back; null for none. */
	public static function word(): ?array {
		$words = array(
			'unknown' => __( 'Nobody began this here, or it took longer than ten minutes. Nothing was saved. Connect again.', 'content-settlement' ),
			'other'   => __( 'Another service answered than the one you asked, or it has another address than you entered. Nothing was saved. Enter the address that its console shows in the browser.', 'content-settlement' ),
			'away'    => __( 'The service did not answer this server. Nothing was saved. Connect again.', 'content-settlement' ),
			'refused' => __( 'The service did not accept the answer of its console: it was used already, or took longer than a minute. Nothing was saved. Connect again.', 'content-settlement' ),
		);
		$word  = self::query( 'connect' );
		return isset( $words[ $word ] ) ? array( false, $words[ $word ] ) : null;
	}

	/** Why the console could not be answered here, as a sentence; '' when it can. */
	private static function not_ready(): string {
		if ( '' === get_option( 'permalink_structure' ) ) {
			return __( 'Choose a permalink structure other than “Plain” first (Settings → Permalinks).', 'content-settlement' );
		}
		$admin = wp_parse_url( Settings_Page::url() );
		if ( 'https' !== ( $admin['scheme'] ?? '' ) || 'https' !== wp_parse_url( home_url(), PHP_URL_SCHEME ) ) {
			return __( 'This site has to be reached by https:// first: the service sends secrets there.', 'content-settlement' );
		}
		if ( strtolower( (string) ( $admin['host'] ?? '' ) ) !== Host_Proof::host() ) {
			/* translators: 1: host name, 2: host name. */
			return sprintf( __( 'The admin pages are at %1$s and the site is at %2$s. Enter a key by hand (below).', 'content-settlement' ), (string) ( $admin['host'] ?? '' ), Host_Proof::host() );
		}
		$forbidden = Host_Proof::forbidden();
		if ( '' !== $forbidden ) {
			return $forbidden;
		}
		$other = self::other_on_host();
		return '' === $other
			? ''
			/* translators: 1: host name, 2: address. */
			: sprintf( __( 'At %1$s another site of this network is connected already: %2$s. The service asks one WordPress of a host who wrote a page. Disconnect that one first, or give this site a host of its own.', 'content-settlement' ), Host_Proof::host(), $other );
	}

	/** Another site of the network that is connected under this host; '' for none. */
	private static function other_on_host(): string {
		foreach ( Host_Proof::neighbours() as $site ) {
			if ( '' !== (string) get_blog_option( (int) $site->blog_id, Settings::KEY, '' ) ) {
				return $site->domain . $site->path;
			}
		}
		return '';
	}

	/** What was known of another service, key or site. */
	private static function forget_former(): void {
		Gate_Config::forget();
		Key_Set::forget();
		delete_option( Credits_Api::READ_AT );
		array_map( 'delete_transient', Breaker::ALL );
		Health::note_success();
	}

	private static function name( string $what ): string {
		return $what . get_current_user_id();
	}

	/** The session of the login, hashed: who stole no cookie of it is another one. */
	private static function session(): string {
		return hash( 'sha256', wp_get_session_token() );
	}

	private static function random(): string {
		return self::base64url( random_bytes( 32 ) );
	}

	private static function base64url( string $bytes ): string {
		return rtrim( strtr( base64_encode( $bytes ), '+/', '-_' ), '=' );
	}

	private static function query( string $name ): string {
		// phpcs:ignore WordPress.Security -- `state` stands for a nonce; compared and sent on, never printed.
		$text = $_GET[ $name ] ?? '';
		return is_string( $text ) && strlen( $text ) <= 4096 ? (string) wp_unslash( $text ) : '';
	}
}
