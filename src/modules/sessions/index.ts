export { SessionVerifier } from './session-verifier';
export { SessionsModule } from './sessions.module';
