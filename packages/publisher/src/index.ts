/** What the adapters are made of, for servers that none of them fits. */
// biome-ignore-all lint/performance/noBarrelFile: the package's entry
export type { Answer } from './answers.ts';
export type { Client, ClientOptions, Quote, Report, Result } from './client.ts';
export { createClient } from './client.ts';
export type { Gate, Ruling } from './gate.ts';
export { createGate } from './gate.ts';
export type { PublisherDecision, PublisherOptions } from './options.ts';
export type { SiteRequest } from './request.ts';
export type { Sale, SaleResult } from './selling/sale.ts';
export type { PublisherFailure } from './telling/failures.ts';
