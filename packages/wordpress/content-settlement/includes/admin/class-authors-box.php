<?php
namespace ContentSettlement;

/** The box beside a post: who shares its payments, and whether it is free. */
final class Authors_Box {
	const NONCE = 'content_settlement_authors';

	public static function register(): void {
		add_action( 'add_meta_boxes', array( self::class, 'add' ), 10, 2 );
		add_action( 'save_post', array( self::class, 'save' ) );
	}

	/** @param mixed $post A post, or something else that has an edit screen. */
	public static function add( string $type, $post ): void {
		if ( in_array( $type, Settings::post_types(), true ) && $post instanceof \WP_Post ) {
			add_meta_box( 'content-settlement-authors', __( 'Payments from AI agents', 'content-settlement' ), array( self::class, 'print' ), $type, 'side' );
		}
	}

	public static function print( \WP_Post $post ): void {
		$stored  = Credits::stored( $post );
		$weights = wp_list_pluck( $stored['authors'], 'weight', 'user' );
		wp_nonce_field( self::NONCE, self::NONCE );
		?>
		<p><label><input type="checkbox" name="content_settlement_free" value="1" <?php checked( $stored['free'] ); ?>> <?php esc_html_e( 'Free for AI agents, too', 'content-settlement' ); ?></label></p>
		<p><?php esc_html_e( 'Share payments among several authors: give each a number of parts. Leave all empty to pay the post’s author alone.', 'content-settlement' ); ?></p>
		<table class="widefat striped">
			<thead><tr><th><?php esc_html_e( 'Author', 'content-settlement' ); ?></th><th><?php esc_html_e( 'Parts', 'content-settlement' ); ?></th></tr></thead>
			<tbody>
			<?php foreach ( self::users( array_keys( $weights ), (int) $post->post_author ) as $user ) : ?>
				<tr>
					<td><label for="content-settlement-<?php echo (int) $user->ID; ?>"><?php echo esc_html( $user->display_name ); ?></label>
						<?php if ( '' === Wallet::of_user( $user->ID ) ) : ?>
							<br><em><?php esc_html_e( 'no wallet yet', 'content-settlement' ); ?></em>
						<?php endif; ?>
					</td>
					<td><input type="number" min="0" max="<?php echo (int) Credits::MAX_WEIGHT; ?>" style="width:5em" id="content-settlement-<?php echo (int) $user->ID; ?>" name="content_settlement_weights[<?php echo (int) $user->ID; ?>]" value="<?php echo esc_attr( $weights[ $user->ID ] ?? '' ); ?>"></td>
				</tr>
			<?php endforeach; ?>
			</tbody>
		</table>
		<p class="description"><?php esc_html_e( 'If one of them has no wallet, the post is not sold.', 'content-settlement' ); ?></p>
		<?php
	}

	/** Runs for every way of saving a post; acts only on this form. */
	public static function save( int $post_id ): void {
		$nonce = isset( $_POST[ self::NONCE ] ) ? sanitize_key( $_POST[ self::NONCE ] ) : '';
		if ( ! wp_verify_nonce( $nonce, self::NONCE ) || wp_is_post_revision( $post_id ) || ! current_user_can( 'edit_post', $post_id ) ) {
			return;
		}
		$weights = isset( $_POST['content_settlement_weights'] ) ? array_map( 'absint', (array) wp_unslash( $_POST['content_settlement_weights'] ) ) : array();
		// Who may write posts for nobody but himself may not send the money of one to others.
		if ( ! current_user_can( 'edit_others_posts' ) ) {
			$weights = wp_list_pluck( Credits::stored( get_post( $post_id ) )['authors'], 'weight', 'user' );
		}
		Credits::store( $post_id, $weights, ! empty( $_POST['content_settlement_free'] ) );
	}

	/** Who may write, at most a hundred; those that are credited and the author first. */
	private static function users( array $credited, int $author ): array {
		$first = get_users( array( 'include' => array_merge( array( $author ), $credited ) ) );
		$more  = get_users( array( 'capability' => 'edit_posts', 'exclude' => wp_list_pluck( $first, 'ID' ), 'number' => 100, 'orderby' => 'display_name' ) );
		return array_merge( $first, current_user_can( 'edit_others_posts' ) ? $more : array() );
	}
}
