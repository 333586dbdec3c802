import { TargetError, OutboundError, toOutboundError } from './outbound-error';

function failure(code: string): Error {
  return Object.assign(new Error(`connect ${code} 10.1.2.3:443`), { code });
}

describe('a call without an answer', () => {
  it.each([
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['ETIMEDOUT', 'timeout'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['HPE_INVALID_CONSTANT', 'malformed'],
    ['HPE_HEADER_OVERFLOW', 'malformed'],
    ['EPROTO', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['EMFILE', 'failed'],
  ])('%s is %s, and the message contains no address', (code, reason) => {
    const error = toOutboundError(failure(code), 12);
    expect(error).toBeInstanceOf(OutboundError);
    expect(error).toMatchObject({ reason, durationMs: 12 });
    expect(error.message).toContain(`(${code})`);
    expect(error.message).not.toContain('10.1.2.3');
  });

  it.each([
    ['blocked', 'The target is not allowed (why).'],
    ['dns', 'The host name could not be resolved.'],
  ] as const)('says %s of its target', (reason, message) => {
    const error = toOutboundError(new TargetError(reason, 'why'), 0);
    expect(error).toMatchObject({ reason, message });
  });

  it.each([null, 'text', new Error('nothing known'), { code: 7 }])('failed with %p', (error) => {
    expect(toOutboundError(error, 0)).toMatchObject({ reason: 'failed' });
  });
});
