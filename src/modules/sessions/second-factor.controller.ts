import { Body, Controller, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Caller, type Principal, sessionSecretOf } from '../../platform/access';
import { Operation } from '../../platform/http';
import { tooManySignIns } from '../studio';
import {
  SecondFactorCodeDto,
  TotpCodeDto,
  toSecondFactorCode,
  toTotpCode,
} from './dto/second-factor-code.dto';
import {
  RecoveryCodesDto,
  SecondFactorDto,
  SecondFactorEnrolmentDto,
  toEnrolmentDto,
  toRecoveryCodesDto,
  toSecondFactorDto,
} from './dto/second-factor.dto';
import { OwnSecondFactorService } from './own-second-factor.service';
import { SecondFactorsService } from './second-factors.service';
import {
  adminSessionRequired,
  secondFactorEnabled,
  secondFactorFailed,
  secondFactorNotFound,
} from './sessions.errors';
import { type CurrentSession, SessionsService } from './sessions.service';

@ApiTags('Sessions')
@Controller('v1/second-factor')
export class SecondFactorController {
  constructor(
    private readonly secondFactors: SecondFactorsService,
    private readonly own: OwnSecondFactorService,
    private readonly sessions: SessionsService,
  ) {}

  @Post()
  @Operation({
    summary: 'Begin to enrol a second factor',
    description:
      'Returns a secret for an authenticator app, in this answer only. The factor has no effect until it is confirmed. ' +
      'Beginning again replaces an unconfirmed one.',
    access: 'sessions:write',
    status: 201,
    answer: SecondFactorEnrolmentDto,
    reads: 'body',
    problems: [adminSessionRequired, secondFactorEnabled],
  })
  async beginSecondFactor(
    @Req() request: Request,
    @Caller() caller: Principal,
  ): Promise<SecondFactorEnrolmentDto> {
    const { admin } = await this.currentOf(request, caller);
    return toEnrolmentDto(await this.secondFactors.begin(admin));
  }

  @Get()
  @Operation({
    summary: 'Read your second factor',
    description: 'Returns when it was enabled and how many recovery codes are left.',
    access: 'sessions:read',
    answer: SecondFactorDto,
    problems: [adminSessionRequired, secondFactorNotFound],
  })
  async getSecondFactor(
    @Req() request: Request,
    @Caller() caller: Principal,
  ): Promise<SecondFactorDto> {
    const { admin } = await this.currentOf(request, caller);
    return toSecondFactorDto(await this.secondFactors.get(admin.id));
  }

  @Post('confirm')
  @Operation({
    summary: 'Confirm the second factor',
    description:
      'Enables the factor with a code of the authenticator, and returns ten recovery codes, in this answer only. Ends the other ' +
      'sessions of the admin.',
    access: 'sessions:write',
    answer: RecoveryCodesDto,
    reads: 'body',
    problems: [
      adminSessionRequired,
      secondFactorNotFound,
      secondFactorEnabled,
      secondFactorFailed,
      tooManySignIns,
    ],
  })
  async confirmSecondFactor(
    @Body() body: TotpCodeDto,
    @Req() request: Request,
    @Caller() caller: Principal,
  ): Promise<RecoveryCodesDto> {
    const sender = await this.senderOf(request, caller);
    return toRecoveryCodesDto(await this.own.confirm(sender, toTotpCode(body)));
  }

  @Post('recovery-codes')
  @Operation({
    summary: 'Replace the recovery codes',
    description: 'Returns ten new recovery codes, in this answer only. The old ones expire.',
    access: 'sessions:write',
    answer: RecoveryCodesDto,
    reads: 'body',
    problems: [adminSessionRequired, secondFactorNotFound, secondFactorFailed, tooManySignIns],
  })
  async replaceRecoveryCodes(
    @Body() body: TotpCodeDto,
    @Req() request: Request,
    @Caller() caller: Principal,
  ): Promise<RecoveryCodesDto> {
    const sender = await this.senderOf(request, caller);
    return toRecoveryCodesDto(await this.own.replaceRecoveryCodes(sender, toTotpCode(body)));
  }

  @Post('disable')
  @Operation({
    summary: 'Disable the second factor',
    description:
      'Needs an authenticator code or a recovery code. Ends the other sessions of the admin. Owners can remove the factor of ' +
      'an admin who has neither.',
    access: 'sessions:write',
    reads: 'body',
    problems: [adminSessionRequired, secondFactorNotFound, secondFactorFailed, tooManySignIns],
  })
  async disableSecondFactor(
    @Body() body: SecondFactorCodeDto,
    @Req() request: Request,
    @Caller() caller: Principal,
  ): Promise<void> {
    const code = toSecondFactorCode(body);
    await this.own.disable(await this.senderOf(request, caller), code);
  }

  private currentOf(request: Request, { kind }: Principal): Promise<CurrentSession> {
    if (kind !== 'admin') throw adminSessionRequired();
    return this.sessions.current(sessionSecretOf(request));
  }

  private async senderOf(request: Request, caller: Principal) {
    return { current: await this.currentOf(request, caller), address: request.ip ?? '' };
  }
}
