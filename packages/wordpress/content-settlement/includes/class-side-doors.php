<?php
namespace ContentSettlement;

/**
 * Where WordPress shows a post beside its own page: the home page, archives, searches, feeds, embeds, other posts, blocks, the REST API. A visitor that pays for
 * the page gets the excerpt there, so that a price on the page means something; people, and robots that read free, get what they always got.
 */
final class Side_Doors {
	/** @var bool Whether an excerpt is being made, of the whole text. */
	private static $is_inside = false;

	public static function register(): void {
		add_filter( 'pre_option_rss_use_excerpt', array( self::class, 'feed' ) );
		add_filter( 'the_content', array( self::class, 'content' ), PHP_INT_MAX );
		add_action( 'template_redirect', array( self::class, 'watch' ), 0 );
		add_action( 'template_redirect', array( self::class, 'watch' ), PHP_INT_MAX );
		add_action( 'rest_api_init', array( self::class, 'watch_rest' ) );
		add_filter( 'register_block_type_args', array( self::class, 'block' ), 10, 2 );
	}

	/** The block of latest posts prints their texts as they are stored, past `the_content`. */
	public static function block( array $settings, string $name ): array {
		$render = $settings['render_callback'] ?? null;
		if ( 'core/latest-posts' === $name && is_callable( $render ) ) {
			$settings['render_callback'] = static function ( $attributes, ...$rest ) use ( $render ) {
				return $render( self::without_texts( (array) $attributes ), ...$rest );
			};
		}
		return $settings;
	}

	/** Attributes of the block with excerpts in place of texts, for visitors that get excerpts. */
	private static function without_texts( array $attributes ): array {
		if ( 'full_post' !== ( $attributes['displayPostContentRadio'] ?? '' ) || ! in_array( 'post', Settings::post_types(), true ) ) {
			return $attributes;
		}
		if ( self::is_closed() ) {
			return array( 'displayPostContentRadio' => 'excerpt' ) + $attributes;
		}
		self::keep_out();
		return $attributes;
	}

	/** No page cache keeps for agents what has a sold text in it. */
	private static function keep_out(): void {
		if ( Settings::is_complete() && Settings::closes_side_doors() ) {
			Page_Cache::keep_out();
		}
	}

	/** @param mixed $value False: as the site has set. */
	public static function feed( $value ) {
		return is_feed() && self::is_closed() ? '1' : $value;
	}

	/** No cache keeps for people what an agent got; said once more after plugins and themes have spoken. */
	public static function watch(): void {
		if ( self::is_closed() ) {
			Answer::mark();
		}
	}

	/** The text of a post: the excerpt of one that is shown on a page that is not its own. @param mixed $content HTML. */
	public static function content( $content ) {
		$post = get_post();
		if ( self::$is_inside || ! $post instanceof \WP_Post || is_admin() || self::is_own_page( $post ) || ! Page_Address::is_for_sale( $post ) ) {
			return $content;
		}
		if ( ! self::is_closed() ) {
			self::keep_out();
			return $content;
		}
		self::$is_inside = true;
		try {
			return '<p>' . wp_kses_post( get_the_excerpt( $post ) ) . '</p>';
		} finally {
			self::$is_inside = false;
		}
	}

	/** Whether a post is the page that is asked for, on which the gate decides. */
	private static function is_own_page( \WP_Post $post ): bool {
		return is_singular() && ! is_feed() && ! is_embed() && get_queried_object_id() === $post->ID;
	}

	public static function watch_rest(): void {
		foreach ( Settings::post_types() as $type ) {
			add_filter( "rest_prepare_$type", array( self::class, 'rest' ), PHP_INT_MAX );
		}
	}

	public static function rest( \WP_REST_Response $response ): \WP_REST_Response {
		$data = $response->get_data();
		if ( isset( $data['content']['rendered'] ) && self::is_closed() ) {
			$data['content']['rendered'] = $data['excerpt']['rendered'] ?? '';
			$response->set_data( $data );
			Answer::mark(); // Not a header of this response: in a list it would be lost.
		}
		return $response;
	}

	/** Whether the visitor gets excerpts: one that pays for the page, or that the owner refuses. */
	private static function is_closed(): bool {
		if ( ! Settings::is_complete() || ! Settings::closes_side_doors() || is_user_logged_in() ) {
			return false;
		}
		list( $who ) = Gate::classify( Visit::now(), Gate_Config::kept() );
		return 'blocked' === $who || 'agent' === $who;
	}
}
