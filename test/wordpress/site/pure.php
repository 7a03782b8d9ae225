<?php
/**
 * Calls pure functions of the plugin without WordPress: `[[class, method, [arguments]], …]` on the way in, their results on the way out. A text that
 * begins with `json:` is handed over as the plugin decodes an answer, its objects as objects.
 */
namespace ContentSettlement;

function wp_parse_url( string $url, int $component = -1 ) {
	return parse_url( $url, $component );
}
function wp_json_encode( $value, int $flags = 0 ) {
	return json_encode( $value, $flags );
}
function untrailingslashit( string $text ): string {
	return rtrim( $text, '/\\' );
}
function wp_convert_hr_to_bytes( string $text ): int {
	return (int) $text * ( 'M' === substr( $text, -1 ) ? 1048576 : 1 );
}
spl_autoload_register(
	static function ( string $name ): void {
		if ( 0 === strpos( $name, 'League\\HTMLToMarkdown\\' ) ) {
			require dirname( __DIR__, 3 ) . '/packages/wordpress/content-settlement/vendor/league/html-to-markdown/src/' . str_replace( '\\', '/', substr( $name, 22 ) ) . '.php';
			return;
		}
		require dirname( __DIR__, 3 ) . '/packages/wordpress/content-settlement/includes/class-' . strtolower( str_replace( '_', '-', substr( $name, strlen( __NAMESPACE__ ) + 1 ) ) ) . '.php';
	}
);
$results = array();
foreach ( json_decode( stream_get_contents( STDIN ), true ) as list( $class, $method, $arguments ) ) {
	foreach ( $arguments as $at => $argument ) {
		$arguments[ $at ] = is_string( $argument ) && 0 === strpos( $argument, 'json:' ) ? json_decode( substr( $argument, 5 ) ) : $argument;
	}
	$results[] = call_user_func_array( array( __NAMESPACE__ . "\\$class", $method ), $arguments );
}
echo json_encode( $results );
