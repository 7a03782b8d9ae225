<?php
/** What tests need of a site: pages that go wrong in the ways pages do, and authors as Co-Authors Plus names them, for posts that say so. */
// No mail leaves; the last one can be read.
add_filter(
	'pre_wp_mail',
	static function ( $sent, array $mail ): bool {
		update_option( 'test_last_mail', $mail['to'] . ': ' . $mail['message'], false );
		return true;
	},
	10,
	2
);

// Nobody waits 25 seconds for a test.
add_filter(
	'http_request_args',
	static function ( array $arguments ): array {
		$arguments['timeout'] = min( $arguments['timeout'], (int) get_option( 'test_longest_call', 25 ) );
		return $arguments;
	}
);

// A theme that sets a header of its own while it makes the page.
add_action(
	'template_redirect',
	static function (): void {
		header( 'Cache-Control: public, max-age=600' );
	},
	50
);

add_action(
	'template_redirect',
	static function (): void {
		if ( is_single( 'breaks' ) ) {
			add_filter(
				'the_content',
				static function (): string {
					throw new RuntimeException( 'this page cannot be made' );
				}
			);
		}
		if ( is_single( 'gone' ) ) {
			status_header( 410 );
		}
		if ( is_single( 'blank' ) ) {
			exit;
		}
		if ( is_single( 'lets-go' ) ) {
			while ( ob_get_level() > 0 ) {
				ob_end_clean();
			}
			echo 'sent past every buffer';
			flush();
			exit;
		}
	}
);

// A post that shows others, as blocks and plugins do.
add_shortcode(
	'all_posts',
	static function (): string {
		$text = '';
		$all  = new WP_Query( array( 'posts_per_page' => 50 ) );
		while ( $all->have_posts() ) {
			$all->the_post();
			if ( 'roundup' !== get_post()->post_name ) {
				$text .= apply_filters( 'the_content', get_the_content() );
			}
		}
		wp_reset_postdata();
		return $text;
	}
);

function get_coauthors( $post_id ) {
	$authors = array();
	foreach ( get_post_meta( $post_id, 'test_coauthors', true ) ?: array( (int) get_post( $post_id )->post_author ) as $author ) {
		$authors[] = is_array( $author ) ? (object) $author : get_userdata( $author );
	}
	return $authors;
}
