<?php
namespace ContentSettlement;

/** The service's published keys for licences (Ed25519): kept for ten minutes, and for longer while it is away. */
final class Key_Set {
	const NAME  = Settings::PREFIX . 'keys';
	const FRESH = 600;
	/** At most this often they are read again because a licence names another one, seconds. */
	const PAUSE = 30;

	/** The public key of that name, 32 bytes; '' for a name that the service did not publish; null where no keys are to be had. */
	public static function find( string $name ): ?string {
		$kept = get_option( self::NAME );
		$kept = is_array( $kept ) ? $kept : array( 'tried_at' => 0, 'keys' => array() );
		$age  = time() - $kept['tried_at'];
		if ( $age > ( isset( $kept['keys'][ $name ] ) ? self::FRESH : self::PAUSE ) && ! Breaker::is_open( Breaker::LICENCES ) ) {
			$kept = self::read_again( $kept );
		}
		if ( array() === $kept['keys'] ) {
			return null;
		}
		return isset( $kept['keys'][ $name ] ) ? Licence_Proof::decode( $kept['keys'][ $name ] ) : '';
	}

	/** Forgets the keys: they were those of another service. */
	public static function forget(): void {
		delete_option( self::NAME );
	}

	private static function read_again( array $kept ): array {
		$answer = Service_Client::get( '/.well-known/jwks.json' );
		Breaker::note( ! Service_Client::is_away( $answer ), Breaker::LICENCES );
		$kept['tried_at'] = time();
		if ( 200 === $answer['status'] && is_array( $answer['body']->keys ?? null ) ) {
			$kept['keys'] = array();
			foreach ( $answer['body']->keys as $key ) {
				$is_ours = is_object( $key ) && 'OKP' === ( $key->kty ?? '' ) && 'Ed25519' === ( $key->crv ?? '' );
				if ( $is_ours && is_string( $key->kid ?? null ) && is_string( $key->x ?? null ) && 32 === strlen( Licence_Proof::decode( $key->x ) ) ) {
					$kept['keys'][ $key->kid ] = $key->x;
				}
			}
		}
		update_option( self::NAME, $kept, false );
		return $kept;
	}
}
