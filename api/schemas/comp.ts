import { z } from 'zod';
import { FUNCTIONS } from '../../modules/pricing/rules/compPackages.ts';
import { resource } from './shared.ts';

/** Messages of IAB Tech Lab CoMP 1.0. Names are the standard's; what it lets out may be left out, and members it does not know are ignored. */

const text = z.string('must be text').max(2_048, 'is too long');
const from0to = (most: number) =>
  z.int('must be a number of the list').min(0, 'is not in the list').max(most, 'is not in the list');

/** Body of POST /_svc/comp/packages. */
export const CompRequestBody = z
  .looseObject(
    {
      aisystem: z.looseObject(
        {
          name: text.min(1, 'must not be empty').meta({ description: 'Domain of the AI system; not verified here.' }),
          ua: z.exactOptional(text),
          id: z.exactOptional(text),
          aisysuse: z.looseObject(
            {
              lid: text.meta({ description: 'A licence, where there is one; packages do not depend on it.' }),
              aiauth: from0to(5),
              uri: z.exactOptional(
                z
                  .array(resource, 'must be a list of URLs')
                  .max(100, 'has at most 100 URLs')
                  .meta({ description: 'Pages or sections, all on one host. Default: everything on `host`.' }),
              ),
              scope: z.exactOptional(from0to(6)),
              function: z.exactOptional(
                z
                  .array(from0to(FUNCTIONS - 1), 'must be a list of numbers')
                  .max(FUNCTIONS, 'has too many')
                  .meta({ description: 'Uses; the price is that of the most expensive one.' }),
              ),
              subfn: z.exactOptional(z.array(from0to(5), 'must be a list of numbers').max(6, 'has too many')),
              resdis: z.exactOptional(from0to(1)),
            },
            'must be an object',
          ),
        },
        'must be an object',
      ),
    },
    'must be an object',
  )
  .meta({ id: 'CompRequest' });

const numbers = z.array(z.int().min(0));

/** A package, as far as ours go. */
export const CompPackage = z
  .object({
    id: z.string(),
    title: z.string(),
    seller: z.string(),
    packager: z.string(),
    licenseurl: z.string(),
    reporturl: z.string(),
    scope: z.object({
      scope: z.int(),
      ause: z.int(),
      pricetype: z.int(),
      unitprice: z.exactOptional(z.number()),
      cur: z.literal('USD'),
      max: z.literal(0),
      ctype: numbers,
    }),
    retrieval: z.object({ auth: z.int(), endpoint: z.string(), type: numbers }),
    ext: z.object({
      pattern: z.string(),
      citationprice: z.exactOptional(z.number()),
      validuntil: z.exactOptional(z.number()),
    }),
  })
  .meta({ id: 'CompPackage' });

/** Success of POST /_svc/comp/packages: all packages, and the first of them where the standard has its one. */
export const CompPackages = z
  .object({ package: z.exactOptional(CompPackage), packages: z.array(CompPackage) })
  .meta({ id: 'CompPackages' });
