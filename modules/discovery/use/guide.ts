import { guideOf } from '../rules/guide.ts';
import type { DocumentMaker } from './makers.ts';

/** The guide of a host for language models. */
export const makeGuide: DocumentMaker = ({ baseUrl, clock }, { host, pricing }) =>
  guideOf({ baseUrl, host, classes: pricing.classes(clock()), hasUnnamed: pricing.unnamed() !== null });
