<?php
namespace ContentSettlement;

/** Paths in the one form that prices and licences are compared in: decoded, repeated slashes as one, none at the end. */
final class Page_Address {
	/** The plain path of a URL; '/' for the root. */
	public static function path_of( string $url ): string {
		$path = rawurldecode( (string) wp_parse_url( $url, PHP_URL_PATH ) );
		$path = '/' . trim( (string) preg_replace( '~/{2,}~', '/', $path ), '/' );
		return $path;
	}

	/** What follows the longest article prefix; null when none fits or nothing follows. */
	public static function slug_of( array $prefixes, string $path ): ?string {
		$longest = '';
		foreach ( $prefixes as $given ) {
			$prefix = self::prefix( (string) $given );
			if ( 0 === strpos( $path, $prefix ) && strlen( $path ) > strlen( $prefix ) && strlen( $prefix ) > strlen( $longest ) ) {
				$longest = $prefix;
			}
		}
		return '' === $longest ? null : substr( $path, strlen( $longest ) );
	}

	/** The published post of a sold type that stands at a slug under one of the prefixes; null for none. */
	public static function post_at( array $prefixes, string $slug ): ?\WP_Post {
		foreach ( $prefixes as $prefix ) {
			$url  = self::url_of( self::prefix( (string) $prefix ) . $slug );
			$id   = url_to_postid( $url );
			$post = $id > 0 ? get_post( $id ) : null;
			if ( $post instanceof \WP_Post && self::is_for_sale( $post ) && self::path_of( $url ) === self::path_of( get_permalink( $post ) ) ) {
				return $post;
			}
		}
		return null;
	}

	/** Whether WordPress has anything of its own at a plain path: a post of any type, or a file that was attached to one. */
	public static function has_post( string $path ): bool {
		return url_to_postid( self::url_of( $path ) ) > 0;
	}

	/** The address of a plain path on this site. */
	private static function url_of( string $path ): string {
		$origin = (string) preg_replace( '~^(https?://[^/]+).*$~', '$1', home_url() );
		return $origin . implode( '/', array_map( 'rawurlencode', explode( '/', $path ) ) );
	}

	/** Whether a post is of a type that is sold, published and without a password. */
	public static function is_for_sale( \WP_Post $post ): bool {
		return 'publish' === $post->post_status && '' === $post->post_password && in_array( $post->post_type, Settings::post_types(), true );
	}

	private static function prefix( string $prefix ): string {
		return (string) preg_replace( '~/{2,}~', '/', "/$prefix/" );
	}
}
