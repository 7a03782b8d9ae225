<?php
namespace ContentSettlement;

use League\HTMLToMarkdown\Converter\ConverterInterface;
use League\HTMLToMarkdown\ElementInterface;
use League\HTMLToMarkdown\PreConverterInterface;

/**
 * Lists as Markdown. The library's own converter walks over all items before each item to number it, which takes minutes for a list of some thousand; this
 * one counts along. It relies on the order of the library's calls: a list is opened, its items are converted from first to last, the list is closed.
 */
final class Markdown_Lists implements ConverterInterface, PreConverterInterface {
	/** @var array The number that the next item has in each list that is open, the innermost last; null: a list without numbers. */
	private $open = array();

	public function preConvert( ElementInterface $element ): void { // phpcs:ignore WordPress.NamingConventions -- the library's name.
		if ( 'li' !== $element->getTagName() ) {
			$start        = (int) $element->getAttribute( 'start' );
			$this->open[] = 'ul' === $element->getTagName() ? null : ( 0 === $start ? 1 : $start );
		}
	}

	public function convert( ElementInterface $element ): string {
		if ( 'li' !== $element->getTagName() ) {
			array_pop( $this->open );
			// A list within an item begins on a line of its own.
			return ( array() === $this->open ? '' : "\n" ) . $element->getValue() . "\n";
		}
		$last = count( $this->open ) - 1;
		$mark = '-';
		if ( $last >= 0 && null !== $this->open[ $last ] ) {
			$mark = $this->open[ $last ] . '.';
			++$this->open[ $last ];
		}
		return $mark . ' ' . str_replace( "\n", "\n    ", trim( $element->getValue() ) ) . "\n";
	}

	/** @return string[] */
	public function getSupportedTags(): array { // phpcs:ignore WordPress.NamingConventions -- the library's name.
		return array( 'ol', 'ul', 'li' );
	}
}
