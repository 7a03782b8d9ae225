<?php
namespace ContentSettlement;

use League\HTMLToMarkdown\Converter\TableConverter;
use League\HTMLToMarkdown\ElementInterface;
use League\HTMLToMarkdown\HtmlConverter;

/** The library's converter, which throws RuntimeException when a page takes longer than it may. */
final class Markdown_Converter extends HtmlConverter {
	/** Seconds. */
	const MOST_SECONDS = 2.0;

	/** @var float */
	private $ends;

	public function __construct( string $aside ) {
		parent::__construct( array( 'strip_tags' => true, 'remove_nodes' => $aside, 'header_style' => 'atx', 'hard_break' => true ) );
		$this->environment->addConverter( new TableConverter() );
		$this->environment->addConverter( new Markdown_Lists() );
		$this->ends = microtime( true ) + self::MOST_SECONDS;
	}

	protected function convertToMarkdown( ElementInterface $element ): string { // phpcs:ignore WordPress.NamingConventions -- the library's name.
		if ( microtime( true ) > $this->ends ) {
			throw new \RuntimeException( 'the page takes too long' );
		}
		return parent::convertToMarkdown( $element );
	}
}
