import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { urlsOfHosts } from '../../db/primary.ts';
import type { Environment } from '../../process/config/read.ts';
import { readConfig } from '../../process/config/read.ts';
import { ConfigError } from '../../process/config/variable.ts';
import { readApiConfig, readWorkerConfig } from '../../process/config.ts';
import { temporalServerOf } from '../../process/temporal.ts';

const folder = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ROUTER = `0x${'ab'.repeat(20)}`;
const KEY = `0x${randomBytes(32).toString('hex')}`;
const SECRET = randomBytes(32).toString('base64url');

const COMPLETE: Environment = {
  PUBLIC_BASE_URL: 'https://service.example',
  DATABASE_URL: 'postgres://service:geheim@127.0.0.1:5432/service',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  NETWORKS: JSON.stringify([{ id: 'eip155:84532', rpcUrls: ['http://127.0.0.1:8545'], router: ROUTER }]),
  RELAYER_PRIVATE_KEYS: JSON.stringify({ 'eip155:84532': [KEY] }),
  QUOTE_TOKEN_SECRETS: `${SECRET}, ${randomBytes(32).toString('hex')}`,
  API_KEY_PEPPER: SECRET,
  SECRETS_KEY: randomBytes(32).toString('base64url'),
};

/** The problems of an environment, by variable. */
function problemsOf(environment: Environment, needs: Parameters<typeof readConfig>[1] = []): Record<string, string> {
  try {
    readConfig(environment, needs);
  } catch (error) {
    if (error instanceof ConfigError) return Object.fromEntries(error.problems.map(({ name, problem }) => [name, problem]));
    throw error;
  }
  return {};
}

/** The problem of one variable set to one text. */
const problemOf = (name: string, value: string): string | undefined => problemsOf({ [name]: value })[name];

describe('TLS to Temporal', () => {
  const written = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  test('a certificate needs its key, and a key its certificate', () => {
    const path = written('some.pem', '-----BEGIN CERTIFICATE-----');
    expect(problemsOf({ TEMPORAL_TLS_CLIENT_CERT_PATH: path })).toHaveProperty('TEMPORAL_TLS_CLIENT_KEY_PATH');
    expect(problemsOf({ TEMPORAL_TLS_CLIENT_KEY_PATH: path })).toHaveProperty('TEMPORAL_TLS_CLIENT_CERT_PATH');
  });

  test('a file that is missing, and one that is not PEM, are named without their content', () => {
    expect(problemOf('TEMPORAL_TLS_SERVER_CA_CERT_PATH', join(folder, 'none.pem'))).toBe('names a file that cannot be read');
    expect(problemOf('TEMPORAL_TLS_SERVER_CA_CERT_PATH', written('der', '\x30\x82'))).toBe('names a file that is not PEM');
  });

  test('a key never crosses the network in plain text', () => {
    expect(problemsOf({ TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'key' })).toHaveProperty('TEMPORAL_TLS');
    const config = { ...COMPLETE, TEMPORAL_API_KEY: 'key' };
    expect(temporalServerOf(readWorkerConfig(config))).toEqual({ address: '127.0.0.1:7233', tls: {}, apiKey: 'key' });
  });

  test('without any of its variables Temporal is asked in plain text', () => {
    expect(temporalServerOf(readWorkerConfig(COMPLETE))).toEqual({ address: '127.0.0.1:7233' });
    expect(temporalServerOf(readWorkerConfig({ ...COMPLETE, TEMPORAL_TLS: 'true' })).tls).toEqual({});
  });
});

describe('defaults', () => {
  test('an empty environment is production on a loopback port with every dangerous switch off', () => {
    expect(readConfig({}, [])).toMatchObject({
      environment: 'production',
      logLevel: 'info',
      listenHost: '127.0.0.1',
      port: 8402,
      databasePoolSize: 10,
      temporalNamespace: 'default',
      priceFloorMicro: 1000n,
      settleWaitMs: 20_000,
      eventWindowMs: 300_000,
      reconcileIntervalMs: 60_000,
      sweepIntervalMs: 5_000,
      relayerInFlight: 4,
      gasBudgetWeiPerDay: 50_000_000_000_000_000n,
      networkGasBudgetWeiPerDay: 1_000_000_000_000_000_000n,
      outboundAllowLoopback: false,
      testKeysEnabled: false,
      crashAt: undefined,
    });
  });

  test('an empty text counts as not set', () => {
    expect(readConfig({ PORT: '', LOG_LEVEL: '', DATABASE_URL: '' }, [])).toMatchObject({ port: 8402, databaseUrl: undefined });
  });

  test('the direct database address is that of ordinary work unless it has one of its own', () => {
    expect(readApiConfig(COMPLETE).databaseDirectUrl).toBe(COMPLETE['DATABASE_URL']);
    expect(readApiConfig({ ...COMPLETE, DATABASE_DIRECT_URL: 'postgres://direct/x' }).databaseDirectUrl).toBe(
      'postgres://direct/x',
    );
  });
});

describe('a database of several hosts', () => {
  const both = 'postgres://service:geheim@db-1:5432,db-2:5433/service?target_session_attrs=read-write&sslmode=require';

  test('is taken as a primary and its standbys, each by its own address', () => {
    expect(readConfig({ DATABASE_URL: both }, []).databaseUrl).toBe(both);
    expect(urlsOfHosts(both)).toEqual([
      'postgres://service:geheim@db-1:5432/service?sslmode=require',
      'postgres://service:geheim@db-2:5433/service?sslmode=require',
    ]);
    expect(urlsOfHosts('postgres://a/b')).toEqual(['postgres://a/b']);
    expect(urlsOfHosts('https://a,b/c')).toEqual([]);
  });

  test('is refused where it asks for a server that may be a standby, and where a host is none', () => {
    const problemOf = (url: string): unknown => {
      try {
        return readConfig({ DATABASE_URL: url }, []);
      } catch (error) {
        return (error as ConfigError).problems[0]?.problem;
      }
    };
    expect(problemOf('postgres://db-1,db-2/service?target_session_attrs=any')).toMatch(
      /^target_session_attrs must be read-write/,
    );
    expect(problemOf('postgres://db-1,/service')).toMatch(/^must be a URL that starts with postgres/);
    expect(problemOf('mysql://db-1,db-2/service')).toMatch(/^must be a URL that starts with postgres/);
  });
});

describe('what each process gets', () => {
  test('the API does not carry the keys that pay gas nor the owner of the tables, even when they are set', () => {
    const config = readApiConfig({ ...COMPLETE, DATABASE_OWNER_URL: 'postgres://owner@127.0.0.1/service' });
    expect(JSON.stringify(Object.keys(config))).not.toMatch(/relayerPrivateKeys|databaseOwnerUrl/);
    expect(JSON.stringify(config, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))).not.toContain(KEY);
  });

  test('the worker gets them by network', () => {
    expect(readWorkerConfig(COMPLETE).relayerPrivateKeys).toEqual({ 'eip155:84532': [KEY] });
  });

  test('in production the API must be told its public address, the issuer of licences; elsewhere it need not', () => {
    const { PUBLIC_BASE_URL: _url, ...environment } = COMPLETE;
    expect(() => readApiConfig(environment)).toThrow(/PUBLIC_BASE_URL/);
    expect(readApiConfig({ ...environment, NODE_ENV: 'development' }).publicBaseUrl).toBeUndefined();
  });

  test('a config cannot be changed', () => {
    expect(Object.isFrozen(readApiConfig(COMPLETE))).toBe(true);
    expect(Object.isFrozen(readWorkerConfig(COMPLETE))).toBe(true);
  });

  test('secrets for quote tokens keep their order, newest first', () => {
    expect(readApiConfig(COMPLETE).quoteTokenSecrets[0]).toBe(SECRET);
    expect(readApiConfig(COMPLETE).quoteTokenSecrets).toHaveLength(2);
  });

  test('Base Sepolia needs no more than an address of a node and a router', () => {
    expect(readApiConfig(COMPLETE).networks).toMatchObject([{ id: 'eip155:84532', chainId: 84532, router: ROUTER }]);
  });
});

describe('errors', () => {
  test('all problems are told at once, each with the variable, the problem and an example', () => {
    const environment = { PORT: '70000', LOG_LEVEL: 'loud', SECRETS_KEY: 'short', RELAYER_IN_FLIGHT: '-1' };
    const problems = problemsOf(environment, ['databaseUrl', 'temporalAddress']);
    expect(Object.keys(problems).sort()).toEqual(
      ['DATABASE_URL', 'LOG_LEVEL', 'PORT', 'RELAYER_IN_FLIGHT', 'SECRETS_KEY', 'TEMPORAL_ADDRESS'].sort(),
    );
    expect(() => readConfig(environment, [])).toThrow(/PORT: must be a whole number from 0 to 65535 \(example: PORT=8402\)/);
  });

  test('no error repeats a value, whatever it is', () => {
    const mark = 'geheim-7f3a';
    for (const name of Object.keys(COMPLETE)) {
      for (const value of [
        mark,
        `["${mark}"]`,
        `{"eip155:1":["${mark}"]}`,
        `{"keys":["${mark}"]}`,
        `[{"id":"${mark}"}]`,
        `[{"${mark}":1,"id":"eip155:84532"}]`,
      ]) {
        try {
          readConfig({ [name]: value }, []);
        } catch (error) {
          expect((error as Error).message).not.toContain(mark);
        }
      }
    }
  });

  test.each([
    ['PORT', '1e3'],
    ['PORT', ' '],
    ['PUBLIC_BASE_URL', 'http://api.example.com'],
    ['PUBLIC_BASE_URL', 'api.example.com'],
    ['DATABASE_URL', 'mysql://x/y'],
    ['TEMPORAL_ADDRESS', 'http://127.0.0.1:7233'],
    ['RELAYER_IN_FLIGHT', '65'],
    ['PRICE_FLOOR_MICRO', '0'],
    ['GAS_BUDGET_WEI_PER_DAY', '0x10'],
    ['OUTBOUND_ALLOW_LOOPBACK', 'yes'],
    ['QUOTE_TOKEN_SECRETS', `${SECRET},short`],
    ['API_KEY_PEPPER', 'short'],
    ['SECRETS_KEY', randomBytes(31).toString('base64url')],
    ['RELAYER_PRIVATE_KEYS', '{"eip155:84532":[]}'],
    ['RELAYER_PRIVATE_KEYS', JSON.stringify({ 'eip155:84532': [KEY, KEY.toUpperCase().replace('0X', '0x')] })],
    ['RELAYER_PRIVATE_KEYS', 'not json'],
    ['LICENCE_KEYS', '{"keys":[]}'],
    ['NETWORKS', '[]'],
    ['NETWORKS', '[{"id":"eip155:84532","rpcUrls":[],"router":"0x00"}]'],
    ['NETWORKS', `[{"id":"eip155:10","rpcUrls":["https://rpc.example"],"router":"${ROUTER}"}]`],
    ['NODE_ENV', 'staging'],
    ['CRASH_AT', 'rm -rf'],
  ])('%s=%s is refused', (name, value) => {
    expect(problemOf(name, value)).toBeTypeOf('string');
  });

  test('what is meant for tests is refused in production and accepted elsewhere', () => {
    const dangerous = { OUTBOUND_ALLOW_LOOPBACK: 'true', CRASH_AT: 'after_sign', CONSOLE_DEMO_TOKEN: 'svc_owner_demo' };
    const refused = Object.keys(dangerous).toSorted();
    expect(Object.keys(problemsOf({ ...dangerous, NODE_ENV: 'production' })).sort()).toEqual(refused);
    expect(Object.keys(problemsOf(dangerous)).sort()).toEqual(refused);
    expect(problemsOf({ ...dangerous, NODE_ENV: 'test' })).toEqual({});
  });

  test('a client of the identity provider comes with its provider, and its secret with a client', () => {
    expect(problemsOf({ OIDC_CLIENT_ID: 'console' })).toEqual({ OIDC_ISSUER: 'is not set, but OIDC_CLIENT_ID is' });
    expect(problemsOf({ OIDC_CLIENT_SECRET: 'a secret' })).toEqual({ OIDC_CLIENT_ID: 'is not set, but OIDC_CLIENT_SECRET is' });
  });

  test('test keys are a setting of a live service, too', () => {
    expect(readConfig({ NODE_ENV: 'production', TEST_KEYS_ENABLED: 'true' }, []).testKeysEnabled).toBe(true);
  });

  test('the secrets key before is another one, and comes with a present one', () => {
    const [now, before] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
    expect(readConfig({ SECRETS_KEY: now, SECRETS_KEY_PREVIOUS: before }, []).secretsKeyPrevious).toHaveLength(32);
    expect(problemsOf({ ...COMPLETE, SECRETS_KEY: now, SECRETS_KEY_PREVIOUS: now })).toEqual({
      SECRETS_KEY_PREVIOUS: 'is the same as SECRETS_KEY',
    });
    expect(problemsOf({ SECRETS_KEY_PREVIOUS: before })['SECRETS_KEY']).toMatch(/is not set, but/);
  });

  test('the pepper before is another one, and comes with a present one', () => {
    const other = randomBytes(32).toString('base64url');
    const rotation = { API_KEY_PEPPER: SECRET, API_KEY_PEPPER_PREVIOUS: other };
    expect(readConfig(rotation, []).apiKeyPepperPrevious).toBe(other);
    expect(problemsOf({ ...COMPLETE, ...rotation, API_KEY_PEPPER_PREVIOUS: SECRET })).toEqual({
      API_KEY_PEPPER_PREVIOUS: 'is the same as API_KEY_PEPPER',
    });
    expect(problemsOf({ API_KEY_PEPPER_PREVIOUS: other })['API_KEY_PEPPER']).toMatch(/is not set, but/);
  });

  test('relayer keys and networks must name the same networks', () => {
    expect(problemsOf({ ...COMPLETE, RELAYER_PRIVATE_KEYS: JSON.stringify({ 'eip155:1': [KEY] }) })).toHaveProperty(
      'RELAYER_PRIVATE_KEYS',
    );
  });
});

describe('files', () => {
  test('a secret may stand in a file, whose last line break does not belong to it', () => {
    const path = join(folder, 'pepper');
    writeFileSync(path, `${SECRET}\n`);
    expect(readConfig({ API_KEY_PEPPER_FILE: path }, ['apiKeyPepper']).apiKeyPepper).toBe(SECRET);
  });

  test('both at once, and a file that cannot be read, are problems; the path is not repeated', () => {
    const path = join(folder, 'missing');
    expect(problemsOf({ API_KEY_PEPPER: SECRET, API_KEY_PEPPER_FILE: path })['API_KEY_PEPPER']).toMatch(/both/);
    expect(problemsOf({ API_KEY_PEPPER_FILE: path })['API_KEY_PEPPER']).toMatch(/cannot be read/);
    expect(JSON.stringify(problemsOf({ API_KEY_PEPPER_FILE: path }))).not.toContain(path);
  });

  test('a private JWK set is read from the file it is kept in', () => {
    const path = join(folder, 'keys.json');
    const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    writeFileSync(path, JSON.stringify({ keys: [{ ...jwk, kid: 'first' }] }));
    expect(readConfig({ LICENCE_KEYS_FILE: path }, []).licenceKeys).toEqual([{ ...jwk, kid: 'first' }]);
  });
});
