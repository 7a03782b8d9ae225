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
		if ( preg_match( self::names()['bots'], $user_agent ) ) {
			return array( 'agent', 'isbot' );
		}
		return $paying ? array( 'agent', 'paying' ) : array( 'person', 'person' );
	}

	/** Whether the User-Agent holds the whole name of a known AI crawler. */
	public static function is_named_crawler( string $user_agent ): bool {
		return 1 === preg_match( self::names()['crawlers'], $user_agent );
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

	private static function names(): array {
		static $names = null;
		if ( null === $names ) {
			$names = require __DIR__ . '/crawlers.generated.php';
		}
		return $names;
	}
}
