<?php
namespace ContentSettlement;

/** Proves to the service that this site is ours: asks for a challenge, serves its token, has it checked. */
final class Host_Proof {
	/** Before it the network's option has the host's hash: one site of a network answers /.well-known/ for all that share its host. */
	const TOKEN = Settings::PREFIX . 'challenge';
	const PATH  = '/.well-known/svc-challenge';
	/** The service looks at the site while it answers. */
	const SECONDS = 20;

	public static function register(): void {
		add_action( 'parse_request', array( self::class, 'serve' ), 0 );
	}

	/** This site's host name, as the service knows it. */
	public static function host(): string {
		return strtolower( (string) wp_parse_url( home_url(), PHP_URL_HOST ) );
	}

	/** Answers the service's look, and 404 for tokens that are not ours. */
	public static function serve(): void {
		// phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- compared, never printed.
		$path = (string) wp_parse_url( wp_unslash( $_SERVER['REQUEST_URI'] ?? '' ), PHP_URL_PATH );
		if ( self::PATH !== $path && 0 !== strpos( $path, self::PATH . '/' ) ) {
			return;
		}
		$token = self::token();
		$asked = substr( $path, strlen( self::PATH ) + 1 );
		Answer::mark();
		if ( '' === $token || ( self::PATH !== $path && ! hash_equals( $token, $asked ) ) ) {
			status_header( 404 );
			exit;
		}
		status_header( 200 );
		header( 'Content-Type: text/plain; charset=utf-8' );
		echo esc_html( $token );
		exit;
	}

	/** Shows this token from now on; '' for none. */
	public static function keep( string $token ): void {
		if ( is_multisite() ) {
			update_site_option( self::of_host(), $token );
		} else {
			update_option( self::TOKEN, $token, false );
		}
	}

	/** The token that is shown; '' for none. */
	public static function token(): string {
		return (string) ( is_multisite() ? get_site_option( self::of_host(), '' ) : get_option( self::TOKEN, '' ) );
	}

	private static function of_host(): string {
		return self::TOKEN . '_' . md5( self::host() );
	}

	/** Other sites of the network under this host; none where WordPress is no network. */
	public static function neighbours(): array {
		return is_multisite() ? get_sites( array( 'domain' => self::host(), 'site__not_in' => array( get_current_blog_id() ), 'number' => 1000 ) ) : array();
	}

	/**
	 * Why this user may not have the host proven, as a sentence; '' when he may. The proof is of the whole host, so the administrator of one of its
	 * folders does not take it to an account of his own: that is for whoever runs the network.
	 */
	public static function forbidden(): string {
		if ( array() === self::neighbours() || current_user_can( 'manage_network_options' ) ) {
			return '';
		}
		/* translators: %s: host name. */
		return sprintf( __( 'Other sites of this network are at %s, too. Ask an administrator of the network to connect this one.', 'content-settlement' ), self::host() );
	}

	/** Opens the challenge and has it checked at once. Returns '' when the site is proven, else what is missing, as a sentence. */
	public static function prove(): string {
		$forbidden = self::forbidden();
		if ( '' !== $forbidden ) {
			return $forbidden;
		}
		$opened = self::ask( '/_svc/verify-host', array( 'host' => self::host(), 'method' => 'well-known' ) );
		if ( 409 === $opened['status'] ) {
			$is_ours = 'host_already_added' === ( $opened['body']->error ?? '' );
			return $is_ours ? self::done() : __( 'This address is already connected to another account of the service.', 'content-settlement' );
		}
		if ( 401 === $opened['status'] || 403 === $opened['status'] ) {
			return self::is_proven() ? self::done() : __( 'This key may not prove a site, or not any more. Connect again.', 'content-settlement' );
		}
		if ( 201 !== $opened['status'] ) {
			return self::in_words( Service_Client::complaint( $opened ) );
		}
		self::keep( (string) $opened['body']->challenge->token );
		return self::check();
	}

	/** Has the service look now. */
	public static function check(): string {
		$checked = self::ask( '/_svc/verify-host/check', array( 'host' => self::host() ) );
		if ( 200 === $checked['status'] ) {
			return self::done();
		}
		$reason = (string) ( $checked['body']->reason ?? '' );
		return self::in_words( '' === $reason ? Service_Client::complaint( $checked ) : $reason );
	}

	/** Whether the service counts this host as ours. */
	public static function is_proven(): bool {
		$site = self::site();
		return null !== $site && in_array( self::host(), $site->hosts ?? array(), true );
	}

	/** The site of the key as the service has it; null when it does not say. */
	public static function site(): ?object {
		$self = Service_Client::get( '/_svc/tenants/self' );
		$site = $self['body']->tenants[0] ?? null;
		return is_object( $site ) ? $site : null;
	}

	/** The host is proven: what may prove it is needed no more. */
	public static function done(): string {
		Settings::save_proof_key( '' );
		return '';
	}

	private static function ask( string $path, array $body ): array {
		return Service_Client::call_at( Settings::service_url(), $path, $body, Settings::proof_key(), self::SECONDS );
	}

	private static function in_words( string $reason ): string {
		$known = array(
			'timeout'         => __( 'The service could not reach this site in time.', 'content-settlement' ),
			'redirect'        => __( 'The site redirects the address of the proof. Let /.well-known/ through without a redirect.', 'content-settlement' ),
			'tls_error'       => __( 'The site has no valid certificate for https.', 'content-settlement' ),
			'blocked_address' => __( 'The site’s name leads to an address that is not public.', 'content-settlement' ),
			'wrong_token'     => __( 'Something else answers at /.well-known/svc-challenge: a cache, or another plugin.', 'content-settlement' ),
			'not_verified'    => __( 'The proof was not found at /.well-known/svc-challenge. Does the web server keep /.well-known/ from WordPress?', 'content-settlement' ),
			'dns_mismatch'    => __( 'This site was proven before and lost it. For three days only a DNS record proves it: ask your administrator.', 'content-settlement' ),
			'host_taken'      => __( 'This address is already connected to another account of the service.', 'content-settlement' ),
		);
		/* translators: %s: a reason code of the service. */
		return $known[ $reason ] ?? sprintf( __( 'The service says: %s', 'content-settlement' ), $reason );
	}
}
