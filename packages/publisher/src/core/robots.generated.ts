// Written by packages/publisher/bin/visitors.mjs: do not edit. Lists: ai.robots.txt (https://github.com/ai-robots-txt/ai.robots.txt, MIT); crawler-user-agents 1.60.0 (https://github.com/monperrus/crawler-user-agents, MIT, 2026-11-28); isbot 5.2.3 (https://github.com/omrilotan/isbot, Unlicense, 2026-11-28).
// MIT License, Copyright (c) 2024 ai.robots.txt, Copyright (c) Martin Monperrus and contributors. Permission is hereby granted, free of
// charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without
// restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
// Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and
// this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY
// OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
// NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
// CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

/** What becomes of each class until an owner decides otherwise. */
export const DEFAULTS = {
  ai: 'charge',
  automation: 'charge',
  pretender: 'charge',
  masquerade: 'charge',
  search: 'read',
  preview: 'read',
  ads: 'read',
  feed: 'read',
  monitor: 'read',
  app: 'read',
} as const;
/** Names of robots in lower case, by class, in the order in which they are looked for. */
export const ROBOTS = {
  ai: /(?<![a-z0-9-])(?:addsearchbot|agenttimes|ai2bot|ai2bot-deepresearcheval|ai2bot-dolma|aihitbot|aiwebindex|amazon-kendra|amazon-qbusiness|amazonbot|amazonbuyforme|amzn-searchbot|amzn-user|andibot|anomura|anthropic-ai|apifybot|apifywebsitecontentcrawler|applebot|applebot-extended|aranet-searchbot|atlassian-bot|awario|azureai-searchbot|bedrockbot|bigsur\.ai|bravebot|brightbot|buddybot|bytespider|ccbot|channel3bot|chatglm-spider|chatgpt agent|chatgpt-user|claude-code|claude-searchbot|claude-user|claude-web|claudebot|cloudflare-autorag|cloudvertexbot|code|cohere-ai|cohere-training-data-crawler|cotoyogi|cragcrawler|crawl4ai|crawlspace|cursor|datenbank crawler|deepseekbot|devin|diffbot|duckassistbot|echobot bot|echoboxbot|exabot|exasearchbot|facebookbot|factset_spyderbot|firecrawlagent|friendlycrawler|geisthaus-pagefetcher|gemini-deep-research|google-agent|google-cloudvertexbot|google-extended|google-firebase|google-gemini-cli|google-notebooklm|googleagent-mariner|googleagent-urlcontext|googleother|googleother-image|googleother-video|gptbot|henkbot|iaskbot|iaskspider|icc-crawler|imagesiftbot|imagespider|img2dataset|isscyberriskcrawler|kagi-fetcher|kangaroo bot|kimi-user|klaviyoaibot|kunatocrawler|laion-huggingface-processor|laiondownloader|lcc|lightpanda|linerbot|linguee bot|linkupbot|manus-user|meta-externalagent|meta-externalfetcher|meta-webindexer|mistralai-user|mozilla-tabstack|mycentralaiscraperbot|nagetbot|netestate imprint crawler|newsai|notebooklm|novaact|oai-searchbot|omgili|omgilibot|openai|opencode|operator|pangubot|panscient|perplexity-user|perplexitybot|petalbot|phindbot|poggio-citations|poseidon research crawler|qualifiedbot|querit-searchbot|queritbot|quillbot|reflectionbot|sbintuitionsbot|scrapy|semrushbot-ocob|semrushbot-swa|shap-user|shapbot|sidetrade indexer bot|tavilybot|terra cotta|terracotta|thinkbot|tiktokspider|timpibot|tongyibot|trae|twinagent|useai|velenpublicwebcrawler|wardbot|webzio-extended|wpbot|wrtnbot|yak|yandexadditional|yandexadditionalbot|yiyanbot|youbot|zanistabot)(?![a-z0-9-])/,
  ads: /(?<![a-z0-9-])(?:admantx|adsbot-google|adstxtcrawler|amazonadbot|bingads|criteobot|doubleverify|google-ads|grapeshotcrawler|ias crawler|mediapartners-google|mediavinemetadataparser|moatbot|outbrain|peer39_crawler|pixalate|proximic|pulsepoint|taboolabot|ttd-content|verity\/|yandexdirect)/,
  feed: /(?<![a-z0-9-])(?:akregator|bazqux|blogtrottr|feed|freshrss|inoreader|liferea|miniflux|netnewswire|newsblur|newsboat|newsflash|nextcloud-news|overcast\/|pocketcasts|readkit|reeder\/|rss|theoldreader\.com|thunderbird|tiny tiny rss|upday)/,
  preview: /(?<![a-z0-9-])(?:akkoma|bingpreview|bluesky\/|cardyb|discordbot|discourse forum onebox|embedly|facebookexternalhit|facebot|flipboardproxy|friendica|google web preview|googleimageproxy|gotosocial|hatena|iframely|kakaotalk-scrap|lemmy|line-poker|linespider|linkedinbot|mastodon|mattermost-bot|meta-externalhit|microsoftpreview|odklbot|pinterest|pleroma|redditbot|rocket\.chat|skypeuripreview|slack-imgproxy|slackbot|snap url preview service|snapchat|summalybot|synapse \(bot|telegrambot|tumblr\/|twitterbot|viber|vkshare|whatsapp|xing|yahoo link preview)/,
  monitor: /(?<![a-z0-9-])(?:amazon-route53-health-check-service|better stack|better uptime|blackbox|catchpoint|check_http|checkly|chrome-lighthouse|cloudflare-alwaysonline|cloudflare-healthchecks|cloudflare-traffic-manager|consul health check|datadog|elb-healthchecker|feedvalidator|freshpingbot|google page speed|googlehc|googlestackdrivermonitoring|gtmetrix|healthcheck|hetrixtools|jetmon|kube-probe|newrelic|nodeping|ohdear|pingdom|prtg|ptst\/|ruxitsynthetic|sentryuptimebot|silktide|site24x7|siteimprove|statuscake|thousandeyes|updown\.io|uptime-kuma|uptimerobot|validator\.nu|w3c-|w3c_|zabbix)/,
  search: /(?<![a-z0-9-])(?:360spider|adidxbot|apis-google|coccoc|daum|duckduckgo-favicons-bot|google favicon|google-inspectiontool|google-read-aloud|google-site-verification|ibou|kagibot|mail\.ru_bot|mojeekbot|msnbot|orangebot|owler|qwant|search\.marginalia\.nu|seznambot|sogou|storebot-google|stractbot|swisscows|y!j|yahoo! slurp|yandex\.com\/bots|yeti\/)/,
  app: /(?<![a-z0-9-])(?:alamofire|cfnetwork|dillo|elinks|ibrowse|ladybird|links \(|netsurf|offbyone|okhttp)/,
} as const;
/** Programs with a browser inside, whose names are those of agents as well. */
export const BROWSERS: RegExp = / (?:code|cursor|devin|operator|trae|windsurf)\/[\w.-]+/g;
/** User-Agents in lower case that a CDN sends in place of everybody's. */
export const CDNS: RegExp = /^(?:amazon cloudfront)$/;
