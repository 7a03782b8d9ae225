<?php
namespace ContentSettlement;

/** Who is paid for a post, and how much of each payment. */
final class Credits {
	/** Post meta: `authors`, a list of {user, weight}, and `free`. Empty: the post's author alone, or what Co-Authors Plus says. */
	const META = '_content_settlement_credits';

	const MAX_AUTHORS = 20;
	const MAX_WEIGHT  = 1000;
	const MAX_TITLE   = 500;

	/**
	 * The answer of the credits API: the post's title and contributors, or {free: true} where its editor said so. Null: nobody can be paid.
	 * That is also so when one of several authors has no wallet: the others are not paid his share in silence.
	 */
	public static function of( \WP_Post $post ): ?array {
		if ( self::is_free( $post ) ) {
			return array( 'free' => true );
		}
		$contributors = array();
		foreach ( self::authors_of( $post ) as $author ) {
			if ( '' === $author['wallet'] ) {
				return null;
			}
			$contributors[] = array( 'authorId' => $author['id'], 'wallet' => $author['wallet'], 'weight' => $author['weight'] );
		}
		$title = mb_substr( trim( (string) preg_replace( '/[\x00-\x1f\x7f-\x{9f}]+/u', ' ', html_entity_decode( wp_strip_all_tags( get_the_title( $post ) ), ENT_QUOTES, 'UTF-8' ) ) ), 0, self::MAX_TITLE );
		$page  = ( '' === $title ? array() : array( 'title' => $title ) ) + array( 'contributors' => $contributors );
		/**
		 * What the credits API says about a post; null for nobody to pay.
		 *
		 * @param array|null $page title and contributors ({authorId, wallet, weight}).
		 * @param \WP_Post   $post The post.
		 */
		return apply_filters( 'content_settlement_credits', array() === $contributors ? null : $page, $post );
	}

	/** Authors as {id, name, wallet, weight}: as set for the post, else those of Co-Authors Plus, else the post's own. */
	public static function authors_of( \WP_Post $post ): array {
		$set = self::stored( $post )['authors'];
		if ( array() !== $set ) {
			return array_values( array_filter( array_map( static function ( array $one ): ?array {
				$user = get_userdata( (int) $one['user'] );
				return $user ? self::author( $user, (int) $one['weight'] ) : self::missing( (int) $one['user'] );
			}, $set ) ) );
		}
		if ( function_exists( 'get_coauthors' ) ) {
			return array_map( array( self::class, 'coauthor' ), get_coauthors( $post->ID ) );
		}
		$user = get_userdata( (int) $post->post_author );
		return $user ? array( self::author( $user, 1 ) ) : array();
	}

	/** What an editor has set: {authors, free}. */
	public static function stored( \WP_Post $post ): array {
		$stored  = get_post_meta( $post->ID, self::META, true );
		$stored  = is_array( $stored ) ? $stored : array();
		$authors = $stored['authors'] ?? array();
		return array( 'authors' => is_array( $authors ) ? $authors : array(), 'free' => ! empty( $stored['free'] ) );
	}

	/** Keeps what an editor has set; users that are none and weights that are no whole numbers from 1 on are left out. */
	public static function store( int $post_id, array $weights, bool $free ): void {
		$authors = array();
		foreach ( array_slice( $weights, 0, self::MAX_AUTHORS, true ) as $user => $weight ) {
			if ( (int) $weight >= 1 && get_userdata( (int) $user ) ) {
				$authors[] = array( 'user' => (int) $user, 'weight' => min( (int) $weight, self::MAX_WEIGHT ) );
			}
		}
		if ( array() === $authors && ! $free ) {
			delete_post_meta( $post_id, self::META );
		} else {
			update_post_meta( $post_id, self::META, compact( 'authors', 'free' ) );
		}
	}

	public static function is_free( \WP_Post $post ): bool {
		return self::stored( $post )['free'];
	}

	private static function author( \WP_User $user, int $weight ): array {
		return array( 'id' => $user->user_nicename, 'name' => $user->display_name, 'wallet' => Wallet::of_user( $user->ID ), 'weight' => $weight );
	}

	/** An author whose account is gone: he cannot be paid, and nobody gets his share. */
	private static function missing( int $user_id ): array {
		return array( 'id' => "user-$user_id", 'name' => '?', 'wallet' => '', 'weight' => 1 );
	}

	/** A user, or a guest author of Co-Authors Plus: a post of its own, which may be linked to a user. */
	private static function coauthor( object $author ): array {
		if ( $author instanceof \WP_User ) {
			return self::author( $author, 1 );
		}
		$linked = empty( $author->linked_account ) ? false : get_user_by( 'login', $author->linked_account );
		$wallet = $linked ? Wallet::of_user( $linked->ID ) : (string) get_post_meta( (int) $author->ID, Wallet::META, true );
		return array( 'id' => (string) $author->user_nicename, 'name' => (string) $author->display_name, 'wallet' => (string) Wallet::clean( $wallet ), 'weight' => 1 );
	}
}
