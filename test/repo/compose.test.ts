import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { RETENTION_DAYS } from '../../platform/temporal/namespace.ts';
import {
  readAdminConfig,
  readApiConfig,
  readMigrateConfig,
  readNamespaceConfig,
  readWorkerConfig,
} from '../../process/config.ts';
import { REPLICAS } from '../../sandbox/cluster/replicas.ts';
import { archiveSettings } from '../../sandbox/parts/postgres/archive.ts';
import { TEMPORAL_SERVER_VERSION } from '../../sandbox/parts/temporal-binary.mjs';
import { listKnownNames } from '../../tools/check/env-names.ts';
import { listPaths } from '../../tools/check/sources.ts';

interface ServiceEntry {
  readonly image: string;
  readonly build?: { readonly target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly secrets?: readonly string[];
  readonly deploy?: { readonly replicas: number };
  readonly networks?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly read_only?: boolean;
  readonly user?: string;
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}
interface Compose {
  readonly services: Readonly<Record<string, ServiceEntry>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const text = read('docker-compose.yml');
const { services, secrets, networks } = parse(text, { merge: true }) as Compose;
const dockerfile = read('Dockerfile');
const serverConfig = read('deploy/temporal/server.yaml');
const entries = Object.entries(services);
const ONE_SHOTS = ['temporal-schema', 'migrations', 'namespace', 'admin'];

const folder = mkdtempSync(join(tmpdir(), 'compose-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs bin/secrets.ts as the header of docker-compose.yml says. */
function makeSecrets(): string {
  return execFileSync(process.execPath, [join(ROOT, 'bin/secrets.ts'), folder], { encoding: 'utf8' });
}

/** The environment of a service as its container sees it, secrets read from the files `bin/secrets.ts` makes. */
function environmentOf(name: string): Record<string, string> {
  const { environment = {} } = services[name] as ServiceEntry;
  return Object.fromEntries(
    Object.entries(environment).flatMap(([variable, value]) =>
      value === null
        ? []
        : [[variable, value.replace('/run/secrets', folder).replace(/^\$\{PUBLIC_BASE_URL:.*$/, 'https://service.example')]],
    ),
  );
}

describe('docker-compose.yml', () => {
  test('starts the processes the cluster profile starts, as many of each', () => {
    expect(Object.keys(services).sort()).toEqual([
      'admin',
      'api',
      'disk',
      'migrations',
      'namespace',
      'postgres',
      'prometheus',
      'proxy',
      'temporal',
      'temporal-schema',
      'temporal-ui',
      'worker',
    ]);
    expect({ api: services['api']?.deploy?.replicas, worker: services['worker']?.deploy?.replicas }).toEqual(REPLICAS);
  });

  test('gives our processes only variables that the configuration knows', () => {
    const known = new Set(listKnownNames());
    for (const name of ['api', 'worker', 'migrations', 'namespace', 'admin']) {
      const unknown = Object.keys(services[name]?.environment ?? {}).filter((variable) => !known.has(variable));
      expect([name, unknown]).toEqual([name, []]);
    }
  });

  test('hands every variable of .env.example to API, worker and admin, but those meant for tests and those another process needs', () => {
    // Temporal is a container of its own, on a network that nothing else reaches.
    const secured = [...listKnownNames()].filter((name) => /^TEMPORAL_(TLS|API_KEY)/.test(name) && !name.endsWith('_FILE'));
    const tests = ['OUTBOUND_ALLOW_LOOPBACK', 'OUTBOUND_SANDBOX_WEB', 'CRASH_AT', 'GRAPHIQL_TOKEN', 'CONSOLE_DEMO_TOKEN'];
    const refused = [...tests, ...secured];
    const listening = ['HOST', 'PORT'];
    const api = [
      'DATABASE_READ_URL',
      'QUOTE_TOKEN_SECRETS',
      'API_KEY_PEPPER',
      'API_KEY_PEPPER_PREVIOUS',
      'LICENCE_KEYS',
      'TRUSTED_PROXIES',
      'OIDC_CLIENT_SECRET',
    ];
    const worker = ['RELAYER_PRIVATE_KEYS', 'SMTP_URL'];
    const missing = {
      api: [...refused, 'DATABASE_OWNER_URL', ...worker],
      worker: [...refused, 'DATABASE_OWNER_URL', ...api, ...listening],
      admin: [
        ...refused,
        'DATABASE_OWNER_URL',
        'DATABASE_READ_URL',
        'QUOTE_TOKEN_SECRETS',
        'SMTP_URL',
        'TRUSTED_PROXIES',
        'OIDC_CLIENT_SECRET',
        ...listening,
      ],
    };
    const names = listKnownNames().filter((name) => !name.endsWith('_FILE'));
    for (const [name, without] of Object.entries(missing)) {
      const given = Object.keys(services[name]?.environment ?? {}).map((variable) => variable.replace(/_FILE$/, ''));
      expect([name, names.filter((variable) => !given.includes(variable)).sort()]).toEqual([name, without.sort()]);
    }
    expect(services['migrations']?.environment).toHaveProperty('DATABASE_OWNER_URL_FILE');
  });

  test('gives Temporal only variables that its configuration and scripts read', () => {
    const readers = serverConfig + read('deploy/temporal/start.sh') + read('deploy/temporal/schema.sh');
    for (const name of ['temporal', 'temporal-schema']) {
      const unread = Object.keys(services[name]?.environment ?? {}).filter((variable) => !readers.includes(variable));
      expect([name, unread]).toEqual([name, []]);
    }
  });

  test('each process can read its configuration from the made secrets, in production', () => {
    expect(makeSecrets()).toContain(folder);
    expect(readApiConfig(environmentOf('api'))).toMatchObject({ environment: 'production', port: 8402, listenHost: '0.0.0.0' });
    expect(readWorkerConfig(environmentOf('worker'))).toMatchObject({ environment: 'production', metricsPort: 9464 });
    expect(readMigrateConfig(environmentOf('migrations')).databaseOwnerUrl).toMatch(/^postgres:\/\/svc_owner:[^@]{32}@postgres:/);
    expect(readNamespaceConfig(environmentOf('namespace')).temporalAddress).toBe('temporal:7233');
  });

  test('the API holds no key that pays gas; the worker none that signs licences or hashes credentials', () => {
    expect(services['api']?.secrets).not.toContain('relayer_private_keys');
    for (const name of ['licence_keys', 'api_key_pepper', 'quote_token_secrets'])
      expect(services['worker']?.secrets).not.toContain(name);
    for (const name of ['api', 'worker']) expect(services[name]?.secrets).not.toContain('database_owner_url');
  });

  test('bin/admin runs only when asked, with the keys of API and worker, and needs nothing that may be down', () => {
    makeSecrets();
    const { profiles, depends_on: needs, secrets: given = [] } = services['admin'] as ServiceEntry;
    expect({ profiles, needs }).toEqual({ profiles: ['admin'], needs: undefined });
    const config = readAdminConfig(environmentOf('admin'));
    expect(config).toMatchObject({ environment: 'production', temporalAddress: 'temporal:7233' });
    expect([config.networks, config.licenceKeys, config.relayerPrivateKeys].map((one) => one !== undefined)).toEqual([
      true,
      true,
      true,
    ]);
    expect(given).not.toContain('database_owner_url');
  });

  test('archives the WAL as the cluster does, by the scripts that the drill runs', () => {
    const { command = [], volumes = [] } = services['postgres'] as ServiceEntry;
    const scripts = '/etc/postgresql/scripts';
    const wanted = archiveSettings({ data: '', archive: { folder: '/archive', scripts } });
    expect(command.filter((word) => wanted.includes(word))).toEqual(wanted);
    expect(volumes).toEqual(expect.arrayContaining([`./deploy/postgres:${scripts}:ro`, 'archive:/archive']));
  });

  test('every secret a process names is given to it, comes from a file, and is made by bin/secrets.ts', () => {
    for (const [name, { environment = {}, secrets: given = [] }] of entries) {
      const wanted = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(\w+)$/.exec(String(value))?.[1] ?? []);
      expect([name, wanted.filter((secret) => !given.includes(secret))]).toEqual([name, []]);
      expect([name, given.filter((secret) => secrets[secret] === undefined)]).toEqual([name, []]);
    }
    makeSecrets();
    const files = Object.values(secrets).map(({ file }) => file.replace('./deploy/secrets/', ''));
    expect(readdirSync(folder).sort()).toEqual(files.sort());
  });

  test('making secrets again changes none, and nobody else can enter their folder', () => {
    makeSecrets();
    const before = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    makeSecrets();
    expect(readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))).toEqual(before);
    const filled = before.filter((secret) => secret !== '');
    expect(new Set(filled).size).toBe(filled.length);
    chmodSync(folder, 0o755);
    makeSecrets();
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(read('.gitignore')).toContain('deploy/secrets/');
  });

  test('holds no password: none in a value, none in an address, none by default', () => {
    const literals = entries.flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([variable]) => /PASSWORD|SECRET|PEPPER|KEY|TOKEN/.test(variable) && !variable.endsWith('_FILE'))
        .filter(([, value]) => value !== null)
        .map(([variable]) => `${name}: ${variable}`),
    );
    expect(literals).toEqual([]);
    for (const file of [
      'docker-compose.yml',
      'Dockerfile',
      'deploy/temporal/server.yaml',
      'deploy/postgres/init.sh',
      'deploy/haproxy.cfg',
    ]) {
      expect([file, read(file).match(/:\/\/[^\s/:@'"]+:[^\s/@'"]+@|password[=:]\s*['"]?\w{3,}/gi)]).toEqual([file, null]);
    }
  });

  test('every process that stays is watched, and what it needs is up before it', () => {
    for (const [name, { healthcheck, depends_on: needs = {} }] of entries) {
      const isOneShot = ONE_SHOTS.includes(name);
      expect([name, isOneShot ? healthcheck?.disable : (healthcheck?.test?.length ?? 0) > 1]).toEqual([name, true]);
      for (const [other, { condition }] of Object.entries(needs)) {
        const expected = ONE_SHOTS.includes(other) ? 'service_completed_successfully' : 'service_healthy';
        expect([name, other, condition]).toEqual([name, other, expected]);
      }
    }
    expect(Object.keys(services['api']?.depends_on ?? {}).sort()).toEqual(['migrations', 'namespace']);
    expect(Object.keys(services['worker']?.depends_on ?? {}).sort()).toEqual(['migrations', 'namespace']);
  });

  test('every container has bounds of memory and processes, no capability it does not name, and can gain none', () => {
    const megabytes = (limit = ''): number => Number.parseInt(limit, 10) * (limit.endsWith('g') ? 1024 : 1);
    for (const [name, one] of entries) {
      expect([name, megabytes(one.mem_limit) >= 128, (one.pids_limit ?? 0) >= 32]).toEqual([name, true, true]);
      expect([name, one.cap_drop, one.security_opt]).toEqual([name, ['ALL'], ['no-new-privileges:true']]);
    }
    expect(entries.filter(([, one]) => one.cap_add !== undefined).map(([name]) => name)).toEqual(['postgres']);
    expect(entries.filter(([, one]) => one.read_only !== true).map(([name]) => name)).toEqual(['temporal-ui']);
    const connections = Number(/max_connections=(\d+)/.exec(text)?.[1]);
    expect(services['postgres']?.pids_limit).toBeGreaterThan(connections + 50);
  });

  test('the proxy meets the API and whoever watches it; only who needs the world outside reaches it', () => {
    const meets = (name: string): string[] => {
      const mine = services[name]?.networks ?? [];
      const others = entries.filter(([other, one]) => other !== name && one.networks?.some((network) => mine.includes(network)));
      return others.map(([other]) => other).sort();
    };
    expect(meets('proxy')).toEqual(['api', 'prometheus']);
    expect(meets('temporal-ui')).not.toContain('postgres');
    expect(meets('migrations')).not.toContain('temporal');
    expect(entries.filter(([, one]) => one.networks === undefined).map(([name]) => name)).toEqual([]);
    expect([...new Set(entries.flatMap(([, one]) => one.networks ?? []))].sort()).toEqual(Object.keys(networks).sort());
    const open = entries.filter(([, one]) => one.networks?.some((network) => networks[network]?.internal !== true));
    expect(open.map(([name]) => name).sort()).toEqual(['admin', 'api', 'prometheus', 'proxy', 'temporal-ui', 'worker']);
    for (const name of ['postgres', 'temporal']) expect(meets('prometheus')).not.toContain(name);
  });

  test('opens three ports, all on this machine only unless told otherwise', () => {
    const ports = entries.flatMap(([name, { ports: open = [] }]) => open.map((port) => `${name} ${port}`));
    expect(ports).toEqual([
      'temporal-ui 127.0.0.1:8233:8080',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as compose writes variables
      'proxy ${PROXY_BIND:-127.0.0.1}:8402:8080',
      'prometheus 127.0.0.1:9090:9090',
    ]);
  });

  test('every file it and the Dockerfile name is there, and every script it runs', () => {
    const mounted = entries.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0] as string));
    const run = entries.flatMap(([, { command = [] }]) => command.filter((word) => word.startsWith('bin/')));
    for (const file of [...mounted.filter((path) => path.startsWith('./')), ...run])
      expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
  });
});

describe('Temporal in containers and in the cluster profile', () => {
  test('is built from the same version, on the same plugin, with one configuration file', () => {
    expect(dockerfile).toContain(`ARG TEMPORAL_VERSION=${TEMPORAL_SERVER_VERSION}`);
    expect([...serverConfig.matchAll(/pluginName: (\w+)/g)].map(([, plugin]) => plugin)).toEqual([
      'postgres12_pgx',
      'postgres12_pgx',
    ]);
    expect(read('deploy/temporal/schema.sh')).toContain('SQL_PLUGIN=postgres12_pgx');
    expect(dockerfile).toContain('COPY deploy/temporal /etc/temporal');
    expect(read('sandbox/parts/temporal-server.ts')).toContain("'../../deploy/temporal'");
  });

  test('runs with 512 history shards for money, and keeps closed workflows 30 days', () => {
    expect(services['temporal']?.environment?.['TEMPORAL_HISTORY_SHARDS']).toBe('512');
    expect(RETENTION_DAYS).toBeGreaterThanOrEqual(30);
    expect(services['namespace']?.command).toEqual(['node', 'bin/namespace.ts']);
  });
});

/** Stages of the Dockerfile, each from its first line. */
const stages = dockerfile.split(/^FROM /m).slice(1);

describe('the Dockerfile', () => {
  test('runs a Node that runs TypeScript, without development packages, as an ordinary user, and says how it is', () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24\.\d+-/m);
    const service = stages.find((stage) => stage.includes(' AS service'));
    expect(service).toMatch(/^USER 1000:1000$/m);
    expect(service).toMatch(/^HEALTHCHECK /m);
    expect(service).toContain('sbom.cdx.json');
    const packages = stages.find((stage) => stage.includes(' AS packages'));
    for (const step of [
      'npm ci --omit=dev --omit=peer --workspaces=false',
      'npm sbom --omit=dev --sbom-format',
      'bundleWorkflows.ts',
      'prune.mjs',
    ])
      expect(packages).toContain(step);
    const temporal = stages.find((stage) => stage.includes(' AS temporal\n'));
    expect(temporal).toMatch(/^USER temporal$/m);
    expect(temporal).toMatch(/^HEALTHCHECK /m);
  });

  test('every target docker-compose.yml builds is there', () => {
    const targets = [...dockerfile.matchAll(/ AS ([\w-]+)$/gm)].map(([, name]) => name);
    expect(entries.map(([, { build }]) => build?.target).filter((target) => target && !targets.includes(target))).toEqual([]);
  });

  test('names every foreign image once, by tag and digest, in a place that pin.mjs knows', () => {
    const named = execFileSync(process.execPath, [join(ROOT, 'deploy/image/pin.mjs'), 'list'], { encoding: 'utf8' });
    const images = named.trim().split('\n');
    const composed = entries.map(([, { image }]) => image).filter((image) => !image.startsWith('content-settlement/'));
    expect(images).toEqual(expect.arrayContaining(composed));
    expect(stages.every((stage) => stage.startsWith('${'))).toBe(true);
    expect(images.every((image) => /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image))).toBe(true);
  });

  test('lets into the image what the service runs with, and nothing else', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(
      allowed.filter((path) => /^(test|bench|docs|\.|examples|node_modules|sandbox)/.test(path) && path !== '.npmrc'),
    ).toEqual([]);
    expect(allowed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(lines).toContain('deploy/secrets');
    const refused = lines.slice(1).filter((line) => !line.startsWith('!'));
    const within = (path: string, folders: string[]): boolean =>
      folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
    const commands = ['api', 'worker', 'migrate', 'namespace', 'admin', 'rollups', 'secrets', 'roles', 'bundleWorkflows'].map(
      (name) => `bin/${name}.ts`,
    );
    const { files, packages } = importsOf([...commands, 'workflows/index.ts']);
    expect(files.length).toBeGreaterThan(200);
    expect(files.filter((path) => !within(path, allowed) || within(path, refused))).toEqual([]);
    const shipped = listPaths().filter((path) => path.startsWith('bin/') && !within(path, refused));
    expect(shipped.filter((path) => !files.includes(path))).toEqual([]);
    const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: Readonly<Record<string, string>> };
    expect(packages.filter((name) => dependencies[name] === undefined)).toEqual([]);
  });
});

/** Files and packages that are loaded by these files, however deep; types alone are not loaded. */
function importsOf(entryPoints: readonly string[]): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const files = new Set(entryPoints);
  const packages = new Set<string>();
  for (const file of files) {
    const source = read(file).replace(/^(?:import|export) type [^;]*;$/gm, '');
    const loaded = [
      ...source.matchAll(/(?:\bfrom |\bimport\(|^import |(new URL)\(|require\w*(?:<[^>]*>)?\()'([^']+)'(?!, folder)/gm),
    ];
    for (const [, isUrl, specifier = ''] of loaded) {
      if (/\.(ts|mjs)$/.test(specifier) && (isUrl !== undefined || /^\.{1,2}\//.test(specifier)))
        files.add(join(file, '..', specifier));
      else if (/^(@[\w-]+\/)?\w[\w.-]*(\/|$)/.test(specifier) && !specifier.startsWith('node:') && !specifier.includes('://'))
        packages.add(
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        );
    }
  }
  return { files: [...files], packages: [...packages] };
}
