<?php
namespace ContentSettlement;

use League\HTMLToMarkdown\Converter\TableConverter;
use League\HTMLToMarkdown\HtmlConverter;

/** Posts as Markdown, made of the page that was sold, after it was paid. Needs PHP's `dom`; without it the page goes out as HTML. */
final class Markdown {
	/** A longer page is given as it is. */
	const MOST_BYTES = 2097152;
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
		if ( strlen( $page ) > self::MOST_BYTES || ! class_exists( \DOMDocument::class ) ) {
			return '';
		}
		try {
			$converter = new HtmlConverter( array( 'strip_tags' => true, 'remove_nodes' => self::ASIDE, 'header_style' => 'atx', 'hard_break' => true ) );
			$converter->getEnvironment()->addConverter( new TableConverter() );
			$text = trim( $converter->convert( self::main_of( $page ) ) );
			return '' === $text ? '' : "$text\n";
		} catch ( \Throwable $error ) {
			return '';
		}
	}

	/** The inside of the first `main`, else of the first `article`, else the page. */
	private static function main_of( string $page ): string {
		$document = new \DOMDocument();
		$before   = libxml_use_internal_errors( true );
		$document->loadHTML( '<?xml encoding="utf-8"?>' . $page, LIBXML_NONET );
		libxml_clear_errors();
		libxml_use_internal_errors( $before );
		foreach ( array( 'main', 'article' ) as $name ) {
			$found = $document->getElementsByTagName( $name )->item( 0 );
			if ( null !== $found ) {
				return (string) $document->saveHTML( $found );
			}
		}
		return $page;
	}
}
