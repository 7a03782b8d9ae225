import { flag, pemFile, postgresUrl, standbyUrl, text, url } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** Where rows and workflows live. */
export const storage = {
  databaseUrl: optional({
    name: 'DATABASE_URL',
    about:
      'Postgres for ordinary work; may lead through a transaction pooler. Several hosts (postgres://service@a:5432,b:5432/service) are a primary and its standbys: the one that takes writes is used, also after a failover.',
    example: 'postgres://service@db.example:5432/service',
    fromFile: true,
    schema: postgresUrl,
  }),
  databaseDirectUrl: optional({
    name: 'DATABASE_DIRECT_URL',
    about: 'Postgres without a pooler in between, for LISTEN and advisory locks. Not set: DATABASE_URL.',
    example: 'postgres://service@db.example:5432/service',
    fromFile: true,
    schema: postgresUrl,
  }),
  databaseOwnerUrl: optional({
    name: 'DATABASE_OWNER_URL',
    about: 'Postgres as the role that owns the tables; only migrations and `admin partitions drop` need it.',
    example: 'postgres://owner@db.example:5432/service',
    fromFile: true,
    schema: postgresUrl,
  }),
  databaseStatementNames: withDefault({
    name: 'DATABASE_STATEMENT_NAMES',
    about: 'false behind a transaction pooler that does not know prepared statements (PgBouncer before 1.21).',
    example: 'true',
    fallback: 'true',
    schema: flag,
  }),
  databaseReadUrl: optional({
    name: 'DATABASE_READ_URL',
    about:
      'Standbys of Postgres that GraphQL reads from while they are at most 5 s behind (postgres://service@a:5432,b:5432/service); else DATABASE_URL is read.',
    example: 'postgres://service@replica.example:5432/service',
    fromFile: true,
    schema: standbyUrl,
  }),
  temporalAddress: optional({
    name: 'TEMPORAL_ADDRESS',
    about: 'host:port of the Temporal frontend.',
    example: 'temporal.example:7233',
    schema: text.regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/, 'must be host:port'),
  }),
  temporalNamespace: withDefault({
    name: 'TEMPORAL_NAMESPACE',
    about: 'The Temporal namespace; its retention must be at least 30 days.',
    example: 'default',
    fallback: 'default',
    schema: text,
  }),
  temporalTls: optional({
    name: 'TEMPORAL_TLS',
    about: 'true: Temporal is reached by TLS. Not set: by TLS if any of the next five is set.',
    example: 'true',
    schema: flag,
  }),
  temporalApiKey: optional({
    name: 'TEMPORAL_API_KEY',
    about: 'Shown to Temporal with every call, as Temporal Cloud wants it. A new one takes a restart.',
    example: '<key>',
    fromFile: true,
    schema: text,
  }),
  temporalTlsClientCert: optional({
    name: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
    about: 'File (PEM) with the certificate that this process shows to Temporal (mTLS).',
    example: '/run/secrets/temporal_client.pem',
    schema: pemFile,
  }),
  temporalTlsClientKey: optional({
    name: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
    about: 'File (PEM) with the private key of that certificate.',
    example: '/run/secrets/temporal_client.key',
    schema: pemFile,
  }),
  temporalTlsServerCa: optional({
    name: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    about:
      'File (PEM) with the authority that signed the certificate of Temporal. Not set: those of Node for clients, those of the operating system for workers.',
    example: '/run/secrets/temporal_ca.pem',
    schema: pemFile,
  }),
  temporalTlsServerName: optional({
    name: 'TEMPORAL_TLS_SERVER_NAME',
    about: 'The name that the certificate of Temporal carries, where it is not the host of TEMPORAL_ADDRESS.',
    example: 'temporal.example',
    schema: text,
  }),
  temporalUiUrl: optional({
    name: 'TEMPORAL_UI_URL',
    about: 'Address of the Temporal UI; used in links only.',
    example: 'https://temporal.example.com',
    schema: url('https', 'http'),
  }),
};
