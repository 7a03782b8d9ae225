/** What tools are asked with. */
import { z } from 'zod';
import { MAX_RESOURCE_CHARS } from '../../modules/kernel/hosts/host.ts';
import { LicenceRequestBody } from '../schemas/licences.ts';

/** The URL of a page; whose it is, is the service's to find out. */
export const pageUrl = z.string().min(1).max(MAX_RESOURCE_CHARS).meta({ description: 'The URL of the page.', format: 'uri' });

/** What the page is read for. */
export const pageKind = z
  .enum(['read', 'citation'])
  .default('read')
  .meta({ description: '`citation` allows quoting it, too, and may cost something else.' });

/** Longest licence or receipt that is looked at. */
export const MAX_LICENCE_CHARS = 4_096;

/** One page. */
export const onePage = z.strictObject({ url: pageUrl, kind: pageKind });

/** A licence over pages, as REST is asked for it; what means nothing is refused here. */
export const licenceInput = z.strictObject(LicenceRequestBody.shape);
