<?php
namespace ContentSettlement;

/**
 * In front of every page: finds out who asks and what to do, and does it. A page that is sold is made first, into a buffer; the payment is
 * settled at the end of the request, before the first byte is sent, and only if the page is there.
 */
final class Gate {
	public static function register(): void {
		add_action( 'template_redirect', array( self::class, 'on_page' ), 1 );
	}

	/** Runs before any template, redirect or plugin that makes the page by itself. */
	public static function on_page(): void {
		$post = self::page_in_question();
		if ( null === $post || ! Settings::is_complete() ) {
			return;
		}
		$visit    = Visit::now();
		$resource = get_permalink( $post );
		if ( $visit->is_preflight() ) {
			Answer::mark();
			Answer::preflight();
			exit;
		}
		list( $who, $reason ) = self::classify( $visit, Gate_Config::kept() );
		if ( in_array( $who, Decision::READS_FREE, true ) ) {
			Page_Cache::keep_out();
			return;
		}
		self::on_agent( $visit, $resource, $reason );
	}

	/**
	 * The published post or page that is asked for, as a page: no feed or embed. A preview of one is the page: anybody may ask for it by
	 * `?preview=1`, and editors, who have logged in, read free.
	 */
	private static function page_in_question(): ?\WP_Post {
		if ( ! is_singular( Settings::post_types() ) || is_feed() || is_embed() || is_trackback() ) {
			return null;
		}
		$post = get_queried_object();
		return $post instanceof \WP_Post && Page_Address::is_for_sale( $post ) ? $post : null;
	}

	/** Who asks: the site's own word (filter), then whether a user is logged in, then the lists. */
	public static function classify( Visit $visit, array $policy ): array {
		/**
		 * The site's own classifier: 'human', 'agent' or 'search'; anything else leaves it to the lists.
		 *
		 * @param string|null $who        Null.
		 * @param string      $user_agent As sent.
		 */
		$named = apply_filters( 'content_settlement_classify', null, $visit->user_agent );
		$known = array( 'human' => 'person', 'agent' => 'agent', 'search' => 'search' );
		if ( is_string( $named ) && isset( $known[ $named ] ) ) {
			return array( $known[ $named ], 'site_classifier' );
		}
		if ( is_user_logged_in() ) {
			return array( 'person', 'person' );
		}
		$found = Classifier::judge( $visit->user_agent, $policy, $visit->is_paying(), $visit->accept );
		if ( in_array( $found[0], array( 'person', 'blocked' ), true ) || ! Claims::is_false( $visit->user_agent ) ) {
			return $found;
		}
		return Classifier::masquerade( $policy ) ?? $found;
	}

	private static function on_agent( Visit $visit, string $resource, string $reason ): void {
		$policy = Gate_Config::fresh();
		$path   = Page_Address::path_of( $resource );
		$slug   = (string) Page_Address::slug_of( $policy['articlePrefixes'] ?? array( '/' ), $path );
		$facts  = array(
			'who'         => self::classify( $visit, $policy )[0],
			'in_scope'    => Gate_Config::covers( $policy, $path ),
			'method'      => $visit->method,
			'is_partial'  => $visit->is_partial,
			'payment'     => $visit->payments,
			'licence'     => 'none',
			'quote'       => 'free',
			'proof'       => 'none',
		);
		$proof  = array( 'state' => 'none' );
		$quote  = array( 'state' => 'free' );
		if ( 'agent' === $facts['who'] && $facts['in_scope'] && '' !== $slug ) {
			$issuer           = (string) ( $policy['licenseIdentity'] ?? '' );
			$facts['licence'] = '' === $visit->licence ? 'none' : Licences::judge( $visit->licence, $resource, $slug, $issuer );
			$is_decided       = 'good' === $facts['licence'] || ( 'busy' === $facts['licence'] && 'none' === $visit->payments );
			$quote            = $is_decided ? $quote : Quotes::of( $resource );
			$facts['quote']   = $quote['state'];
			if ( 'priced' === $quote['state'] && '' !== $visit->proof && 'GET' === $visit->method ) {
				$proof          = Wallet_Proof::judge( $visit->proof, $resource, $slug );
				$facts['proof'] = $proof['state'];
			}
		}
		$decision = Decision::of( $facts );
		if ( 'away' === $quote['state'] ) {
			$reason = 'service_away';
			Health::note_free_read( $quote['why'] );
		}
		if ( null !== $decision['verdict'] ) {
			Reports::add( $decision['verdict'], $resource, $slug, $reason, $visit->user_agent, $quote['quote']->price ?? null );
		}
		/**
		 * What was decided about an agent's request.
		 *
		 * @param array  $decision act and verdict.
		 * @param string $resource The page.
		 */
		do_action( 'content_settlement_decision', $decision, $resource );
		Forms::stay();
		self::carry_out( $visit, $decision, $proof, new Sale( $visit, $resource, $slug, $reason, $quote ) );
	}

	private static function carry_out( Visit $visit, array $decision, array $proof, Sale $sale ): void {
		switch ( $decision['act'] ) {
			case 'serve':
				if ( 'good' === $proof['state'] ) {
					Answer::read_again( $proof['licence'] );
				} elseif ( null !== $decision['verdict'] ) {
					Answer::mark();
				}
				if ( 'agent-reread' === $decision['verdict'] && 'GET' === $visit->method && Forms::wants_markdown( $visit ) ) {
					Markdown::buffer();
				}
				return;
			case 'settle':
				if ( $sale->begin() ) {
					return;
				}
				Answer::wait( '2' );
				break;
			case 'refuse':
				Answer::refuse();
				break;
			case 'reject':
				Answer::reject();
				break;
			case 'wait':
				Answer::wait( '5' );
				break;
			default:
				$next = '' === $decision['next'] ? null : (object) array( 'action' => $decision['next'] );
				$sale->offer( '' === $decision['error'] ? ( $proof['error'] ?? '' ) : $decision['error'], $next );
		}
		exit;
	}
}
