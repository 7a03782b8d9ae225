<?php
namespace ContentSettlement;

/**
 * Whether who calls himself Googlebot is Google, by the rules and the table of the JavaScript package: by the addresses that operators publish, and by
 * reverse DNS that leads back, which cron asks. Nobody waits for it: until it is known, a robot is who it says.
 */
final class Claims {
	/** Lists as the service sent them: version, checked_at and ranges. */
	const LISTS = Settings::PREFIX . 'addresses';
	/** What name servers said, and what they are to be asked. */
	const DNS   = Settings::PREFIX . 'reverse';
	const EVENT = self::DNS . '_ask';
	/** Seconds after which a list no longer says whom it does not name: where name servers tell as well, and where they do not. */
	const FRESH_BESIDE_NAMES = 2 * 86400;
	const FRESH_ALONE        = 14 * 86400;
	/** Addresses that are asked about in one run of cron, and answers that are kept. */
	const MOST_ASKED = 10;
	const MOST_KEPT  = 500;
	const KEPT       = array( 'yes' => 86400, 'no' => 3600, 'unknown' => 60 );

	public static function register(): void {
		add_action( self::EVENT, array( self::class, 'ask' ) );
	}

	/** Whether the request that is being answered takes a name that is not its own. */
	public static function is_false( string $user_agent ): bool {
		if ( array() === self::named( $user_agent ) ) {
			return false;
		}
		$dns   = get_option( self::DNS, array() );
		$dns   = is_array( $dns ) ? $dns : array();
		$lists = get_option( self::LISTS, array() );
		list( $worth, $wanted ) = self::judge( $user_agent, Whence::now(), is_array( $lists ) ? $lists : array(), time(), $dns['known'] ?? array() );
		$new = array_slice( array_diff_key( $wanted, $dns['wanted'] ?? array() ), 0, self::MOST_ASKED - count( $dns['wanted'] ?? array() ), true );
		if ( array() !== $new ) {
			$dns['wanted'] = $new + ( $dns['wanted'] ?? array() );
			update_option( self::DNS, $dns, false );
		}
		// Also where an event was lost: what it was to ask still waits.
		if ( array() !== $wanted && ! wp_next_scheduled( self::EVENT ) ) {
			wp_schedule_single_event( time(), self::EVENT );
		}
		return 'false' === $worth;
	}

	/** `genuine`, `false` or `unknown`, and the questions to name servers that would tell: addresses and patterns of hosts by their keys. */
	public static function judge( string $user_agent, array $addresses, array $learnt, int $now, array $known ): array {
		$wanted = array();
		$found  = array();
		foreach ( self::named( $user_agent ) as $claim ) {
			$each = array();
			foreach ( $addresses as $address ) {
				$each[] = self::is_of( $claim, $address, $learnt, $now, $known, $wanted );
			}
			$found[] = in_array( true, $each, true ) ? true : ( array() === $each || in_array( null, $each, true ) ? null : false );
		}
		$worth = in_array( true, $found, true ) ? 'genuine' : ( in_array( false, $found, true ) ? 'false' : 'unknown' );
		return array( $worth, $wanted );
	}

	private static function is_of( array $claim, string $address, array $learnt, int $now, array $known, array &$wanted ): ?bool {
		$bytes       = Ranges::bytes( $address );
		$is_complete = array() !== $claim['lists'];
		$fresh       = '' === $claim['hosts'] ? self::FRESH_ALONE : self::FRESH_BESIDE_NAMES;
		foreach ( $claim['lists'] as $name ) {
			list( $ranges, $checked_at ) = self::listed( $name, $learnt );
			if ( Ranges::has( $ranges, $bytes ) ) {
				return true;
			}
			$is_complete = $is_complete && abs( $now - $checked_at ) < $fresh;
		}
		// Whoever comes from an address that is newer than the list pays until name servers have said that it is his.
		$by_name = '' === $claim['hosts'] || '' === $bytes ? null : self::by_name( $bytes, $claim['hosts'], $now, $known, $wanted );
		if ( true === $by_name ) {
			return true;
		}
		return $is_complete ? false : $by_name;
	}

	/** What name servers said of an address; null, and one to ask about, where nothing is known. */
	private static function by_name( string $bytes, string $hosts, int $now, array $known, array &$wanted ): ?bool {
		$of_all = $known[ self::network( $bytes, $hosts ) ] ?? null;
		if ( null !== $of_all && $now < $of_all[1] ) {
			return $of_all[0];
		}
		// A no is of the address alone: behind proxies that nobody named a stranger may have written one beside the robot's.
		$key  = bin2hex( $bytes ) . '/ ' . md5( $hosts );
		$kept = $known[ $key ] ?? $of_all;
		if ( null === $kept || $now >= $kept[1] ) {
			$wanted[ $key ] = array( inet_ntop( $bytes ), $hosts );
		}
		return $kept[0] ?? null;
	}

	/** What is known of a whole network: who has one address of IPv6 has its /64. */
	private static function network( string $bytes, string $hosts ): string {
		return bin2hex( substr( $bytes, 0, 8 ) ) . ' ' . md5( $hosts );
	}

	/** Ranges of a list and when it was last read: the service's word first. */
	private static function listed( string $name, array $learnt ): array {
		if ( isset( $learnt['ranges'][ $name ] ) ) {
			return array( (array) $learnt['ranges'][ $name ], (int) ( $learnt['checked_at'][ $name ] ?? 0 ) );
		}
		$shipped = self::table()['lists'][ $name ] ?? null;
		return null === $shipped ? array( array(), 0 ) : array( explode( ',', $shipped['ranges'] ), $shipped['checked_at'] );
	}

	/** Keeps what the service sent; what it leaves out has not changed. */
	public static function learn( object $addresses ): void {
		$kept               = self::kept();
		$kept['checked_at'] = array_map( static fn( $ms ) => (int) ( (float) $ms / 1000 ), get_object_vars( $addresses->checkedAt ?? new \stdClass() ) );
		if ( isset( $addresses->ranges ) && is_object( $addresses->ranges ) ) {
			$kept['ranges']  = array_map( static fn( $list ) => array_values( array_filter( (array) $list, 'is_string' ) ), get_object_vars( $addresses->ranges ) );
			$kept['version'] = (string) ( $addresses->version ?? '0' );
		}
		update_option( self::LISTS, $kept, false );
	}

	/** Version of the lists that the service sent; '0' for none. */
	public static function version(): string {
		$version = (string) ( self::kept()['version'] ?? '0' );
		return preg_match( '~^\d{1,15}$~D', $version ) ? $version : '0';
	}

	private static function kept(): array {
		$kept = get_option( self::LISTS, array() );
		return is_array( $kept ) ? $kept : array();
	}

	/** Asks name servers what requests wanted to know. Run by cron. */
	public static function ask(): void {
		$dns    = get_option( self::DNS, array() );
		$dns    = is_array( $dns ) ? $dns : array();
		$wanted = array_slice( $dns['wanted'] ?? array(), 0, self::MOST_ASKED, true );
		$known  = $dns['known'] ?? array();
		foreach ( $wanted as $key => list( $address, $hosts ) ) {
			$is            = self::is_confirmed( $address, $hosts );
			$known[ false === $is ? $key : self::network( (string) inet_pton( $address ), $hosts ) ] = array( $is, time() + ( null === $is ? self::KEPT['unknown'] : self::KEPT[ $is ? 'yes' : 'no' ] ) );
		}
		update_option( self::DNS, array( 'wanted' => array(), 'known' => array_slice( $known, -self::MOST_KEPT, null, true ) ), false );
	}

	/** Null where name servers do not say. */
	private static function is_confirmed( string $address, string $hosts ): ?bool {
		$bytes   = Ranges::bytes( $address );
		$parts   = 4 === strlen( $bytes ) ? explode( '.', $address ) : str_split( bin2hex( $bytes ) );
		$pointer = implode( '.', array_reverse( $parts ) ) . ( 4 === strlen( $bytes ) ? '.in-addr.arpa' : '.ip6.arpa' );
		$names   = dns_get_record( $pointer, DNS_PTR );
		if ( false === $names ) {
			return null;
		}
		foreach ( array_slice( $names, 0, 5 ) as $name ) {
			$host = strtolower( rtrim( (string) ( $name['target'] ?? '' ), '.' ) );
			if ( 1 !== preg_match( '~^[a-z0-9.-]{1,253}$~D', $host ) || 1 !== preg_match( $hosts, $host ) ) {
				continue;
			}
			$back = dns_get_record( $host, DNS_A | DNS_AAAA );
			if ( false === $back ) {
				return null;
			}
			foreach ( $back as $record ) {
				if ( Ranges::bytes( (string) ( $record['ip'] ?? $record['ipv6'] ?? '' ) ) === $bytes ) {
					return true;
				}
			}
		}
		return false;
	}

	private static function named( string $user_agent ): array {
		$agent = strtolower( substr( $user_agent, 0, Classifier::MAX_CHARS ) );
		return array_filter( self::table()['claims'], static fn( $claim ) => 1 === preg_match( $claim['names'], $agent ) );
	}

	private static function table(): array {
		static $table = null;
		if ( null === $table ) {
			$table = require __DIR__ . '/addresses.generated.php';
		}
		return $table;
	}
}
