import { console } from './variables/console.ts';
import { dangerous } from './variables/dangerous.ts';
import { facilitator } from './variables/facilitator.ts';
import { graphql } from './variables/graphql.ts';
import { hosts } from './variables/hosts.ts';
import { keys } from './variables/keys.ts';
import { limits } from './variables/limits.ts';
import { mail } from './variables/mail.ts';
import { owners } from './variables/owners.ts';
import { process } from './variables/process.ts';
import { storage } from './variables/storage.ts';
import { telemetry } from './variables/telemetry.ts';

/** The environment by heading, in the order of `.env.example`. */
export const GROUPS = {
  'What this process is and where it listens': process,
  'What it shows of itself': telemetry,
  'Where rows and workflows live': storage,
  'Chains, keys and secrets': keys,
  'How owners sign in': owners,
  'E-mail of alerts': mail,
  'The GraphQL endpoint': graphql,
  'The console': console,
  'How hosts are proven': hosts,
  "Another's facilitator": facilitator,
  Limits: limits,
  'For tests and development only': dangerous,
};

/** Every variable we read, by its name in `Config`. Nothing else of the environment has an effect on us. */
export const VARIABLES = {
  ...process,
  ...telemetry,
  ...storage,
  ...keys,
  ...owners,
  ...mail,
  ...graphql,
  ...console,
  ...hosts,
  ...facilitator,
  ...limits,
  ...dangerous,
};
