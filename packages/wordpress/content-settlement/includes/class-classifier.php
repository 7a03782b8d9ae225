<?php
namespace ContentSettlement;

/** Who asks, and how we know. The order is that of the JavaScript package; telemetry and prices hang on it, access control does not. */
final class Classifier {
	/** More of a User-Agent than this is not looked at. */
	const MAX_CHARS = 512;

	/**
	 * Who (person, search, allowed, blocked, agent) and the reason's name in reports. `$policy` is `enforcement` of the service's
	 * configuration, `$paying` whether payment or licence came along.
	 */
	public static function judge( string $user_agent, array $policy, bool $paying ): array {
		$user_agent = substr( $user_agent, 0, self::MAX_CHARS );
		$agent      = strtolower( $user_agent );
		foreach ( array( 'block' => 'blocked', 'allow' => 'allowed', 'charge' => 'agent' ) as $list => $who ) {
			if ( self::has_fragment( $agent, $policy['crawlerPolicy'][ $list ] ?? array() ) ) {
				return array( $who, "policy_$list" );
			}
		}
		if ( self::has_fragment( $agent, $policy['seoAllowlist'] ?? self::SEARCH_ENGINES ) ) {
			return array( 'search', 'search_engine' );
		}
		if ( self::is_named_crawler( $user_agent ) ) {
			return array( 'agent', 'crawler_list' );
		}
		if ( preg_match( self::lists()['bots'], $user_agent ) ) {
			return array( 'agent', 'isbot' );
		}
		return $paying ? array( 'agent', 'paying' ) : array( 'person', 'person' );
	}

	/** Whether the User-Agent holds the whole name of a known AI crawler: `code` is in Code/1.0, not in opencode. */
	private static function is_named_crawler( string $user_agent ): bool {
		static $pattern = null;
		if ( null === $pattern ) {
			$quoted  = array_map( 'preg_quote', self::crawlers(), array_fill( 0, count( self::crawlers() ), '~' ) );
			$pattern = '~(?<![a-z0-9-])(?:' . implode( '|', $quoted ) . ')(?![a-z0-9-])~i';
		}
		return 1 === preg_match( $pattern, $user_agent );
	}

	/** Names of known AI crawlers, in lower case. */
	public static function crawlers(): array {
		return self::lists()['crawlers'];
	}

	/** Until the service has said which search engines read free. */
	const SEARCH_ENGINES = array( 'googlebot', 'bingbot', 'duckduckbot', 'applebot', 'yandexbot', 'baiduspider' );

	private static function has_fragment( string $agent, array $fragments ): bool {
		foreach ( $fragments as $fragment ) {
			if ( is_string( $fragment ) && '' !== $fragment && false !== strpos( $agent, $fragment ) ) {
				return true;
			}
		}
		return false;
	}

	private static function lists(): array {
		static $lists = null;
		if ( null === $lists ) {
			$lists = require __DIR__ . '/crawlers.generated.php';
		}
		return $lists;
	}
}
