import { Module } from '@nestjs/common';
import { StudioModule } from '../studio';
import { AdminSecondFactorsController } from './admin-second-factors.controller';
import { ExpiredSessions } from './expired-sessions';
import { OpenIdProvider } from './openid/openid-provider';
import { OpenIdSignIn } from './openid/openid-sign-in.service';
import { OpenIdController } from './openid/openid.controller';
import { OwnSecondFactorService } from './own-second-factor.service';
import { SecondFactorsRepository } from './second-factors.repository';
import { SecondFactorsService } from './second-factors.service';
import { SecondFactorController } from './second-factor.controller';
import { SessionController } from './session.controller';
import { SessionVerifier } from './session-verifier';
import { SessionsController } from './sessions.controller';
import { SessionsRepository } from './sessions.repository';
import { SessionsService } from './sessions.service';
import { SignInAttemptsRepository } from './sign-in-attempts.repository';
import { SignInLimit } from './sign-in-limit';
import { SignInService } from './sign-in.service';

@Module({
  imports: [StudioModule],
  controllers: [
    AdminSecondFactorsController,
    OpenIdController,
    SecondFactorController,
    SessionController,
    SessionsController,
  ],
  providers: [
    ExpiredSessions,
    OpenIdProvider,
    OpenIdSignIn,
    OwnSecondFactorService,
    SecondFactorsRepository,
    SecondFactorsService,
    SessionVerifier,
    SessionsRepository,
    SessionsService,
    SignInAttemptsRepository,
    SignInLimit,
    SignInService,
  ],
  exports: [SecondFactorsService],
})
export class SessionsModule {}
