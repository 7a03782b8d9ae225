<?php
namespace ContentSettlement;

/**
 * The service's REST API. Every call returns an answer: status (0 when there was none), body (decoded, objects as objects, so that what is
 * sent back is what came), headers by lower-case name. Nothing is thrown. Redirects are not followed: the key goes to the service alone.
 */
final class Service_Client {
	const QUICK = 2;
	/** Verify answers after 20 s at the latest. */
	const SETTLING = 25;
	const NOTHING  = array( 'status' => 0, 'body' => null, 'headers' => array() );

	public static function get( string $path, array $headers = array(), int $seconds = self::QUICK ): array {
		return self::call( 'GET', $path, null, $headers, $seconds );
	}

	/** @param mixed $body What is sent as JSON. */
	public static function post( string $path, $body, int $seconds = self::QUICK ): array {
		return self::call( 'POST', $path, $body, array( 'content-type' => 'application/json' ), $seconds );
	}

	/** The same of a service that is not the one of the settings yet, or with another credential; '' for none. */
	public static function call_at( string $service, string $path, $body, string $bearer, int $seconds ): array {
		return self::send( 'POST', $service . $path, $body, array( 'content-type' => 'application/json' ) + ( '' === $bearer ? array() : array( 'authorization' => "Bearer $bearer" ) ), $seconds );
	}

	/** Whether nobody answers who could: a refusal that names its reason comes from a service that is there. */
	public static function is_away( array $answer ): bool {
		$code = (string) ( $answer['headers']['x-svc-error-code'] ?? '' );
		if ( 0 === $answer['status'] ) {
			return true;
		}
		return $answer['status'] >= 500 && 'credits_unavailable' !== $code && ( '' === $code || 'internal' === $code || '_unavailable' === substr( $code, -12 ) );
	}

	/** Whether it turns our key away. */
	public static function refuses_key( array $answer ): bool {
		return in_array( $answer['status'], array( 401, 403 ), true ) && ! self::refuses_agent( $answer ) && ! self::is_unproven( $answer );
	}

	/** Whether the site is not proven yet: a step that is still to come, and no fault of the key. */
	public static function is_unproven( array $answer ): bool {
		return 403 === $answer['status'] && 'resource_not_owned' === ( $answer['headers']['x-svc-error-code'] ?? '' );
	}

	/** Whether a price rule of the site's owner refuses the page to this agent. */
	public static function refuses_agent( array $answer ): bool {
		return 403 === $answer['status'] && 'agent_refused' === ( $answer['headers']['x-svc-error-code'] ?? '' );
	}

	/** What is wrong, in a few words for people. */
	public static function complaint( array $answer ): string {
		if ( 0 === $answer['status'] ) {
			return 'no answer';
		}
		$said = is_object( $answer['body'] ) && isset( $answer['body']->error ) && is_string( $answer['body']->error ) ? ': ' . $answer['body']->error : '';
		return 'HTTP ' . $answer['status'] . substr( $said, 0, 200 );
	}

	/** What the service says to do about a refusal; null where it says nothing that may be handed on. */
	public static function next_of( $body ): ?object {
		$next   = is_object( $body ) ? ( $body->next ?? null ) : null;
		$action = is_object( $next ) ? ( $next->action ?? null ) : null;
		$usable = is_string( $action ) && preg_match( '/^[a-z_]{1,32}$/D', $action ) && strlen( (string) wp_json_encode( $next, JSON_UNESCAPED_SLASHES ) ) <= 1024;
		return $usable ? $next : null;
	}

	private static function call( string $method, string $path, $body, array $headers, int $seconds ): array {
		if ( ! Settings::is_complete() ) {
			return self::NOTHING;
		}
		return self::send( $method, Settings::service_url() . $path, $body, $headers + array( 'authorization' => 'Bearer ' . Settings::api_key() ), $seconds );
	}

	private static function send( string $method, string $address, $body, array $headers, int $seconds ): array {
		$answer = self::NOTHING;
		$sent   = wp_remote_request(
			$address,
			array(
				'method'      => $method,
				'timeout'     => $seconds,
				'redirection' => 0,
				'user-agent'  => 'content-settlement-wordpress/0.1',
				'headers'     => $headers,
				'body'        => null === $body ? null : wp_json_encode( $body, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE ),
			)
		);
		if ( is_wp_error( $sent ) ) {
			return $answer;
		}
		foreach ( wp_remote_retrieve_headers( $sent ) as $name => $value ) {
			$answer['headers'][ strtolower( $name ) ] = is_array( $value ) ? (string) reset( $value ) : (string) $value;
		}
		$answer['status'] = (int) wp_remote_retrieve_response_code( $sent );
		$answer['body']   = json_decode( wp_remote_retrieve_body( $sent ) );
		return $answer;
	}
}
