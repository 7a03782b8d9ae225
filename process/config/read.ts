import { readFileSync } from 'node:fs';
import type { Problem, Variable } from './variable.ts';
import { ConfigError } from './variable.ts';
import { VARIABLES } from './variables.ts';

type Variables = typeof VARIABLES;
type Value<V> = V extends { readonly fallback: string } & Variable<infer T>
  ? T
  : V extends Variable<infer T>
    ? T | undefined
    : never;

/** The environment, read and typed; a variable without a default and without a value is `undefined`. */
export type Config = { readonly [K in keyof Variables]: Value<Variables[K]> };

/** A config in which the named values are present. */
export type ConfigWith<N extends keyof Config> = Config & { readonly [K in N]-?: NonNullable<Config[K]> };

/** The environment as the operating system hands it over. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the whole environment at once. `needs` names what this process cannot run without; a variable that may come
 * from a file is read from `<name>_FILE` when that is set. Empty text counts as not set, in a file too. The result is frozen; a
 * second call with the same environment gives an equal one.
 *
 * @throws ConfigError that lists every problem, never a value.
 */
export function readConfig<const N extends keyof Config>(environment: Environment, needs: readonly N[]): ConfigWith<N> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES) as [keyof Config, Variable<unknown>][]) {
    const read = readVariable(variable, environment);
    if (read.problem !== undefined) problems.push({ name: variable.name, problem: read.problem, example: variable.example });
    else if (read.value === undefined && (needs as readonly string[]).includes(key)) {
      problems.push({ name: variable.name, problem: 'is not set', example: variable.example });
    }
    values[key] = read.value;
  }
  const config = { ...values, databaseDirectUrl: values['databaseDirectUrl'] ?? values['databaseUrl'] } as ConfigWith<N>;
  problems.push(...findContradictions(config));
  if (problems.length > 0) throw new ConfigError(problems);
  Object.freeze(config);
  return config;
}

type Read = { readonly value: unknown; readonly problem?: undefined } | { readonly problem: string; readonly value?: undefined };

function readVariable(variable: Variable<unknown>, environment: Environment): Read {
  const direct = environment[variable.name] || undefined;
  const path = variable.fromFile ? environment[`${variable.name}_FILE`] || undefined : undefined;
  if (direct !== undefined && path !== undefined) return { problem: `is set both directly and as ${variable.name}_FILE` };
  let text = direct ?? variable.fallback;
  if (path !== undefined) {
    try {
      text = readFileSync(path, 'utf8').trim() || variable.fallback;
    } catch {
      return { problem: `cannot be read from the file that ${variable.name}_FILE names` };
    }
  }
  if (text === undefined) return { value: undefined };
  const result = variable.schema.safeParse(text);
  if (result.success) return { value: result.data };
  const [first] = result.error.issues;
  const place = first?.path.length ? `${first.path.join('.')} ` : '';
  return { problem: `${place}${first?.message ?? 'is not valid'}` };
}

/** What is wrong with two values together; both were fine alone. */
function findContradictions(config: Config): Problem[] {
  const problems: Problem[] = [];
  const refuse = (key: keyof Config, problem: string): void => {
    problems.push({ name: VARIABLES[key].name, problem, example: VARIABLES[key].example });
  };
  if (config.environment === 'production') {
    if (config.outboundAllowLoopback) refuse('outboundAllowLoopback', 'must not be true with NODE_ENV=production');
    if (config.outboundSandboxWeb !== undefined) refuse('outboundSandboxWeb', 'must not be set with NODE_ENV=production');
    if (config.graphiqlToken !== undefined) refuse('graphiqlToken', 'must not be set with NODE_ENV=production');
    if (config.consoleDemoToken !== undefined) refuse('consoleDemoToken', 'must not be set with NODE_ENV=production');
    if (config.crashAt !== undefined) refuse('crashAt', 'must not be set with NODE_ENV=production');
  }
  if (config.oidcIssuer !== undefined && config.oidcAudience === undefined)
    refuse('oidcAudience', 'is not set, but OIDC_ISSUER is');
  if (config.oidcClientId !== undefined && config.oidcIssuer === undefined)
    refuse('oidcIssuer', 'is not set, but OIDC_CLIENT_ID is');
  if (config.oidcClientSecret !== undefined && config.oidcClientId === undefined)
    refuse('oidcClientId', 'is not set, but OIDC_CLIENT_SECRET is');
  if (config.apiKeyPepperPrevious !== undefined) {
    if (config.apiKeyPepper === undefined) refuse('apiKeyPepper', 'is not set, but API_KEY_PEPPER_PREVIOUS is');
    if (config.apiKeyPepperPrevious === config.apiKeyPepper) refuse('apiKeyPepperPrevious', 'is the same as API_KEY_PEPPER');
  }
  if (config.secretsKeyPrevious !== undefined) {
    if (config.secretsKey === undefined) refuse('secretsKey', 'is not set, but SECRETS_KEY_PREVIOUS is');
    else if (Buffer.compare(config.secretsKeyPrevious, config.secretsKey) === 0) {
      refuse('secretsKeyPrevious', 'is the same as SECRETS_KEY');
    }
  }
  const { temporalTlsClientCert, temporalTlsClientKey } = config;
  if (temporalTlsClientCert !== undefined && temporalTlsClientKey === undefined)
    refuse('temporalTlsClientKey', 'is not set, but TEMPORAL_TLS_CLIENT_CERT_PATH is');
  if (temporalTlsClientKey !== undefined && temporalTlsClientCert === undefined)
    refuse('temporalTlsClientCert', 'is not set, but TEMPORAL_TLS_CLIENT_KEY_PATH is');
  const needsTls = config.temporalApiKey ?? temporalTlsClientCert ?? config.temporalTlsServerCa ?? config.temporalTlsServerName;
  if (config.temporalTls === false && needsTls !== undefined)
    refuse('temporalTls', 'must not be false while an API key, a certificate, an authority or a server name of Temporal is set');
  const known = config.networks?.map((network) => network.id);
  const unknown = Object.keys(config.relayerPrivateKeys ?? {}).filter((id) => known && !known.includes(id));
  if (unknown.length > 0) refuse('relayerPrivateKeys', 'names a network that NETWORKS does not hold');
  const relayed = config.networks?.filter(({ settler }) => settler !== 'facilitator').map(({ id }) => id);
  const keyless = relayed?.filter((id) => config.relayerPrivateKeys && !Object.hasOwn(config.relayerPrivateKeys, id));
  if (keyless?.length) refuse('relayerPrivateKeys', `holds no key for ${keyless.join(', ')}`);
  const handsOver = config.networks?.some(({ settler }) => settler === 'facilitator') ?? false;
  if (handsOver && config.facilitatorUrl === undefined) refuse('facilitatorUrl', 'is not set, and a network settles through it');
  return problems;
}
