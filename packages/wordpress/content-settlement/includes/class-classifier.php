<?php
namespace ContentSettlement;

/** Who asks, and how we know. The order is that of the JavaScript package; telemetry and prices hang on it, access control does not. */
final class Classifier {
	/** More of a User-Agent than this is not looked at. */
	const MAX_CHARS = 512;

	/** Until the service has said which search engines read free. */
	const SEARCH_ENGINES = array( 'googlebot', 'bingbot', 'duckduckbot', 'applebot', 'yandexbot', 'baiduspider' );

	/**
	 * Who (person, search, robot, allowed, blocked, agent) and the reason's name in reports. `$policy` is `enforcement` of the service's
	 * configuration, `$paying` whether payment or licence came along, `$accept` what the visitor takes.
	 */
	public static function judge( string $user_agent, array $policy, bool $paying, string $accept = '' ): array {
		$found = self::by_name( substr( $user_agent, 0, self::MAX_CHARS ), $policy );
		if ( ! in_array( $found[0], array( 'person', 'search', 'robot' ), true ) ) {
			return $found;
		}
		if ( $paying ) {
			return array( 'agent', 'paying' );
		}
		// Tools ask for Markdown for their models; no browser does.
		return 'person' === $found[0] && preg_match( '~\btext/(?:x-)?markdown\b~i', $accept ) ? self::by_class( 'pretender', 'pretender', $policy ) : $found;
	}

	/** What becomes of one who says to be a robot and comes from none of its addresses; null where the owner believes names. */
	public static function masquerade( array $policy ): ?array {
		$found = self::by_class( 'masquerade', 'masquerade', $policy );
		return 'robot' === $found[0] ? null : $found;
	}

	private static function by_name( string $user_agent, array $policy ): array {
		$agent = strtolower( $user_agent );
		foreach ( array( 'block' => 'blocked', 'allow' => 'allowed', 'charge' => 'agent' ) as $list => $who ) {
			if ( self::has_fragment( $agent, $policy['crawlerPolicy'][ $list ] ?? array() ) ) {
				return array( $who, "policy_$list" );
			}
		}
		if ( preg_match( '~^[\s-]*$~D', $agent ) ) {
			return self::by_class( 'automation', 'no_name', $policy );
		}
		$lists = self::lists();
		// Under a CDN's own name come people, search engines and agents alike: nobody is charged by mistake.
		if ( preg_match( $lists['cdns'], $agent ) ) {
			return array( 'person', 'cdn' );
		}
		if ( self::has_fragment( $agent, $policy['seoAllowlist'] ?? self::SEARCH_ENGINES ) ) {
			return self::by_class( 'search', 'search_engine', $policy );
		}
		// Editors have browsers inside, with the editor's name in front of the engine's: people read in them.
		$text = preg_match( '~^mozilla/5\.0 .*chrome/~', $agent ) ? (string) preg_replace( $lists['browsers'], '', $agent ) : $agent;
		if ( preg_match( $lists['robots']['ai'], $text ) ) {
			return self::by_class( 'ai', 'crawler_list', $policy );
		}
		if ( ! preg_match( $lists['bots'], $text ) ) {
			return array( 'person', 'person' );
		}
		foreach ( $lists['robots'] as $class => $names ) {
			if ( preg_match( $names, $text ) ) {
				return self::by_class( $class, 'search' === $class ? 'search_engine' : $class, $policy );
			}
		}
		return self::by_class( 'automation', 'isbot', $policy );
	}

	private static function by_class( string $class, string $reason, array $policy ): array {
		$becomes = $policy['visitorClasses'][ $class ] ?? self::lists()['defaults'][ $class ];
		if ( 'block' === $becomes ) {
			return array( 'blocked', 'policy_block' );
		}
		return array( 'charge' === $becomes ? 'agent' : ( 'search' === $class ? 'search' : 'robot' ), $reason );
	}

	/** Names of AI agents, in lower case. */
	public static function ai_agents(): array {
		return self::lists()['names'];
	}

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
			$lists = require __DIR__ . '/robots.generated.php';
		}
		return $lists;
	}
}
