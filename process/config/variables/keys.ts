import { licenceKeys, relayerKeys } from '../keys.ts';
import { networks } from '../networks.ts';
import { flag, key32, secret, secretList } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** Chains, keys and secrets. */
export const keys = {
  networks: optional({
    name: 'NETWORKS',
    about:
      'The networks we settle on, a JSON list, the cheapest first; Base, Polygon, Arbitrum One and their test networks need id, rpcUrls and router only.',
    example: '[{"id":"eip155:8453","rpcUrls":["https://rpc.example"],"router":"0x…"}]',
    fromFile: true,
    schema: networks,
  }),
  relayerPrivateKeys: optional({
    name: 'RELAYER_PRIVATE_KEYS',
    about: 'Keys that pay gas, by network, as JSON: 0x…, or aws-kms:<ARN> or gcp-kms:<key version>; only the worker takes it.',
    example: '{"eip155:8453":["0x…"]}',
    fromFile: true,
    schema: relayerKeys,
  }),
  licenceKeys: optional({
    name: 'LICENCE_KEYS',
    about: 'Private JWK set (Ed25519) that signs licences, newest first; its public half is served as JWKS.',
    example: '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"…","d":"…"}]}',
    fromFile: true,
    schema: licenceKeys,
  }),
  quoteTokenSecrets: optional({
    name: 'QUOTE_TOKEN_SECRETS',
    about: 'Secrets of quote tokens, comma-separated, newest first, 32 bytes or more each; keep an old one for 10 minutes.',
    example: 'newest…,previous…',
    fromFile: true,
    schema: secretList,
  }),
  apiKeyPepper: optional({
    name: 'API_KEY_PEPPER',
    about: 'Keys the hash of every stored API key, 32 bytes or more; rotated with API_KEY_PEPPER_PREVIOUS.',
    example: 'openssl-rand-base64-48…',
    fromFile: true,
    schema: secret,
  }),
  apiKeyPepperPrevious: optional({
    name: 'API_KEY_PEPPER_PREVIOUS',
    about: 'The previous pepper, during a rotation: keys found under it move to API_KEY_PEPPER when they are used.',
    example: 'openssl-rand-base64-48…',
    fromFile: true,
    schema: secret,
  }),
  secretsKey: optional({
    name: 'SECRETS_KEY',
    about: 'Encrypts webhook secrets at rest: 32 bytes in base64url; rotated with SECRETS_KEY_PREVIOUS.',
    example: '43-characters-of-base64url…',
    fromFile: true,
    schema: key32,
  }),
  secretsKeyPrevious: optional({
    name: 'SECRETS_KEY_PREVIOUS',
    about: 'The previous key, during a rotation: decrypts what it sealed, until `admin secrets rotate` has run.',
    example: '43-characters-of-base64url…',
    fromFile: true,
    schema: key32,
  }),
  testKeysEnabled: withDefault({
    name: 'TEST_KEYS_ENABLED',
    about:
      'Accepts svc_test_ keys, in production too: publishers try their integration with them. Their settlements are mock and never count as money; we sign their licences, marked settlementRefKind: mock.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
};
