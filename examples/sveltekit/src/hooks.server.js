import { contentSettlement } from '@content-settlement/publisher/sveltekit';

export const handle = contentSettlement();
