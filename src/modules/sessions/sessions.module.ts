import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StudioModule } from '../studio';
import { ExpiredSessions } from './expired-sessions';
import { SessionController } from './session.controller';
import { SessionEntity } from './session.entity';
import { SessionVerifier } from './session-verifier';
import { SessionsController } from './sessions.controller';
import { SessionsRepository } from './sessions.repository';
import { SessionsService } from './sessions.service';
import { SignInAttemptEntity } from './sign-in-attempt.entity';
import { SignInAttemptsRepository } from './sign-in-attempts.repository';
import { SignInLimit } from './sign-in-limit';
import { SignInService } from './sign-in.service';

@Module({
  imports: [TypeOrmModule.forFeature([SessionEntity, SignInAttemptEntity]), StudioModule],
  controllers: [SessionController, SessionsController],
  providers: [
    ExpiredSessions,
    SessionVerifier,
    SessionsRepository,
    SessionsService,
    SignInAttemptsRepository,
    SignInLimit,
    SignInService,
  ],
})
export class SessionsModule {}
