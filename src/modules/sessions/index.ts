export { isOpenIdCallback } from './openid/openid.controller';
export { SecondFactorsService } from './second-factors.service';
export { SessionVerifier } from './session-verifier';
export { SessionsModule } from './sessions.module';
