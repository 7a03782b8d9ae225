<?php
namespace ContentSettlement;

/** What the settings page tells: asked for when somebody looks at it, so each call is short and nothing hangs on its outcome. */
final class Site_Facts {
	/** Whether each step is done, the next thing to do (null: nothing), an example of a sale, the service's word on the site. */
	public static function gather(): array {
		$config    = Settings::is_complete() ? Gate_Config::refresh() : array( 'status' => 0 );
		$connected = in_array( $config['status'], array( 200, 304 ), true );
		$authors   = self::authors();
		$wallets   = array_filter( wp_list_pluck( $authors, 'wallet' ) );
		$proven    = $connected && Host_Proof::is_proven();
		$facts     = array(
			'connected'       => $connected,
			'proven'          => $proven,
			'authors'         => $authors,
			'has_wallets'     => array() !== $wallets,
			'example'         => '',
			'no_example'      => __( 'Nothing yet: finish the steps above.', 'content-settlement' ),
			'enforcement'     => $connected ? self::enforcement() : __( 'not connected', 'content-settlement' ),
			'credits_problem' => '' === get_option( 'permalink_structure' ) ? __( 'Choose a permalink structure other than “Plain” (Settings → Permalinks): posts at ?p=1 cannot be sold.', 'content-settlement' ) : '',
		);
		$post      = self::newest_sellable();
		if ( $proven && null !== $post ) {
			list( $facts['example'], $facts['no_example'] ) = self::example( $post );
		}
		$facts['next']    = self::next( $facts );
		$facts['selling'] = self::selling( count( $authors ), count( $wallets ) );
		return $facts;
	}

	private static function next( array $facts ): ?string {
		if ( ! $facts['connected'] ) {
			return __( 'Next: connect to the service.', 'content-settlement' );
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
		return '' === $facts['example'] ? __( 'Next: set a price and the credits API at the service.', 'content-settlement' ) : null;
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
			'no_credits'   => __( 'the service does not know its authors. Enter the credits API address of step 3 at the service.', 'content-settlement' ),
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
