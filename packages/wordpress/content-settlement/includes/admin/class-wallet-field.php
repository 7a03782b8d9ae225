<?php
namespace ContentSettlement;

/** The wallet in the user's profile. Everyone who may edit the profile may set it; the author is told by mail that it changed. */
final class Wallet_Field {
	public static function register(): void {
		add_action( 'show_user_profile', array( self::class, 'print' ) );
		add_action( 'edit_user_profile', array( self::class, 'print' ) );
		add_action( 'user_profile_update_errors', array( self::class, 'check' ), 10, 3 );
		add_action( 'personal_options_update', array( self::class, 'save' ) );
		add_action( 'edit_user_profile_update', array( self::class, 'save' ) );
	}

	public static function print( \WP_User $user ): void {
		?>
		<h2><?php esc_html_e( 'Payments from AI agents', 'content-settlement' ); ?></h2>
		<table class="form-table" role="presentation">
			<tr>
				<th><label for="<?php echo esc_attr( Wallet::META ); ?>"><?php esc_html_e( 'Wallet', 'content-settlement' ); ?></label></th>
				<td>
					<input type="text" class="code" size="48" name="<?php echo esc_attr( Wallet::META ); ?>" id="<?php echo esc_attr( Wallet::META ); ?>" value="<?php echo esc_attr( Wallet::of_user( $user->ID ) ); ?>" placeholder="0x…" autocomplete="off" spellcheck="false" maxlength="42">
					<p class="description"><?php esc_html_e( 'Your share of every paid read of your posts goes straight to this address, in USDC. Copy it from your wallet. Without one, your posts cannot be sold.', 'content-settlement' ); ?></p>
				</td>
			</tr>
		</table>
		<?php
	}

	/** @param \stdClass $user The user as it would be saved. */
	public static function check( \WP_Error $errors, bool $update, $user ): void {
		$text = self::sent();
		if ( '' !== $text && null === Wallet::clean( $text ) ) {
			$errors->add( Wallet::META, __( '<strong>Error</strong>: The wallet is not a valid address: a character may be mistyped. Nothing about it was changed.', 'content-settlement' ) );
		}
	}

	public static function save( int $user_id ): void {
		check_admin_referer( 'update-user_' . $user_id );
		$text = self::sent();
		$new  = '' === $text ? '' : Wallet::clean( $text );
		if ( null === $new || ! current_user_can( 'edit_user', $user_id ) || Wallet::of_user( $user_id ) === $new ) {
			return;
		}
		if ( '' === $new ) {
			delete_user_meta( $user_id, Wallet::META );
		} else {
			update_user_meta( $user_id, Wallet::META, $new );
		}
		self::tell( $user_id, $new );
	}

	private static function tell( int $user_id, string $wallet ): void {
		$user = get_userdata( $user_id );
		/* translators: %s: name of the site. */
		$subject = sprintf( __( '[%s] Your wallet for payments was changed', 'content-settlement' ), wp_specialchars_decode( get_bloginfo( 'name' ), ENT_QUOTES ) );
		$text    = '' === $wallet
			? __( 'Your profile has no wallet any more. Your posts are not sold until there is one.', 'content-settlement' )
			/* translators: %s: a wallet's address. */
			: sprintf( __( "Your share of paid reads now goes to\n\n%s\n\nIf you did not change it, tell the site's administrator at once.", 'content-settlement' ), $wallet );
		wp_mail( $user->user_email, $subject, $text );
	}

	private static function sent(): string {
		// phpcs:ignore WordPress.Security.NonceVerification -- WordPress checks its form; save() does again.
		return isset( $_POST[ Wallet::META ] ) ? sanitize_text_field( wp_unslash( $_POST[ Wallet::META ] ) ) : '';
	}
}
