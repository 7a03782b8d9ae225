<?php
namespace ContentSettlement;

/** What the settings page tells: asked for when somebody looks at it, so each call is short and nothing hangs on its outcome. */
final class Site_Facts {
	/** @var array|null What this request has found. */
	private static $found = null;

	/**
	 * Whether each step is done, the next thing to do (null: nothing), an example of a sale, the service's word on the site. Asks once a request; what the
	 * service says of the key begins or ends the notice in the admin pages.
	 */
	public static function gather(): array {
		if ( null === self::$found ) {
			self::$found = self::ask();
		}
		return self::$found;
	}

	private static function ask(): array {
		$answer  = Settings::is_complete() ? Gate_Config::refresh() : Service_Client::NOTHING;
		$state   = self::state( $answer );
		$site    = 'connected' === $state ? Host_Proof::site() : null;
		$authors = self::authors();
		$wallets = array_filter( wp_list_pluck( $authors, 'wallet' ) );
		$proven  = null !== $site && in_array( Host_Proof::host(), $site->hosts ?? array(), true );
		if ( $proven ) {
			Host_Proof::done();
		}
		$facts = array(
			'state'           => $state,
			'complaint'       => Service_Client::complaint( $answer ),
			'connected'       => 'connected' === $state,
			'proven'          => $proven,
			'authors'         => $authors,
			'has_wallets'     => array() !== $wallets,
			'told'            => null !== $site && untrailingslashit( (string) ( $site->credits_api_url ?? '' ) ) === Credits_Api::address(),
			'example'         => '',
			'no_example'      => __( 'Nothing yet: finish the steps above.', 'content-settlement' ),
			'enforcement'     => 'connected' === $state ? self::enforcement() : __( 'not connected', 'content-settlement' ),
			'credits_problem' => '' === get_option( 'permalink_structure' ) ? __( 'Choose a permalink structure other than “Plain” (Settings → Permalinks): posts at ?p=1 cannot be sold.', 'content-settlement' ) : '',
		);
		$post  = self::newest_sellable();
		if ( $proven && null !== $post ) {
			list( $facts['example'], $facts['no_example'] ) = self::example( $post );
		}
		$facts['read_at'] = self::read_at();
		$facts['next']    = self::next( $facts );
		$facts['selling'] = self::selling( count( $authors ), count( $wallets ) );
		return $facts;
	}

	/** 'none' before there is a key; then what the service says to it: 'connected', 'refused', 'plan', 'suspended', or 'away' where it says nothing. */
	private static function state( array $answer ): string {
		if ( ! Settings::is_complete() ) {
			return 'none';
		}
		if ( in_array( $answer['status'], array( 200, 304 ), true ) ) {
			Health::note_success();
			return 'connected';
		}
		$known = array( 'plan_gate' => 'plan', 'site_suspended' => 'suspended' );
		$code  = (string) ( $answer['headers']['x-svc-error-code'] ?? '' );
		if ( isset( $known[ $code ] ) ) {
			return $known[ $code ];
		}
		if ( Service_Client::refuses_key( $answer ) ) {
			Health::note_refused_key( Service_Client::complaint( $answer ) );
			return 'refused';
		}
		return 'away';
	}

	/** When the service last asked who wrote a post, past what this request has read; 0: never. */
	private static function read_at(): int {
		wp_cache_delete( Credits_Api::READ_AT, 'options' );
		wp_cache_delete( 'notoptions', 'options' );
		return (int) get_option( Credits_Api::READ_AT, 0 );
	}

	/** How the connection stands, as a sentence. */
	public static function sentence( array $facts ): string {
		$known = array(
			/* translators: %s: address. */
			'connected' => __( 'Connected to %s.', 'content-settlement' ),
			/* translators: %s: address. */
			'refused'   => __( '%s refuses this site’s key: it was revoked, or has ended. Agents read free. Connect again.', 'content-settlement' ),
			/* translators: %s: address. */
			'plan'      => __( 'The plan of your account at %s does not include this. Agents read free.', 'content-settlement' ),
			/* translators: %s: address. */
			'suspended' => __( 'Your site is suspended at %s. Agents read free. Ask its operator.', 'content-settlement' ),
			/* translators: 1: address, 2: what went wrong, technical. */
			'away'      => __( '%1$s does not answer now (%2$s). Nothing is lost: this is tried again by itself, and people are not affected.', 'content-settlement' ),
		);
		$text  = $known[ $facts['state'] ] ?? __( 'Press Connect: you sign in at the service, choose the site, and come back here. Nothing is copied by hand.', 'content-settlement' );
		return sprintf( $text, Settings::service_url(), $facts['complaint'] );
	}

	private static function next( array $facts ): ?string {
		if ( 'none' === $facts['state'] ) {
			return __( 'Next: connect to the service.', 'content-settlement' );
		}
		if ( ! $facts['connected'] ) {
			return self::sentence( $facts );
		}
		if ( ! $facts['proven'] ) {
			return __( 'Next: prove that this site is yours.', 'content-settlement' );
		}
		if ( '' !== $facts['credits_problem'] ) {
			return $facts['credits_problem'];
		}
		if ( ! $facts['has_wallets'] ) {
			return __( 'Next: an author enters a wallet.', 'content-settlement' );
		}
		return '' === $facts['example'] ? $facts['no_example'] : null;
	}

	private static function selling( int $authors, int $with_wallet ): string {
		/* translators: 1: number of authors with a wallet, 2: number of authors. */
		return sprintf( __( 'AI agents pay for your posts. %1$d of %2$d authors can be paid.', 'content-settlement' ), $with_wallet, $authors );
	}

	/** Who has published something, most first, at most fifty. */
	private static function authors(): array {
		$types   = Settings::post_types();
		$users   = array() === $types ? array() : get_users( array( 'has_published_posts' => $types, 'number' => 50, 'orderby' => 'post_count', 'order' => 'DESC' ) );
		$authors = array();
		foreach ( $users as $user ) {
			$authors[] = array( 'id' => $user->ID, 'name' => $user->display_name, 'posts' => count_user_posts( $user->ID, $types, true ), 'wallet' => Wallet::of_user( $user->ID ) );
		}
		return $authors;
	}

	/** The newest post whose authors can all be paid, among the last twenty. */
	private static function newest_sellable(): ?\WP_Post {
		foreach ( get_posts( array( 'post_type' => Settings::post_types(), 'numberposts' => 20, 'has_password' => false ) ) as $post ) {
			$credits = Credits::of( $post );
			if ( null !== $credits && ! isset( $credits['free'] ) ) {
				return $post;
			}
		}
		return null;
	}

	/** What an agent would pay for a post now, and to whom: [sentence, '' ], or ['', why nothing]. */
	private static function example( \WP_Post $post ): array {
		$answer = Service_Client::get( '/_svc/quote?resource=' . rawurlencode( get_permalink( $post ) ), array(), 5 );
		$title  = get_the_title( $post );
		if ( 200 === $answer['status'] ) {
			$shares = array();
			foreach ( $answer['body']->legs as $leg ) {
				$user     = get_user_by( 'slug', (string) ( $leg->authorId ?? '' ) );
				$shares[] = '$' . Money::usd( (string) $leg->amountMicro ) . ' ' . ( $user ? $user->display_name : $leg->authorId ?? $leg->toAddress );
			}
			/* translators: 1: title, 2: amount in dollars, 3: list of amounts and names. */
			return array( sprintf( __( 'An agent that reads “%1$s” pays $%2$s: %3$s.', 'content-settlement' ), $title, Money::usd( (string) $answer['body']->price ), implode( ', ', $shares ) ), '' );
		}
		$why = array(
			'no_credits'   => __( 'the service does not know its authors (step 3).', 'content-settlement' ),
			'free_slug'    => __( 'you have named it as free.', 'content-settlement' ),
			'out_of_scope' => __( 'its address is under none of the article prefixes that are set at the service.', 'content-settlement' ),
			'no_price'     => __( 'no price is set at the service.', 'content-settlement' ),
		);
		$code = (string) ( $answer['headers']['x-svc-free-because'] ?? '' );
		$said = $why[ $code ] ?? ( 204 === $answer['status'] ? __( 'set a price, the article prefixes and the credits API address at the service.', 'content-settlement' ) : Service_Client::complaint( $answer ) );
		/* translators: 1: title, 2: reason. */
		return array( '', sprintf( __( '“%1$s” is free to agents: %2$s', 'content-settlement' ), $title, $said ) );
	}

	private static function enforcement(): string {
		$answer = Service_Client::get( '/_svc/enforce-status' );
		foreach ( $answer['body']->hosts ?? array() as $row ) {
			if ( Host_Proof::host() === $row->host ) {
				return trim( self::mode( (string) $row->mode ) . ' ' . self::to_do( (string) $row->nextAction ) );
			}
		}
		return __( 'This site is not known to the service yet.', 'content-settlement' );
	}

	/** What the service asks for that this page does not say anyway; installing code is what was just done. */
	private static function to_do( string $action ): string {
		$known = array(
			'rotate_key'   => __( 'A call with a key that does not hold was seen: enter a new key.', 'content-settlement' ),
			'upgrade_plan' => __( 'Your plan at the service does not include this.', 'content-settlement' ),
			'fix_dns'      => __( 'The DNS record of the proof is missing.', 'content-settlement' ),
		);
		return $known[ $action ] ?? '';
	}

	private static function mode( string $mode ): string {
		$known = array(
			'in_app'     => __( 'This plugin is at work.', 'content-settlement' ),
			'idle'       => __( 'No agent has come yet.', 'content-settlement' ),
			'fleet'      => __( 'The service’s own gate stands before this site. Remove it before you use this plugin.', 'content-settlement' ),
			'conflict'   => __( 'The service’s own gate and this plugin are both at work. Remove one.', 'content-settlement' ),
			'unverified' => __( 'This site is not proven.', 'content-settlement' ),
		);
		return $known[ $mode ] ?? __( 'Nothing yet.', 'content-settlement' );
	}
}
