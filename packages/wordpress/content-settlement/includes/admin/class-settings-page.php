<?php
namespace ContentSettlement;

/** Settings → Content Settlement: four steps from the button to the first sale, each saying where it stands, and how things go. */
final class Settings_Page {
	const SLUG = 'content-settlement';

	public static function register(): void {
		add_action(
			'admin_menu',
			static function (): void {
				$title = __( 'Content Settlement', 'content-settlement' );
				$page  = add_options_page( $title, $title, 'manage_options', self::SLUG, array( self::class, 'print' ) );
				add_action( "load-$page", array( Settings_Actions::class, 'on_load' ) );
			}
		);
		add_filter(
			'plugin_action_links_content-settlement/content-settlement.php',
			static function ( array $links ): array {
				return array( '<a href="' . esc_url( self::url() ) . '">' . esc_html__( 'Settings', 'content-settlement' ) . '</a>' ) + $links;
			}
		);
	}

	public static function url(): string {
		return admin_url( 'options-general.php?page=' . self::SLUG );
	}

	public static function print(): void {
		if ( ! current_user_can( 'manage_options' ) ) {
			return;
		}
		$facts = Site_Facts::gather();
		echo '<div class="wrap cs"><h1>' . esc_html__( 'Content Settlement', 'content-settlement' ) . '</h1>';
		self::print_style();
		echo '<p class="lead">' . esc_html__( 'AI agents pay the authors of a post each time they read it. People and search engines read as before.', 'content-settlement' ) . '</p>';
		self::print_news();
		self::print_confirmation();
		self::print_summary( $facts );
		self::print_connection( $facts );
		self::print_proof( $facts );
		self::print_authors( $facts );
		self::print_sale( $facts );
		self::print_how_it_goes( $facts );
		echo '</div>';
	}

	private static function print_news(): void {
		$news = Settings_Actions::news();
		if ( null !== $news ) {
			printf( '<div class="notice notice-%s"><p>%s</p></div>', $news[0] ? 'success' : 'error', esc_html( $news[1] ) );
		}
	}

	/** One sentence: is it selling, and if not, what is the next thing to do. */
	private static function print_summary( array $facts ): void {
		$is_on = null === $facts['next'];
		printf( '<div class="cs-summary %s"><strong>%s</strong> %s</div>', $is_on ? 'on' : 'off', esc_html( $is_on ? __( 'On.', 'content-settlement' ) : __( 'Not selling yet.', 'content-settlement' ) ), esc_html( $is_on ? $facts['selling'] : $facts['next'] ) );
	}

	/** Whom the administrator connects to: without this yes, somebody else's account could be slipped in under the way back. */
	private static function print_confirmation(): void {
		$pending = Connection::pending();
		if ( null === $pending ) {
			return;
		}
		echo '<div class="cs-step cs-confirm"><h2>' . esc_html__( 'Is this your account?', 'content-settlement' ) . '</h2><table class="widefat striped"><tbody>';
		$rows = array(
			array( __( 'Service', 'content-settlement' ), $pending['service'] ),
			array( __( 'Account', 'content-settlement' ), $pending['account'] ),
			array( __( 'Site', 'content-settlement' ), $pending['site'] ),
			array( __( 'This WordPress', 'content-settlement' ), Host_Proof::host() ),
		);
		foreach ( $rows as $row ) {
			printf( '<tr><td>%s</td><td><strong>%s</strong></td></tr>', esc_html( $row[0] ), esc_html( $row[1] ) );
		}
		echo '</tbody></table><p>' . esc_html__( 'Whoever has this account sets the prices of your posts, and may name who is paid for those that name nobody. If you do not know it, say no.', 'content-settlement' ) . '</p>';
		self::open_form( 'finish' );
		submit_button( __( 'Yes, connect', 'content-settlement' ), 'primary', 'submit', false );
		echo '</form>';
		self::open_form( 'cancel' );
		submit_button( __( 'No', 'content-settlement' ), 'secondary', 'submit', false );
		echo '</form></div>';
	}

	private static function print_connection( array $facts ): void {
		$is_none = 'none' === $facts['state'];
		self::open_step( 1, __( 'Connect to the service', 'content-settlement' ), $facts['connected'] );
		printf( '<p class="cs-state %s">%s</p>', esc_attr( $facts['state'] ), esc_html( Site_Facts::sentence( $facts ) ) );
		$site = Settings::site();
		if ( ! $is_none && isset( $site['account'], $site['site'] ) ) {
			/* translators: 1: account, 2: site. */
			echo '<p>' . esc_html( sprintf( __( 'Account %1$s, site %2$s.', 'content-settlement' ), $site['account'], $site['site'] ) ) . '</p>';
		}
		self::open_form( 'begin' );
		?>
		<p><label for="cs-service"><?php esc_html_e( 'Address of the service', 'content-settlement' ); ?></label><br>
			<input type="url" class="regular-text" id="cs-service" name="service_url" value="<?php echo esc_attr( Settings::service_url() ); ?>" placeholder="https://" required></p>
		<?php
		submit_button( $is_none ? __( 'Connect', 'content-settlement' ) : __( 'Connect again', 'content-settlement' ), $facts['connected'] ? 'secondary' : 'primary', 'submit', false );
		echo '</form>';
		if ( ! $is_none ) {
			self::open_form( 'disconnect' );
			submit_button( __( 'Disconnect', 'content-settlement' ), 'link-delete', 'submit', false );
			echo '</form>';
		}
		self::print_by_hand();
		echo '</div>';
	}

	/** For a service without a console. */
	private static function print_by_hand(): void {
		echo '<details><summary>' . esc_html__( 'Enter a key by hand', 'content-settlement' ) . '</summary>';
		self::open_form( 'connect' );
		?>
		<table class="form-table" role="presentation">
			<tr><th><label for="cs-url"><?php esc_html_e( 'Address of the service', 'content-settlement' ); ?></label></th>
				<td><input type="url" class="regular-text" id="cs-url" name="service_url" value="<?php echo esc_attr( Settings::service_url() ); ?>" placeholder="https://" required></td></tr>
			<tr><th><label for="cs-key"><?php esc_html_e( 'Key', 'content-settlement' ); ?></label></th>
				<td><input type="password" class="regular-text" id="cs-key" name="api_key" value="" autocomplete="off" placeholder="<?php echo esc_attr( '' === Settings::api_key() ? 'svc_live_…' : __( 'saved; leave empty to keep it', 'content-settlement' ) ); ?>">
				<p class="description"><?php esc_html_e( 'The WordPress connection key of your account. It lasts 30 days: after step 2, enter a lasting key with the permission “tenant.read” in its place.', 'content-settlement' ); ?></p></td></tr>
		</table>
		<?php
		submit_button( __( 'Save the key', 'content-settlement' ), 'secondary', 'submit', false );
		echo '</form></details>';
	}

	private static function print_proof( array $facts ): void {
		self::open_step( 2, __( 'Prove that this site is yours', 'content-settlement' ), $facts['proven'] );
		if ( $facts['proven'] ) {
			/* translators: %s: host name. */
			echo '<p>' . esc_html( sprintf( __( '%s is proven to be yours.', 'content-settlement' ), Host_Proof::host() ) ) . '</p></div>';
			return;
		}
		$text = $facts['connected'] && '' !== Host_Proof::token()
			/* translators: %s: host name. */
			? __( '%s is not proven yet. The proof is in place; the service looks for it by itself, and when you press the button.', 'content-settlement' )
			/* translators: %s: host name. */
			: __( 'The service looks at %s and finds a proof that this plugin puts there. Nothing on your pages changes.', 'content-settlement' );
		echo '<p>' . esc_html( sprintf( $text, Host_Proof::host() ) ) . '</p>';
		self::open_form( 'prove' );
		self::close_form( __( 'Prove it now', 'content-settlement' ), ! $facts['connected'] );
	}

	private static function print_authors( array $facts ): void {
		self::open_step( 3, __( 'Who is paid', 'content-settlement' ), $facts['has_wallets'] && $facts['told'] && $facts['read_at'] > 0 );
		echo '<p>' . esc_html__( 'Each author enters a wallet in the profile (Users → Profile). To share one post among several authors, use the box “Payments from AI agents” when you edit it.', 'content-settlement' ) . '</p><table class="widefat striped cs-authors"><thead><tr><th>' . esc_html__( 'Author', 'content-settlement' ) . '</th><th>' . esc_html__( 'Posts', 'content-settlement' ) . '</th><th>' . esc_html__( 'Wallet', 'content-settlement' ) . '</th></tr></thead>';
		foreach ( $facts['authors'] as $author ) {
			printf(
				'<tr><td><a href="%s">%s</a></td><td>%d</td><td>%s</td></tr>',
				esc_url( get_edit_user_link( $author['id'] ) ),
				esc_html( $author['name'] ),
				(int) $author['posts'],
				'' === $author['wallet'] ? '<span class="cs-no">' . esc_html__( 'none: these posts are free', 'content-settlement' ) . '</span>' : '<code>' . esc_html( $author['wallet'] ) . '</code>'
			);
		}
		echo '</table>';
		if ( '' !== $facts['credits_problem'] ) {
			echo '<p class="cs-no">' . esc_html( $facts['credits_problem'] ) . '</p>';
		}
		echo '<p>' . esc_html( self::reading( $facts ) ) . '</p>';
		$is_by_hand = $facts['connected'] && array() === Settings::site();
		printf( '<details %s><summary>%s</summary>', $is_by_hand && ! $facts['told'] ? 'open' : '', esc_html__( 'Tell the service by hand', 'content-settlement' ) );
		echo '<p>' . esc_html__( 'Enter this address at the service as “credits API”. There the service reads which wallets share the payment of a post:', 'content-settlement' ) . '</p>';
		echo '<p><input type="text" readonly class="large-text code" onfocus="this.select()" value="' . esc_attr( Credits_Api::address() ) . '"></p>';
		echo '<p>' . esc_html( Settings::has_credits_token() ? __( 'Only who shows the token may read it. A new one has to be entered at the service, too.', 'content-settlement' ) : __( 'Anybody may read it now. A token that you also enter at the service keeps others out.', 'content-settlement' ) ) . '</p>';
		self::open_form( 'token' );
		submit_button( Settings::has_credits_token() ? __( 'Make a new token', 'content-settlement' ) : __( 'Make a token', 'content-settlement' ), 'secondary', 'submit', false );
		echo '</form></details></div>';
	}

	/** Whether the service asks this site for its authors, as a sentence. */
	private static function reading( array $facts ): string {
		if ( ! $facts['connected'] ) {
			return __( 'The service asks this site who wrote a post once it is connected.', 'content-settlement' );
		}
		if ( ! $facts['told'] ) {
			return __( 'The service does not ask this site who wrote a post: it has another address for that, or none. Connect again.', 'content-settlement' );
		}
		return $facts['read_at'] > 0
			/* translators: %s: a span of time, as in "5 minutes". */
			? sprintf( __( 'The service asks this site who wrote a post; it did so %s ago.', 'content-settlement' ), human_time_diff( $facts['read_at'] ) )
			: __( 'The service will ask this site who wrote a post; it has not done so yet.', 'content-settlement' );
	}

	private static function print_sale( array $facts ): void {
		self::open_step( 4, __( 'What is sold', 'content-settlement' ), '' !== $facts['example'] );
		echo '<p class="cs-example">' . esc_html( '' !== $facts['example'] ? $facts['example'] : $facts['no_example'] ) . '</p>';
		self::open_form( 'sell' );
		echo '<fieldset><p>' . esc_html__( 'AI agents pay for:', 'content-settlement' ) . '</p>';
		foreach ( get_post_types( array( 'public' => true ), 'objects' ) as $type ) {
			if ( 'attachment' !== $type->name ) {
				printf( '<label class="cs-type"><input type="checkbox" name="post_types[]" value="%s" %s> %s</label>', esc_attr( $type->name ), checked( in_array( $type->name, Settings::post_types(), true ), true, false ), esc_html( $type->labels->name ) );
			}
		}
		printf( '<p><label><input type="checkbox" name="side_doors" value="1" %s> %s</label></p>', checked( Settings::closes_side_doors(), true, false ), esc_html__( 'Known AI crawlers get only excerpts from feeds and the REST API (feed readers of people are not affected)', 'content-settlement' ) );
		printf( '<p><label><input type="checkbox" name="page_cache" value="1" %s> %s</label></p></fieldset>', checked( Settings::trusts_page_cache(), true, false ), esc_html__( 'My page cache never serves the user agents named below, so it may keep what is sold. Otherwise caches are told to leave it out.', 'content-settlement' ) );
		self::close_form( __( 'Save', 'content-settlement' ) );
	}

	private static function print_how_it_goes( array $facts ): void {
		$health = Health::read();
		echo '<div class="cs-step"><h2>' . esc_html__( 'How it goes', 'content-settlement' ) . '</h2><table class="widefat striped"><tbody>';
		$rows = array(
			array( __( 'What the service sees', 'content-settlement' ), $facts['enforcement'] ),
			array( __( 'Free reads while the service was away', 'content-settlement' ), (string) $health['free_reads'] ),
			array( __( 'Payments that could not be decided at once', 'content-settlement' ), (string) $health['unsettled'] ),
			array( __( 'Reports that wait to be sent', 'content-settlement' ), (string) Reports::count_waiting() ),
			array( __( 'Reports that were dropped', 'content-settlement' ), (string) $health['dropped_reports'] ),
		);
		if ( '' !== $health['last'] ) {
			/* translators: %s: a span of time, as in "5 minutes". */
			$rows[] = array( __( 'Last problem', 'content-settlement' ), $health['last'] . ' (' . sprintf( __( '%s ago', 'content-settlement' ), human_time_diff( $health['at'] ) ) . ')' );
		}
		foreach ( $rows as $row ) {
			printf( '<tr><td>%s</td><td>%s</td></tr>', esc_html( $row[0] ), esc_html( $row[1] ) );
		}
		echo '</tbody></table>';
		self::print_names();
		if ( 0 === Reports::count_waiting() ) {
			echo '</div>';
			return;
		}
		self::open_form( 'send' );
		self::close_form( __( 'Send waiting reports now', 'content-settlement' ), false, 'secondary' );
	}

	/** For the setting of page caches that names who is never served from it. */
	private static function print_names(): void {
		echo '<details class="cs-names"><summary>' . esc_html__( 'Do you use a page cache (WP Super Cache, W3 Total Cache, WP Rocket, a CDN)?', 'content-settlement' ) . '</summary><p>' . esc_html__( 'A cache answers agents before this plugin can, so it is told not to keep what is sold, and a CDN cannot be told. To have sold posts cached for people, paste these names where the cache asks for “rejected” or “never cached” user agents, then tick the box above:', 'content-settlement' ) . '</p>';
		echo '<textarea readonly rows="6" class="large-text code" onfocus="this.select()">' . esc_textarea( implode( "\n", array_merge( Classifier::ai_agents(), array( 'bot', 'crawler', 'spider', 'curl', 'python', 'node', 'axios', 'http' ) ) ) ) . '</textarea></details>';
	}

	private static function open_step( int $number, string $title, bool $is_done ): void {
		printf( '<div class="cs-step"><h2><span class="cs-mark %s">%s</span> %s</h2>', $is_done ? 'done' : '', $is_done ? '✓' : (int) $number, esc_html( $title ) );
	}

	private static function open_form( string $action ): void {
		printf( '<form method="post" action="%s"><input type="hidden" name="action" value="%s">', esc_url( self::url() ), esc_attr( Settings::PREFIX . $action ) );
		wp_nonce_field( Settings_Actions::nonce( $action ) );
	}

	/** Ends the form and its step. */
	private static function close_form( string $label, bool $is_off = false, string $look = 'primary' ): void {
		submit_button( $label, $look, 'submit', true, $is_off ? array( 'disabled' => 'disabled' ) : array() );
		echo '</form></div>';
	}

	private static function print_style(): void {
		echo '<style>
.cs { max-width: 54rem; } .cs .lead { font-size: 15px; }
.cs-summary { padding: .9rem 1.1rem; margin: 1rem 0; border-left: 4px solid #dba617; background: #fcf9e8; font-size: 14px; }
.cs-summary.on { border-color: #00a32a; background: #edfaef; }
.cs-step { background: #fff; border: 1px solid #dcdcde; border-radius: 4px; padding: .25rem 1.5rem .75rem; margin: 1rem 0; }
.cs-step h2 { font-size: 1.15em; } .cs-step .submit { padding: 0; margin: .5rem 0; }
.cs-mark { display: inline-block; width: 1.7em; height: 1.7em; line-height: 1.7em; margin-right: .4em; border-radius: 50%; text-align: center; color: #fff; background: #787c82; font-size: .85em; }
.cs-mark.done { background: #00a32a; } .cs-no { color: #b32d2e; } .cs-authors code { font-size: 11px; } .cs-type { margin-right: 1.5em; }
.cs-confirm { border: 2px solid #2271b1; padding-bottom: 1rem; } .cs-confirm table { margin: .5rem 0; } .cs-step form { display: inline-block; margin-right: .75rem; } .cs-step details form { display: block; }
.cs-state.refused, .cs-state.plan, .cs-state.suspended { color: #b32d2e; } .cs-state.away { color: #996800; } .cs-step details { margin: .75rem 0; } .cs-step summary { cursor: pointer; color: #2271b1; }
.cs-example { font-size: 14px; } .cs-names { margin: .75rem 0; } .cs-names summary { cursor: pointer; color: #2271b1; }
</style>';
	}
}
