<?php
/**
 * Plugin Name:       Content Settlement
 * Description:       AI agents pay every author of a post for reading it. People and search engines read as before.
 * Version:           0.1.0
 * Requires at least: 5.9
 * Requires PHP:      7.4
 * License:           Apache-2.0
 * License URI:       https://www.apache.org/licenses/LICENSE-2.0
 * Text Domain:       content-settlement
 *
 * @package ContentSettlement
 */

namespace ContentSettlement;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** File of the class, by WordPress' naming: Host_Proof is in class-host-proof.php, of the admin pages or of the rest. */
spl_autoload_register(
	static function ( string $name ): void {
		if ( 0 === strpos( $name, 'League\\HTMLToMarkdown\\' ) ) {
			$file = __DIR__ . '/vendor/league/html-to-markdown/src/' . str_replace( '\\', '/', substr( $name, 22 ) ) . '.php';
			if ( is_readable( $file ) ) {
				require $file;
			}
			return;
		}
		if ( 0 !== strpos( $name, __NAMESPACE__ . '\\' ) ) {
			return;
		}
		$file = 'class-' . strtolower( str_replace( '_', '-', substr( $name, strlen( __NAMESPACE__ ) + 1 ) ) ) . '.php';
		foreach ( array( '/includes/', '/includes/admin/' ) as $folder ) {
			if ( is_readable( __DIR__ . $folder . $file ) ) {
				require __DIR__ . $folder . $file;
				return;
			}
		}
	}
);

register_deactivation_hook( __FILE__, array( Lifecycle::class, 'deactivate' ) );

Host_Proof::register();
Forms::register();
Gate::register();
Side_Doors::register();
Credits_Api::register();
Reports::register();
Gate_Config::register();
Claims::register();
if ( is_admin() ) {
	Settings_Page::register();
	Wallet_Field::register();
	Authors_Box::register();
	Health::register();
}
