<?php
namespace ContentSettlement;

/**
 * Posts as Markdown, made of the page that was sold, after it was paid. A buyer gets the page in any case: as HTML where it is too long, too deep or
 * too slow to convert, where PHP ends the conversion, and where PHP has no `dom`.
 */
final class Markdown {
	/** A longer page is given as it is. */
	const MOST_BYTES = 262144;
	/** Elements within elements, and nodes in all: the library calls itself for each level, and PHP cannot catch a stack that is full. */
	const MOST_DEPTH = 200;
	const MOST_NODES = 50000;
	/** Memory that PHP must have left: twice what the worst of such pages takes. */
	const ROOM_BYTES = 33554432;
	/** Octets of UTF-8 to one token, near enough for any script. */
	const OCTETS = 4;

	/** What is no text of a page. */
	const ASIDE = 'head script style noscript template svg iframe form nav footer aside button input select textarea';

	/** The page, or its Markdown with the headers that say so. */
	public static function of( string $page ): string {
		$text = self::convert( $page );
		if ( '' === $text ) {
			return $page;
		}
		header( 'Content-Type: text/markdown; charset=utf-8' );
		header( 'x-markdown-tokens: ' . self::tokens_in( $text ) );
		header_remove( 'Content-Length' );
		return $text;
	}

	/** The same for a page that was charged for a moment ago: if PHP ends the conversion by a fatal error, the page goes out as HTML. */
	public static function or_page( string $page ): string {
		// After a fatal error PHP runs no other shutdown function, but it still sends what is buffered, unless it is out of memory: `has_room`.
		ob_start(
			static function () use ( $page ): string {
				http_response_code( 200 ); // PHP has made it 500.
				return $page;
			}
		);
		$text = self::of( $page );
		ob_end_clean();
		return $text;
	}

	/** The same for a page that somebody has paid for before: it is made in a buffer, and turned into Markdown at its end. */
	public static function buffer(): void {
		ob_start(
			static function ( string $page ): string {
				return 200 === http_response_code() && ! headers_sent() ? Markdown::of( $page ) : $page;
			}
		);
	}

	/** About how many tokens a text has. */
	public static function tokens_in( string $text ): int {
		return (int) ceil( strlen( $text ) / self::OCTETS );
	}

	/** The Markdown of a page's main part, or of all of it where it names none; '' for what cannot be turned into any. */
	public static function convert( string $page ): string {
		if ( strlen( $page ) > self::MOST_BYTES || ! class_exists( \DOMDocument::class ) || ! self::has_room() ) {
			return '';
		}
		try {
			$main = self::main_of( $page );
			if ( null === $main ) {
				return '';
			}
			$text = trim( ( new Markdown_Converter( self::ASIDE ) )->convert( $main ) );
			return '' === $text ? '' : "$text\n";
		} catch ( \Throwable $error ) {
			return '';
		}
	}

	/** The inside of the first `main`, else of the first `article`, else the page; null for a page that nests too deep or has too many nodes. */
	private static function main_of( string $page ): ?string {
		$document = new \DOMDocument();
		$before   = libxml_use_internal_errors( true );
		$document->loadHTML( '<?xml encoding="utf-8"?>' . $page, LIBXML_NONET );
		libxml_clear_errors();
		libxml_use_internal_errors( $before );
		if ( ! self::is_small( $document ) ) {
			return null;
		}
		foreach ( array( 'main', 'article' ) as $name ) {
			$found = $document->getElementsByTagName( $name )->item( 0 );
			if ( null !== $found ) {
				return (string) $document->saveHTML( $found );
			}
		}
		return $page;
	}

	private static function has_room(): bool {
		$limit = wp_convert_hr_to_bytes( (string) ini_get( 'memory_limit' ) );
		return $limit <= 0 || $limit - memory_get_usage() >= self::ROOM_BYTES;
	}

	private static function is_small( \DOMDocument $document ): bool {
		$depth = 0;
		$nodes = 0;
		$node  = $document->firstChild;
		while ( null !== $node ) {
			if ( ++$nodes > self::MOST_NODES || $depth > self::MOST_DEPTH ) {
				return false;
			}
			if ( null !== $node->firstChild ) {
				$node = $node->firstChild;
				++$depth;
				continue;
			}
			while ( null !== $node && null === $node->nextSibling ) {
				$node = $node->parentNode;
				--$depth;
			}
			$node = null === $node ? null : $node->nextSibling;
		}
		return true;
	}
}
