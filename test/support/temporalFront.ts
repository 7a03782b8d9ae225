/**
 * A front of Temporal's as a managed one has it: TLS by an authority of its own, which asks for a client's certificate and for a key with every call.
 * The certificates are worth nothing outside these tests and end in a hundred years.
 */
import { once } from 'node:events';
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Session } from 'node:http2';
import { connect, constants, createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

export const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBrDCCAVOgAwIBAgIUYrfmQ21lthZPJDfOAol7580LiiswCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYYXV0aG9yaXR5IG9mIHRoZXNlIHRlc3RzMCAXDTI2MTEzMDAx
MTY0NVoYDzIxMjYxMTA2MDExNjQ1WjAjMSEwHwYDVQQDDBhhdXRob3JpdHkgb2Yg
dGhlc2UgdGVzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQKYX8d/KT3FlFL
GplCRphXFrHabPci2J/O3BXX+Moiiz7cuO/lJ+ngUtFk+ParyO+eNlOqP0BJDAjR
mFpg6oqHo2MwYTAdBgNVHQ4EFgQUmP9SjO+jOny0Ku3acxYbpcAbqqIwHwYDVR0j
BBgwFoAUmP9SjO+jOny0Ku3acxYbpcAbqqIwDwYDVR0TAQH/BAUwAwEB/zAOBgNV
HQ8BAf8EBAMCAgQwCgYIKoZIzj0EAwIDRwAwRAIgTaYQYFSMbpgUcsRUirkSxdbU
c0HGb0uyc5OOaMobq80CICqg4zqPe3Pw4AxTj/nNtUKR9cbsSFw9+qUDLJ8ggPem
-----END CERTIFICATE-----
`;
const SERVER_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6cJ74ia3hsXI6c0o
prWyuMe4shJQJNxfNbWZBU3mIwGhRANCAATLAIkPLJW5uWwzbyiNa9+11ciVC0Uy
DU9LwbH0ic5GVttoYo5Gu5sZc5cnPz59OCGzH2qqOrc+eyIfYkNabt5+
-----END PRIVATE KEY-----
`;
const SERVER_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBtjCCAV2gAwIBAgIUZZxFIki0HOujUU0r+tUzPtyd/dIwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYYXV0aG9yaXR5IG9mIHRoZXNlIHRlc3RzMCAXDTI2MTEzMDAx
MTY0NVoYDzIxMjYxMTA2MDExNjQ1WjARMQ8wDQYDVQQDDAZzZXJ2ZXIwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAATLAIkPLJW5uWwzbyiNa9+11ciVC0UyDU9LwbH0
ic5GVttoYo5Gu5sZc5cnPz59OCGzH2qqOrc+eyIfYkNabt5+o38wfTAbBgNVHREE
FDASghB0ZW1wb3JhbC5leGFtcGxlMBMGA1UdJQQMMAoGCCsGAQUFBwMBMAkGA1Ud
EwQCMAAwHQYDVR0OBBYEFJR7c6hi4PR+irWWg6azkX/soJniMB8GA1UdIwQYMBaA
FJj/Uozvozp8tCrt2nMWG6XAG6qiMAoGCCqGSM49BAMCA0cAMEQCIBMMtCd3TyFh
2gNAWCKACnSLdATMV6IQQZwsCqiDJty3AiBckFdzejlq79pXXcS3H1l6RIUhKE/B
fTdM5Iy/lFFxqQ==
-----END CERTIFICATE-----
`;
export const CLIENT_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3mIDiAGv10oDoLNX
593sWtzzt1Pm2t4YUwg3La81WVWhRANCAAQOXPdTqvXeTdhZJWfPGeHcLx/Ov9NE
EbKnTimUXt4lMhzfMZewz3V3NfDsWQfxIdZyS40rHjaWLznCiLG5+yw4
-----END PRIVATE KEY-----
`;
export const CLIENT_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUCgAwIBAgIUAuHtrZ5EitbKdd2zurRkLMK8RUwwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYYXV0aG9yaXR5IG9mIHRoZXNlIHRlc3RzMCAXDTI2MTEzMDAx
MTY0NVoYDzIxMjYxMTA2MDExNjQ1WjARMQ8wDQYDVQQDDAZjbGllbnQwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQOXPdTqvXeTdhZJWfPGeHcLx/Ov9NEEbKnTimU
Xt4lMhzfMZewz3V3NfDsWQfxIdZyS40rHjaWLznCiLG5+yw4o2IwYDATBgNVHSUE
DDAKBggrBgEFBQcDAjAJBgNVHRMEAjAAMB0GA1UdDgQWBBTGGpejic1MKo2SfGU9
Jy5Z7fsteTAfBgNVHSMEGDAWgBSY/1KM76M6fLQq7dpzFhulwBuqojAKBggqhkjO
PQQDAgNJADBGAiEArzWmfH6+5JkhVssJhSg5B2fheMNewEiGOjjy4u60TXcCIQCy
jWpRKDFLdszeFF5xic2trvrV/7JjvLqolI14dh/Vcg==
-----END CERTIFICATE-----
`;

/** The name in the front's certificate. */
export const FRONT_NAME = 'temporal.example';

/** A front that is listening. */
export interface TemporalFront {
  readonly address: string;
  /** How many calls came with the right key, and how many without. */
  readonly calls: { allowed: number; refused: number };
  close(): Promise<void>;
}

/** Opens a front of the Temporal at `behind` (host:port) on a loopback port. The caller closes it. */
export async function startTemporalFront(behind: string, apiKey: string): Promise<TemporalFront> {
  const upstream = connect(`http://${behind}`);
  const calls = { allowed: 0, refused: 0 };
  const sessions = new Set<ServerHttp2Session>();
  const server: Http2SecureServer = createSecureServer({
    key: SERVER_KEY,
    cert: SERVER_CERTIFICATE,
    ca: AUTHORITY,
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.authorization !== `Bearer ${apiKey}`) {
      calls.refused += 1;
      // gRPC's UNAUTHENTICATED
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
      return;
    }
    calls.allowed += 1;
    const call = upstream.request({ ...headers, ':scheme': 'http', ':authority': behind });
    let trailers: IncomingHttpHeaders = {};
    call.on('response', (answer, flags) => {
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      if (stream.destroyed) return;
      stream.respond(answer, { endStream, waitForTrailers: !endStream });
      if (!endStream) call.pipe(stream);
    });
    call.on('trailers', (sent) => {
      trailers = sent;
    });
    call.on('error', () => stream.close());
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => call.close());
    stream.pipe(call);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
