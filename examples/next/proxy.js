import { contentSettlement } from '@content-settlement/publisher/next';

export const proxy = contentSettlement();
export const config = { matcher: '/((?!_next/).*)' };
