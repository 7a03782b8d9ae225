/** Objects of IAB Tech Lab CoMP 1.0 by the tables of the standard: whatever is not in them fails, so that ours holds nothing invented. */
import { z } from 'zod';

const flag = z.int().min(0).max(1);
const upTo = (most: number) => z.int().min(0).max(most);
const ext = z.looseObject({});
const asset = {
  cattax: z.int().optional(),
  cat: z.array(z.int()).optional(),
  language: z.array(z.union([z.int(), z.string()])).optional(),
  wordcount: z.array(z.int()).optional(),
  pubdate: z.iso.datetime().optional(),
  published: upTo(2).optional(),
  update: z.iso.datetime().optional(),
  author: z.array(z.string()).optional(),
  sourcetype: upTo(2).optional(),
  provenance: flag.optional(),
  provent: z.string().optional(),
  ext: ext.optional(),
};
const titles = z.array(z.string()).optional();
const timed = { dur: z.array(z.int()).optional(), transcript: flag.optional() };

const scope = z.strictObject({
  scope: upTo(6).optional(),
  ause: upTo(6).optional(),
  pricetype: upTo(5).optional(),
  pricetier: z.int().optional(),
  unitprice: z.number().min(0).optional(),
  cur: z.string().length(3).optional(),
  country: z.array(z.union([z.int(), z.string()])).optional(),
  licensedur: z.int().optional(),
  max: flag.optional(),
  ctype: z.array(upTo(5)).optional(),
  text: z.array(z.strictObject({ title: z.string().optional(), ...asset })).optional(),
  video: z.array(z.strictObject({ title: titles, ...asset, ...timed, clip: flag.optional() })).optional(),
  image: z.array(z.strictObject({ title: titles, ...asset })).optional(),
  audio: z.array(z.strictObject({ title: titles, ...asset, ...timed })).optional(),
  ext: ext.optional(),
});

/** Object: Package. */
export const StandardPackage = z.strictObject({
  id: z.string(),
  title: z.string().optional(),
  seller: z.string().optional(),
  packager: z.string().optional(),
  licenseurl: z.url().optional(),
  citation: flag.optional(),
  reporturl: z.url().optional(),
  scope: scope.optional(),
  retrieval: z
    .strictObject({
      auth: upTo(4).optional(),
      endpoint: z.url().optional(),
      type: z.array(upTo(7)).optional(),
      ext: ext.optional(),
    })
    .optional(),
  ext: ext.optional(),
});
