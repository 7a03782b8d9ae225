<?php
namespace ContentSettlement;

/**
 * Page caches that answer before plugins run give everybody what they kept for somebody. A text that is sold is kept by none of them unless the
 * owner says that agents are never served from his.
 */
final class Page_Cache {
	/** What is made now for somebody who reads free has a sold text in it. */
	public static function keep_out(): void {
		if ( defined( 'WP_CACHE' ) && WP_CACHE && ! Settings::trusts_page_cache() && ! defined( 'DONOTCACHEPAGE' ) ) {
			define( 'DONOTCACHEPAGE', true );
		}
	}
}
