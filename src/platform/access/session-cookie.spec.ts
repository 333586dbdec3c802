import type { Request } from 'express';
import {
  csrfTokenOf,
  needsSecureCookie,
  refuseCrossSiteSignIn,
  refuseCrossSiteRequest,
  sessionSecretOf,
  TLS_ONLY,
} from './session-cookie';

function requestWith(headers: Request['headers'], tlsOnly = false) {
  const enabled = (setting: string): boolean => setting === TLS_ONLY && tlsOnly;
  return { headers, app: { enabled } } as Request;
}

function refusal(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the session cookie', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['billing_session=', ''],
    ['billing_session=abc', 'abc'],
    ['theme=dark; billing_session=abc; x=y', 'abc'],
    ['theme=dark;billing_session=abc', 'abc'],
    ['not_billing_session=abc', null],
    ['__Secure-billing_session=abc', 'abc'],
    ['billing_session=abc; __Secure-billing_session=def', 'def'],
  ])('is read on loopback from %j: %j', (cookie, secret) => {
    const headers = { host: '127.0.0.1:3000', ...(cookie !== undefined && { cookie }) };
    expect(sessionSecretOf(requestWith(headers))).toBe(secret);
  });

  it.each([
    ['billing_session=abc', null],
    ['__Secure-billing_session=abc', 'abc'],
    ['billing_session=abc; __Secure-billing_session=def', 'def'],
  ])('is read elsewhere from %j: %j', (cookie, secret) => {
    const elsewhere = requestWith({ host: 'billing.example.com', cookie });
    expect(sessionSecretOf(elsewhere)).toBe(secret);
    const proxied = requestWith({ host: '127.0.0.1:3000', cookie }, true);
    expect(sessionSecretOf(proxied)).toBe(secret);
  });

  it.each([
    [{ origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }, false],
    [{ origin: 'http://localhost:3000', host: 'localhost:3000' }, false],
    [{ origin: 'http://[::1]:3000', host: '[::1]:3000' }, false],
    [{ host: '127.0.0.1:3000' }, false],
    [{ origin: 'https://localhost:3000', host: 'localhost:3000' }, true],
    [{ origin: 'https://billing.example.com', host: '127.0.0.1:3000' }, true],
    [{ origin: 'http://billing.example.com', host: 'billing.example.com' }, true],
    [{ origin: 'null', host: '127.0.0.1:3000' }, true],
    [{ host: 'billing.example.com' }, true],
    [{}, true],
  ])('of a page with %j is secure: %s', (headers, secure) => {
    expect(needsSecureCookie(requestWith(headers))).toBe(secure);
    expect(needsSecureCookie(requestWith(headers, true))).toBe(true);
  });
});

describe('a request with a session cookie', () => {
  const token = csrfTokenOf('secret');

  it.each([
    ['GET', undefined, undefined, true],
    ['GET', 'same-origin', undefined, true],
    ['GET', 'none', undefined, true],
    ['GET', 'same-site', undefined, false],
    ['GET', 'cross-site', token, false],
    ['HEAD', undefined, undefined, true],
    ['POST', 'same-origin', token, true],
    ['DELETE', 'same-origin', token, true],
    ['POST', undefined, token, false],
    ['POST', 'none', token, false],
    ['POST', 'same-site', token, false],
    ['POST', 'cross-site', token, false],
    ['POST', 'same-origin', undefined, false],
    ['POST', 'same-origin', csrfTokenOf('other'), false],
    ['PATCH', 'same-origin', '', false],
  ])('%s from %s with the token %s is answered: %s', (method, site, csrf, answered) => {
    const headers = { 'sec-fetch-site': site, 'x-csrf-token': csrf };
    const request = { method, headers } as unknown as Request;
    const error = refusal(() => refuseCrossSiteRequest(request, 'secret'));
    if (answered) expect(error).toBeNull();
    else expect(error).toMatch(/^cross_site_request/);
  });

  it.each([
    [undefined, true],
    ['same-origin', true],
    ['none', false],
    ['same-site', false],
    ['cross-site', false],
  ])('that signs in from %s is answered: %s', (site, answered) => {
    const request = { headers: { 'sec-fetch-site': site } } as unknown as Request;
    expect(refusal(() => refuseCrossSiteSignIn(request)) === null).toBe(answered);
  });
});
