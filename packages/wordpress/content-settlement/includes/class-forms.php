<?php
namespace ContentSettlement;

/**
 * Other addresses of a post that have its text and its price: `two.md` and `two/amp` of `two`. WordPress answers most of them with 404; here each leads to
 * the post, where people are sent on to its one address and agents are asked for its price. A post's own feed is none: it has the comments.
 */
final class Forms {
	/** How many forms one address may be of another. */
	const MOST_CUTS = 2;
	/** @var string The path that was asked for, as a form of a post; '' for none. */
	private static $form = '';
	/** @var bool Whether an agent gets it there. */
	private static $is_staying = false;

	public static function register(): void {
		add_filter( 'request', array( self::class, 'route' ) );
		add_action( 'template_redirect', array( self::class, 'lead' ), 2 ); // After the gate.
	}

	/** The query of the post, for the address of a form of it. @param array $query As WordPress read it from the address. */
	public static function route( $query ): array {
		$query  = (array) $query;
		$policy = Gate_Config::kept();
		$asked  = isset( $_SERVER['REQUEST_URI'] ) ? (string) wp_unslash( $_SERVER['REQUEST_URI'] ) : ''; // phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- compared.
		if ( is_admin() || isset( $query['feed'] ) || ! Settings::is_complete() ) {
			return $query;
		}
		$prefixes = (array) ( $policy['articlePrefixes'] ?? array( '/' ) );
		$path     = Page_Address::path_of( $asked );
		$slug     = Page_Address::slug_of( $prefixes, $path );
		$articles = null === $slug ? array() : self::articles_of( $slug, (array) ( $policy['forms'] ?? array() ) );
		if ( array() === $articles || Page_Address::has_post( $path ) ) {
			return $query;
		}
		foreach ( $articles as $article ) {
			$post = Page_Address::post_at( $prefixes, $article );
			if ( null !== $post ) {
				self::$form = $path;
				return 'page' === $post->post_type ? array( 'page_id' => $post->ID ) : array( 'p' => $post->ID, 'post_type' => $post->post_type );
			}
		}
		return $query;
	}

	/** Keeps an agent at the form that it asked for: it has paid, or will. */
	public static function stay(): void {
		if ( '' !== self::$form ) {
			self::$is_staying = true;
			remove_action( 'template_redirect', 'redirect_canonical' );
		}
	}

	/** Sends everybody else on to the one address of the post. */
	public static function lead(): void {
		if ( '' !== self::$form && ! self::$is_staying && is_singular() ) {
			wp_safe_redirect( get_permalink(), 301 );
			exit;
		}
	}

	/** Whether the post is wanted as Markdown: by its address, or by what the visitor takes. */
	public static function wants_markdown( Visit $visit ): bool {
		return 1 === preg_match( '/\.(?:md|markdown)$/iD', self::$form ) || self::prefers_markdown( $visit->accept );
	}

	/** The articles that a slug may be a form of, the nearest first, as the service has them; an empty array for a slug that is none. */
	public static function articles_of( string $slug, array $forms ): array {
		$articles = array();
		for ( $cut = 0; $cut < self::MOST_CUTS; $cut++ ) {
			$form = self::form_of( $slug, $forms );
			if ( '' === $form ) {
				break;
			}
			$slug       = substr( $slug, 0, -strlen( $form ) );
			$articles[] = $slug;
			if ( '.html' !== $form && in_array( '.html', $forms, true ) ) {
				$articles[] = "$slug.html";
			}
		}
		return $articles;
	}

	/** Whether a visitor would rather have Markdown than HTML: named with a higher quality, or earlier with the same. A wildcard asks for none. */
	public static function prefers_markdown( string $accept ): bool {
		$markdown = 0.0;
		$html     = 0.0;
		$is_first = false;
		foreach ( explode( ',', strtolower( $accept ) ) as $range ) {
			$parts   = array_map( 'trim', explode( ';', $range ) );
			$type    = array_shift( $parts );
			$quality = self::quality_of( $parts );
			if ( 'text/markdown' === $type || 'text/x-markdown' === $type ) {
				$markdown = max( $markdown, $quality );
			}
			if ( 'text/html' === $type || 'application/xhtml+xml' === $type ) {
				$html     = max( $html, $quality );
				$is_first = $is_first || 0.0 === $markdown;
			}
		}
		return $markdown > 0 && ( $markdown > $html || ( $markdown === $html && ! $is_first ) );
	}

	/** A quality that is no number between 0 and 1 asks for nothing. */
	private static function quality_of( array $parameters ): float {
		foreach ( $parameters as $parameter ) {
			if ( preg_match( '/^q\s*=\s*(.*)$/sD', $parameter, $found ) ) {
				return preg_match( '/^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/D', $found[1] ) ? (float) $found[1] : 0.0;
			}
		}
		return 1.0;
	}

	/** The longest form that a slug ends with and leaves a name in front of; '' for none. */
	private static function form_of( string $slug, array $forms ): string {
		$longest = '';
		foreach ( $forms as $form ) {
			$leaves = strlen( $slug ) - strlen( $form );
			$is_one = $leaves > 0 && strtolower( substr( $slug, $leaves ) ) === $form && '/' !== $slug[ $leaves - 1 ];
			if ( $is_one && strlen( $form ) > strlen( $longest ) ) {
				$longest = $form;
			}
		}
		return $longest;
	}
}
