<?php
namespace ContentSettlement;

/** What a person sees at a price: usually a developer whose tool looks like a crawler. No script, nothing from elsewhere. */
final class Offer_Page {
	public static function print( object $quote, string $error ): void {
		$title   = isset( $quote->title ) ? (string) $quote->title : (string) $quote->slug;
		$price   = Money::usd( (string) $quote->price );
		$is_news = '' !== $error && 'Payment required' !== $error;
		?>
<!doctype html>
<html <?php language_attributes(); ?>>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title><?php echo esc_html( $title ); ?></title>
<style>
body { font: 17px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: #1d2327; background: #f6f7f7; margin: 0; }
main { max-width: 36rem; margin: 8vh auto; padding: 2.25rem 2.5rem; background: #fff; border: 1px solid #dcdcde; border-radius: 8px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; } h2 { font-size: 1rem; margin: 1.75rem 0 .4rem; }
.site { color: #646970; margin: 0; } .price { font-size: 2rem; font-weight: 600; margin: 1.5rem 0 0; } .price small { font-size: 1rem; font-weight: 400; color: #646970; }
table { border-collapse: collapse; width: 100%; } td { padding: .3rem 0; border-bottom: 1px solid #f0f0f1; } td + td { text-align: right; }
.error { background: #fcf0f1; border-left: 4px solid #d63638; padding: .6rem .9rem; } code { font-size: .85em; background: #f0f0f1; padding: .1em .3em; border-radius: 3px; }
@media (max-width: 40rem) { main { margin: 0; border: 0; padding: 1.5rem; } }
</style>
</head>
<body>
<main>
<p class="site"><?php echo esc_html( get_bloginfo( 'name' ) ); ?></p>
<h1><?php echo esc_html( $title ); ?></h1>
<p class="price">$<?php echo esc_html( $price ); ?> <small><?php esc_html_e( 'for one read by an AI agent or a program', 'content-settlement' ); ?></small></p>
		<?php if ( $is_news ) : ?>
<p class="error"><?php echo esc_html( $error ); ?></p>
		<?php endif; ?>
<h2><?php esc_html_e( 'Are you a person?', 'content-settlement' ); ?></h2>
<p><?php esc_html_e( 'People read this site as always. You see this page because your program says that it is a crawler or a script: open the address in an ordinary browser.', 'content-settlement' ); ?></p>
<h2><?php esc_html_e( 'Who receives the money', 'content-settlement' ); ?></h2>
<table>
		<?php foreach ( $quote->legs as $leg ) : ?>
<tr><td><?php echo esc_html( self::name_of( (string) ( $leg->authorId ?? $leg->toAddress ) ) ); ?></td><td>$<?php echo esc_html( Money::usd( (string) $leg->amountMicro ) ); ?></td></tr>
		<?php endforeach; ?>
</table>
<h2><?php esc_html_e( 'How a program pays', 'content-settlement' ); ?></h2>
<p><?php echo wp_kses( __( 'With any client that speaks <strong>x402</strong>, in USDC. It reads the offer in the header <code>PAYMENT-REQUIRED</code> of this answer, signs a payment, and sends it in <code>PAYMENT-SIGNATURE</code> to the same address. The payment goes straight to the authors, and the page comes with a licence to read it again.', 'content-settlement' ), array( 'strong' => array(), 'code' => array() ) ); ?></p>
</main>
</body>
</html>
		<?php
	}

	/** The name readers know an author by. */
	private static function name_of( string $author_id ): string {
		$user = get_user_by( 'slug', $author_id );
		return $user ? $user->display_name : $author_id;
	}
}
