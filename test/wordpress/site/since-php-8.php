<?php
/** Names what of a file's syntax PHP 7.4 does not have: `php since-php-8.php file…` prints `file:line what`, nothing when all is well. */
const WORDS = array( 'T_MATCH' => 'match', 'T_NULLSAFE_OBJECT_OPERATOR' => '?->', 'T_ENUM' => 'enum', 'T_READONLY' => 'readonly', 'T_ATTRIBUTE' => 'attribute' );
/** WordPress 5.9 brings str_contains and its kin; we do without. */
const FUNCTIONS = array( 'str_contains', 'str_starts_with', 'str_ends_with', 'array_is_list', 'array_find', 'array_any', 'array_all', 'get_debug_type', 'fdiv', 'json_validate', 'mb_trim', 'mb_str_pad' );
const TYPES     = array( 'mixed', 'never', 'static', 'false', 'null', 'true' );

foreach ( array_slice( $argv, 1 ) as $file ) {
	$tokens = array_values( array_filter( PhpToken::tokenize( file_get_contents( $file ) ), static fn( $token ) => ! $token->isIgnorable() ) );
	$depths = array( '' );
	foreach ( $tokens as $index => $token ) {
		$before = $tokens[ $index - 1 ]->text ?? '';
		$after  = $tokens[ $index + 1 ]->text ?? '';
		$tell   = static function ( string $what ) use ( $file, $token ): void {
			echo "$file:$token->line $what\n";
		};
		if ( isset( WORDS[ $token->getTokenName() ] ) ) {
			$tell( WORDS[ $token->getTokenName() ] );
		}
		if ( $token->is( T_STRING ) && '(' === $after && in_array( strtolower( $token->text ), FUNCTIONS, true ) ) {
			$tell( $token->text );
		}
		if ( '(' === $token->text ) {
			$is_declared = in_array( $before, array( 'function', 'fn' ), true ) || 'function' === ( $tokens[ $index - 2 ]->text ?? '' ) || '&' === $before;
			$depths[]    = $is_declared ? 'parameters' : 'arguments';
			if ( '...' === $after && ')' === ( $tokens[ $index + 2 ]->text ?? '' ) ) {
				$tell( 'first-class callable' );
			}
		}
		$depth = end( $depths );
		if ( ')' === $token->text ) {
			array_pop( $depths );
			if ( 'parameters' === $depth && ',' === $before ) {
				$tell( 'comma after the last parameter' );
			}
			if ( ':' === $after && '{' === ( $tokens[ $index + 3 ]->text ?? '' ) && in_array( strtolower( $tokens[ $index + 2 ]->text ), TYPES, true ) ) {
				$tell( 'return type of PHP 8' );
			}
		}
		if ( 'parameters' === $depth && $token->is( array( T_PUBLIC, T_PRIVATE, T_PROTECTED ) ) ) {
			$tell( 'promoted parameter' );
		}
		if ( 'parameters' === $depth && '|' === $token->text ) {
			$tell( 'union type' );
		}
		if ( 'parameters' === $depth && $token->is( T_STRING ) && 'mixed' === strtolower( $token->text ) ) {
			$tell( 'mixed' );
		}
		if ( 'arguments' === $depth && $token->is( T_STRING ) && ':' === $after && in_array( $before, array( '(', ',' ), true ) ) {
			$tell( 'named argument' );
		}
		if ( $token->is( T_THROW ) && ! in_array( $before, array( ';', '{', '}', ')', ':' ), true ) ) {
			$tell( 'throw as an expression' );
		}
		if ( $token->is( T_CATCH ) && ')' === ( $tokens[ $index + 3 ]->text ?? '' ) ) {
			$tell( 'catch without a variable' );
		}
		if ( 'class' === $token->text && '::' === $before && $tokens[ $index - 2 ]->is( T_VARIABLE ) ) {
			$tell( '::class of an object' );
		}
	}
}
