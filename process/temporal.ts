import type { TemporalServer } from '../platform/temporal/connection.ts';
import type { Config, ConfigWith } from './config/read.ts';

type TemporalPart = Extract<keyof Config, `temporal${string}`>;

/** Temporal as the environment names it: with TLS where one of its certificates, its name or a key is set. */
export function temporalServerOf(config: Pick<ConfigWith<'temporalAddress'>, TemporalPart>): TemporalServer {
  const { temporalAddress: address, temporalApiKey: apiKey, temporalTlsClientCert: crt, temporalTlsClientKey: key } = config;
  const { temporalTlsServerCa: serverRootCACertificate, temporalTlsServerName: serverNameOverride } = config;
  const secured =
    config.temporalTls ?? [apiKey, crt, serverRootCACertificate, serverNameOverride].some((part) => part !== undefined);
  if (!secured) return { address };
  return {
    address,
    tls: {
      ...(serverRootCACertificate ? { serverRootCACertificate } : {}),
      ...(serverNameOverride ? { serverNameOverride } : {}),
      ...(crt && key ? { clientCertPair: { crt, key } } : {}),
    },
    ...(apiKey ? { apiKey } : {}),
  };
}
