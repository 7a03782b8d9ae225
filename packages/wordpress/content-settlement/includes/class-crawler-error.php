<?php
namespace ContentSettlement;

/** Codes of the header crawler-error (pay per crawl of Cloudflare) that answers of ours have as well, with the status that belongs to each. */
final class Crawler_Error {
	/** Of a 403. */
	const FORBIDDEN = 'CrawlerForbidden';

	/**
	 * What a 402 says of the price that its reader named: the most that he would pay is less, or the exact sum is another one. '' where he
	 * named none, or one that fits, which moves no money either; and where that vocabulary has a 400 (both headers, no amount).
	 */
	public static function of( int $price_micro, string $most, string $exact ): string {
		if ( '' !== $most && '' !== $exact ) {
			return '';
		}
		$micro = Money::micro( '' !== $most ? $most : $exact );
		if ( null === $micro ) {
			return '';
		}
		if ( '' !== $most ) {
			return $micro < $price_micro ? 'InvalidCrawlerMaxPrice' : '';
		}
		return $micro === $price_micro ? '' : 'InvalidCrawlerExactPrice';
	}
}
