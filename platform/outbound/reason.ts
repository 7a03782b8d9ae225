/** Why an outgoing request has no answer: codes only, nothing about the network behind them. */
export type OutboundReason =
  | 'invalid_url'
  | 'blocked_address'
  | 'dns_error'
  | 'timeout'
  | 'tls_error'
  | 'connection_failed'
  | 'bad_response'
  | 'too_large';

/** An answer of the resolver may not be connected to. */
export class BlockedAddressError extends Error {
  readonly code = 'SVC_BLOCKED_ADDRESS';

  constructor() {
    super('the name resolves to a special-use address');
    this.name = 'BlockedAddressError';
  }
}

/** The name could not be resolved. */
export class NameError extends Error {
  readonly code = 'SVC_DNS';

  constructor(options: ErrorOptions) {
    super('the name could not be resolved', options);
    this.name = 'NameError';
  }
}

const REASON_BY_CODE: Readonly<Record<string, OutboundReason>> = {
  SVC_BLOCKED_ADDRESS: 'blocked_address',
  SVC_DNS: 'dns_error',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  ETIMEDOUT: 'timeout',
  EPROTO: 'tls_error',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_error',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_error',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_error',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_error',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_error',
  CERT_HAS_EXPIRED: 'tls_error',
  CERT_NOT_YET_VALID: 'tls_error',
  HOSTNAME_MISMATCH: 'tls_error',
};

/** The reason of whatever a request threw; `connection_failed` for what has no other name. */
export function reasonOfError(error: unknown): OutboundReason {
  const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: unknown };
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  if (typeof code === 'string') {
    const known = REASON_BY_CODE[code];
    if (known !== undefined) return known;
    if (/^(ERR_TLS_|ERR_SSL_|CERT_)/.test(code)) return 'tls_error';
    if (code.startsWith('HPE_HEADER_OVERFLOW')) return 'too_large';
  }
  if (name === 'HTTPParserError') return 'bad_response';
  if (name === 'AggregateError') {
    const first: unknown = (error as AggregateError).errors[0];
    return first === undefined ? 'connection_failed' : reasonOfError(first);
  }
  return cause instanceof Error ? reasonOfError(cause) : 'connection_failed';
}
