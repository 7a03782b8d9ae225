import { contentSettlement } from '@content-settlement/publisher/astro';

export const onRequest = contentSettlement();
