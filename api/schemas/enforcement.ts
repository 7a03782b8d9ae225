import { z } from 'zod';
import { resource } from './shared.ts';

/** Query of GET /_svc/enforce-config. */
export const EnforceConfigQuery = z.object({
  resource: z.exactOptional(resource.meta({ description: 'A page of the site; the manifest then names only its host.' })),
  addresses: z.exactOptional(
    z
      .string()
      .regex(/^\d{1,15}$/, 'must be a version of addresses, or 0')
      .meta({
        description:
          'Also the addresses that operators of robots publish; their ranges where they have another version than this. 0: any.',
      }),
  ),
});

const fragments = z.array(z.string()).meta({ description: 'Fragments of User-Agents, lower case.' });

const GateScope = z
  .union([
    z.object({ mode: z.literal('prefixes') }),
    z.object({
      mode: z.literal('site'),
      excludePrefixes: z.array(z.string()),
      includeExtensions: z.exactOptional(z.array(z.string())),
    }),
  ])
  .meta({ id: 'GateScope', description: 'What is in scope: the article prefixes, or the whole site but some prefixes.' });

const Manifest = z
  .object({
    x402Version: z.literal(2),
    humansReadFree: z.literal(true),
    resources: z.array(z.string()),
    payment: z.object({ schemes: z.array(z.literal('exact')), quoteUrl: z.string() }),
    license: z.object({ issuer: z.string(), jwksUrl: z.string() }),
  })
  .meta({ id: 'Manifest', description: "The publisher's x402 manifest: no price, network, address or key id." });

/** Body of GET /_svc/enforce-config. */
export const EnforcementConfig = z
  .looseObject({
    enforcement: z.looseObject({
      articlePrefixes: z.array(z.string()),
      gateScope: GateScope,
      forms: z.array(z.string()).meta({
        description: 'What other addresses of an article add to its own, such as `.md` and `/amp`; they have its price.',
      }),
      seoAllowlist: fragments,
      crawlerPolicy: z.object({ allow: fragments, charge: fragments, block: fragments }),
      visitorClasses: z
        .record(z.string(), z.string())
        .meta({ description: 'What becomes of each class of visitors that no list names: `read`, `charge` or `block`.' }),
      licenseIdentity: z.string(),
      manifest: Manifest,
    }),
    manifest: Manifest,
    version: z.int(),
    addresses: z.exactOptional(
      z
        .looseObject({
          version: z.int().meta({ description: 'When a list last changed, epoch milliseconds; 0: none was read yet.' }),
          checkedAt: z
            .record(z.string(), z.int())
            .meta({ description: 'When the operator of each list was last seen to publish it, epoch milliseconds.' }),
          ranges: z.exactOptional(
            z.record(z.string(), z.array(z.string())).meta({ description: 'CIDR; left out where the asker has this version.' }),
          ),
        })
        .meta({ id: 'PublishedAddresses', description: 'Addresses of robots, as their operators publish them.' }),
    ),
  })
  .meta({
    id: 'EnforcementConfig',
    description: 'What an in-app enforcer reads before pricing; changes when the tenant is edited.',
  });

const time = z.string().meta({ format: 'date-time' }).nullable();

const EnforcementStatusRow = z
  .object({
    host: z.string(),
    mode: z.enum(['fleet', 'in_app', 'idle', 'conflict', 'unverified']).nullable(),
    confidence: z.enum(['high', 'medium', 'low']).nullable(),
    basedOn: z.array(z.enum(['dns_cname', 'live_probe', 'inapp_quote', 'inapp_verify', 'observe', 'challenge'])),
    lastCheckedAt: time,
    keyRejectedAt: time,
    nextAction: z.enum([
      'none',
      'verify_host',
      'remove_cname',
      'reconnect_sdk',
      'install_code',
      'fix_dns',
      'rotate_key',
      'upgrade_plan',
      'wait',
    ]),
    attention: z.boolean(),
    recordToFix: z.exactOptional(z.string().meta({ description: 'The DNS name whose record to change.' })),
    tracks: z.record(z.string(), z.string()),
  })
  .meta({ id: 'EnforcementStatusRow' });

/** Body of GET /_svc/enforce-status. */
export const EnforcementStatusResponse = z
  .object({ hosts: z.array(EnforcementStatusRow), attention: z.boolean() })
  .meta({ id: 'EnforcementStatusResponse' });
