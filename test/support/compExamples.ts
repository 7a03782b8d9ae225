/** Four of the eight examples, one of each kind of asset, of "Implementation Guidance" in CoMP 1.0 (IABTechLab/CoMP, CoMP-1.0.md): what is asked, and the package that answers. */

/** One example: the request and the answer as the standard prints them. */
export interface CompExample {
  readonly title: string;
  /** Whose content is asked for. */
  readonly host: string;
  readonly aisystem: { readonly aisysuse: { readonly uri?: readonly string[] } & Record<string, unknown> } & Record<
    string,
    unknown
  >;
  readonly package: Record<string, unknown>;
}

const byC2pa = { provenance: 1, provent: 'c2pa.org' };
const travel = { cattax: 9, cat: [653, 655, 660] };

export const COMP_EXAMPLES: readonly CompExample[] = [
  {
    title: 'Unauthorized Request',
    host: 'primary-publisher.com',
    aisystem: {
      name: 'open-learner-ai.org',
      ua: 'OpenLearnerBot/2.1',
      id: 'TL-REG-445566',
      aisysuse: {
        lid: 'PENDING_REVIEW',
        aiauth: 0,
        uri: ['https://primary-publisher.com'],
        scope: 0,
        function: [2],
        subfn: [0],
        resdis: 0,
      },
    },
    package: {
      id: 'PKG-REF-99-PENDING',
      title: 'Full Corpus Access - Licensing Required',
      seller: 'primary-publisher.com',
      licenseurl: 'https://primary-publisher.com/licensing/ai-terms',
      reporturl: 'https://primary-publisher.com/reporting/ai-usage',
      citation: 1,
      scope: { scope: 0, max: 1, ctype: [4] },
      retrieval: { auth: 0, endpoint: 'https://api.primary-publisher.com/v1/unauthorized', type: [2] },
    },
  },
  {
    title: 'Authorized Request',
    host: 'fin-times.com',
    aisystem: {
      name: 'global-news-aggregator.com',
      ua: 'GlobalNewsBot/5.0',
      id: 'TL-REG-882211',
      aisysuse: {
        lid: 'LIC-998-ALPHA-2026',
        aiauth: 1,
        uri: ['https://fin-times.com/markets/commodities'],
        scope: 1,
        function: [3],
        subfn: [1, 2],
        resdis: 1,
      },
    },
    package: {
      id: 'PKG-FIN-COMM-001',
      title: 'Commodities Market Deep-Dive',
      seller: 'fin-times.com',
      licenseurl: 'https://fin-times.com/legal/terms/LIC-998',
      reporturl: 'https://fin-times.com/reporting/ai-usage',
      citation: 1,
      scope: {
        scope: 1,
        max: 0,
        ctype: [0],
        text: [
          {
            title: 'Gold Prices Surge Amid Volatility',
            cattax: 9,
            cat: [272],
            wordcount: [1200],
            pubdate: '2026-02-26T14:30:00Z',
            author: ['Alex Sterling'],
            sourcetype: 0,
            ...byC2pa,
          },
        ],
      },
      retrieval: { auth: 0, endpoint: 'https://newsml.fin-times.com/v3/commodities', type: [6] },
    },
  },
  {
    title: 'Curated Selection of Multiple Asset Types',
    host: 'premium-travel-pics.com',
    aisystem: {
      name: 'vision-agent.ai',
      ua: 'VisionAgentBot/1.2',
      aisysuse: { lid: 'LIC-CURATED-777', aiauth: 2, scope: 5, function: [1], subfn: [4], resdis: 1 },
    },
    package: {
      id: 'PKG-MEDIA-PREMIUM',
      title: 'Verified Travel Selection 2026',
      seller: 'premium-travel-pics.com',
      licenseurl: 'https://premium-travel-pics.com/license',
      reporturl: 'https://premium-travel-pics.com/reporting/ai-usage',
      citation: 1,
      scope: {
        scope: 5,
        ctype: [1, 2],
        image: [
          {
            title: ['Grand Canyon Sunset'],
            ...travel,
            pubdate: '2026-01-10T18:00:00Z',
            published: 1,
            author: ['Jane Photographer'],
            sourcetype: 0,
            ...byC2pa,
          },
        ],
        video: [
          {
            title: ['Grand Canyon South Rim Walkthrough'],
            ...travel,
            dur: [45],
            clip: 1,
            transcript: 0,
            sourcetype: 0,
            ...byC2pa,
          },
        ],
      },
      retrieval: { auth: 1, endpoint: 'https://media-api.premium-travel.com/v1/download', type: [2] },
    },
  },
  {
    title: 'Podcast Full Feed Authorized',
    host: 'news-podcasts.com',
    aisystem: {
      name: 'audio-intel.ai',
      ua: 'AudioIntelBot/3.0',
      id: 'TL-REG-223344',
      aisysuse: {
        lid: 'LIC-POD-PRO-2026',
        aiauth: 2,
        uri: ['https://news-podcasts.com/daily-brief'],
        scope: 0,
        function: [2, 3],
        subfn: [0, 2],
        resdis: 0,
      },
    },
    package: {
      id: 'PKG-DAILY-BRIEF-FULL',
      title: 'Daily Brief Podcast Archive',
      seller: 'news-podcasts.com',
      licenseurl: 'https://news-podcasts.com/licensing',
      reporturl: 'https://news-podcasts.com/reporting/ai-usage',
      citation: 1,
      scope: {
        scope: 0,
        max: 0,
        ctype: [3],
        audio: [
          {
            title: ['Global Markets Update - Feb 27'],
            cattax: 9,
            cat: [392],
            dur: [1800],
            wordcount: [4500],
            transcript: 1,
            pubdate: '2026-02-27T06:00:00Z',
            published: 1,
            author: ['Host Name', 'Guest Expert'],
            sourcetype: 0,
            provenance: 0,
          },
        ],
      },
      retrieval: { auth: 2, endpoint: 'https://api.news-podcasts.com/v1/rss', type: [1] },
    },
  },
];
