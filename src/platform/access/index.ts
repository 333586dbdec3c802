export { actAsAdmin, actAsCaller, actAsCommand, currentActor, currentCall } from './actor';
export {
  admitEveryone,
  authenticate,
  identifyAfterBody,
  identifyAgain,
  identifyWhileSending,
} from './authenticate';
export type { VerifyCredential } from './authenticate';
export { Caller } from './caller';
export { faultOfChosenSecret } from './chosen-secret';
export { publicRoutes } from './declared-routes';
export { clearFlowCookie, flowCookieOf, setFlowCookie } from './flow-cookie';
export { operationOf } from './operation-name';
export { mayReadCustomer, principalOf, principalWith } from './principal';
export type { Principal } from './principal';
export { RequireAccess, requireHeldScopes, requireScope } from './require-access';
export type { CustomerPlace } from './require-access';
export { hashOf, isSecret, newSecret } from './secret';
export { SECURITY_SCHEMES } from './security-schemes';
export {
  csrfTokenOf,
  refuseCrossSiteSignIn,
  refuseCrossSiteRequest,
  SESSION_COOKIE,
  sessionSecretOf,
  setSessionCookie,
  TLS_ONLY,
} from './session-cookie';
