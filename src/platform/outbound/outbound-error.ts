/** Why no answer came. */
export type OutboundReason =
  /** The policy forbids the target; nothing was sent. */
  | 'blocked'
  | 'timeout'
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'malformed'
  | 'failed';

const MEANING: Readonly<Record<OutboundReason, string>> = {
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

/** A call without an answer. The message is for people, customers among them: it names no address. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly reason: OutboundReason,
    readonly durationMs: number,
    options: { readonly detail?: string | undefined; readonly cause?: unknown } = {},
  ) {
    const { detail, cause } = options;
    super(`${MEANING[reason]}${detail === undefined ? '' : ` (${detail})`}.`, { cause });
  }
}

/** Where a host name does not lead to addresses that a call may go to. */
export class NoTargetError extends Error {
  override readonly name = 'NoTargetError';

  constructor(
    readonly reason: 'blocked' | 'dns',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Codes of errors of sockets, by what they mean to the caller. */
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

/** What Node says of a handshake that failed, and OpenSSL of a certificate that cannot be trusted. */
const TLS_CODE =
  /^(ERR_SSL_|ERR_TLS_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|HOSTNAME_MISMATCH|PATH_LENGTH_|ERROR_IN_)/;

/** What the parser of answers says. */
const PARSER_CODE = 'HPE_';

/** The error of a call, from what the HTTP client or a socket failed with. */
export function toOutboundError(error: unknown, durationMs: number): OutboundError {
  if (error instanceof NoTargetError) {
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
