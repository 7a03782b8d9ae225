import type { Config, ConfigWith, Environment } from './config/read.ts';
import { readConfig } from './config/read.ts';

const API_NEEDS = ['databaseUrl', 'temporalAddress', 'networks', 'quoteTokenSecrets', 'apiKeyPepper', 'secretsKey'] as const;
const WORKER_NEEDS = ['databaseUrl', 'temporalAddress', 'networks', 'relayerPrivateKeys', 'secretsKey'] as const;

/** What the API runs with. It never holds a key that pays gas. */
export type ApiConfig = Omit<ConfigWith<(typeof API_NEEDS)[number]>, 'relayerPrivateKeys' | 'databaseOwnerUrl'>;

/** What the worker runs with. */
export type WorkerConfig = Omit<ConfigWith<(typeof WORKER_NEEDS)[number]>, 'databaseOwnerUrl'>;

/** What a migration runs with. */
export type MigrateConfig = ConfigWith<'databaseOwnerUrl'>;

/**
 * Reads the API's environment; relayer keys that happen to be in it are not carried on. In production `PUBLIC_BASE_URL` must be
 * set: it is the issuer of licences, which has to be one for all API processes. @throws ConfigError with every problem.
 */
export function readApiConfig(environment: Environment = process.env): ApiConfig {
  const isProduction = (environment['NODE_ENV'] || 'production') === 'production';
  const needs = isProduction ? ([...API_NEEDS, 'publicBaseUrl'] as const) : API_NEEDS;
  const { relayerPrivateKeys: _keys, databaseOwnerUrl: _owner, ...config } = readConfig(environment, needs);
  return Object.freeze(config);
}

/** Reads the worker's environment. @throws ConfigError with every problem. */
export function readWorkerConfig(environment: Environment = process.env): WorkerConfig {
  const { databaseOwnerUrl: _owner, ...config } = readConfig(environment, WORKER_NEEDS);
  return Object.freeze(config);
}

/** Reads the environment of a migration. @throws ConfigError with every problem. */
export function readMigrateConfig(environment: Environment = process.env): MigrateConfig {
  return readConfig(environment, ['databaseOwnerUrl']);
}

/** Reads the environment of `bin/namespace`. @throws ConfigError with every problem. */
export function readNamespaceConfig(environment: Environment = process.env): ConfigWith<'temporalAddress'> {
  return readConfig(environment, ['temporalAddress']);
}

/** Reads the environment of `bin/admin`, which needs the database and the pepper of API keys. @throws ConfigError with every problem. */
export function readAdminConfig(environment: Environment = process.env): ConfigWith<'databaseUrl' | 'apiKeyPepper'> {
  return readConfig(environment, ['databaseUrl', 'apiKeyPepper']);
}

export type { Config, Environment };
