<?php
/** As a web server with WordPress' own rewrite rules: files as they are, everything else is WordPress'. */
$path = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if ( '/' !== $path && is_dir( $file ) && is_file( "$file/index.php" ) ) {
	$path = rtrim( $path, '/' ) . '/index.php';
	$file = $_SERVER['DOCUMENT_ROOT'] . $path;
}
if ( is_file( $file ) && '.php' !== substr( $file, -4 ) ) {
	return false;
}
if ( ! is_file( $file ) ) {
	$path = '/index.php';
	$file = $_SERVER['DOCUMENT_ROOT'] . $path;
}
$_SERVER['SCRIPT_NAME']     = $path;
$_SERVER['PHP_SELF']        = $path;
$_SERVER['SCRIPT_FILENAME'] = $file;
chdir( dirname( $file ) );
require $file;
