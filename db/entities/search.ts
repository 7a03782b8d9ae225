import { defineEntity, p } from '@mikro-orm/postgresql';

export const DiscoveryListing = defineEntity({
  name: 'DiscoveryListing',
  tableName: 'discovery_listing',
  properties: {
    tenantId: p.uuid().primary(),
    position: p.bigint('string').generated('always as identity'),
    summary: p.text(),
    tags: p.array(),
    relays: p.boolean().default(false),
    words: p.text().columnType('tsvector'),
  },
});

export const SearchedPage = defineEntity({
  name: 'SearchedPage',
  tableName: 'searched_page',
  properties: {
    tenantId: p.uuid().primary(),
    source: p.text().$type<'inline' | 'imported'>().primary(),
    slug: p.text().primary(),
    path: p.text().nullable(),
    title: p.text().nullable(),
    words: p.text().columnType('tsvector'),
  },
});
