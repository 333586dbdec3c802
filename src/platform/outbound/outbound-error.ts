export type OutboundReason =
  /** The policy forbids the target. Nothing was sent. */
  | 'blocked'
  | 'timeout'
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'malformed'
  | 'failed';

const MESSAGES: Readonly<Record<OutboundReason, string>> = {
  blocked: 'The target is not allowed',
  timeout: 'There was no complete answer in time',
  dns: 'The host name could not be resolved',
  refused: 'The connection was refused',
  unreachable: 'The host could not be reached',
  reset: 'The connection was closed before the answer was complete',
  tls: 'No secure connection could be made',
  malformed: 'The answer was not valid HTTP',
  failed: 'The call failed',
};

/** A call that got no answer. The message contains no address, because customers see it. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly reason: OutboundReason,
    readonly durationMs: number,
    options: { readonly detail?: string | undefined; readonly cause?: unknown } = {},
  ) {
    const { detail, cause } = options;
    super(`${MESSAGES[reason]}${detail === undefined ? '' : ` (${detail})`}.`, { cause });
  }
}

/** A host name has no address, or an address that the policy forbids. */
export class TargetError extends Error {
  override readonly name = 'TargetError';

  constructor(
    readonly reason: 'blocked' | 'dns',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const REASONS: Readonly<Record<string, OutboundReason>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EPROTO: 'tls',
};

/** Codes of Node for failed handshakes, and of OpenSSL for untrusted certificates. */
const TLS_CODE =
  /^(ERR_SSL_|ERR_TLS_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|HOSTNAME_MISMATCH|PATH_LENGTH_|ERROR_IN_)/;

/** Prefix of the codes of Node's HTTP parser. */
const PARSER_CODE = 'HPE_';

/** Converts an error of the HTTP client or of a socket. */
export function toOutboundError(error: unknown, durationMs: number): OutboundError {
  if (error instanceof TargetError) {
    const detail = error.reason === 'blocked' ? error.message : undefined;
    return new OutboundError(error.reason, durationMs, { detail, cause: error });
  }
  const code = codeOf(error);
  return new OutboundError(reasonOf(code), durationMs, { detail: code, cause: error });
}

function reasonOf(code: string | undefined): OutboundReason {
  if (code === undefined) return 'failed';
  if (code.startsWith(PARSER_CODE)) return 'malformed';
  return REASONS[code] ?? (TLS_CODE.test(code) ? 'tls' : 'failed');
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
