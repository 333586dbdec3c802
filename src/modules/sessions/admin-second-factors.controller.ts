import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { scopeNotHeld } from '../../platform/errors';
import { IdPipe, Operation } from '../../platform/http';
import { AdminAccounts, studioAdminNotFound } from '../studio';
import { SecondFactorDto, toSecondFactorDto } from './dto/second-factor.dto';
import { SecondFactorsService } from './second-factors.service';
import { secondFactorNotFound } from './sessions.errors';

const adminId = new IdPipe('admin', studioAdminNotFound);

@ApiTags('Studio')
@Controller('v1/studio/:id/second-factor')
export class AdminSecondFactorsController {
  constructor(
    private readonly secondFactors: SecondFactorsService,
    private readonly admins: AdminAccounts,
  ) {}

  @Get()
  @Operation({
    summary: 'Read the second factor of a studio admin',
    description: 'Returns when it was enabled and how many recovery codes are left.',
    access: 'studio:read',
    answer: SecondFactorDto,
    problems: [studioAdminNotFound, secondFactorNotFound],
  })
  async getAdminSecondFactor(@Param('id', adminId) id: string): Promise<SecondFactorDto> {
    if ((await this.admins.find(id)) === null) throw studioAdminNotFound(id);
    return toSecondFactorDto(await this.secondFactors.get(id));
  }

  @Delete()
  @Operation({
    summary: 'Remove the second factor of a studio admin',
    description:
      'For an admin who has lost the authenticator and the recovery codes. Ends the sessions of the admin at once, in ' +
      'every process. The caller must hold all scopes of the role of the admin.',
    access: 'studio:write',
    problems: [studioAdminNotFound, scopeNotHeld, secondFactorNotFound],
  })
  async removeAdminSecondFactor(
    @Param('id', adminId) id: string,
    @Caller() caller: Principal,
  ): Promise<void> {
    await this.secondFactors.remove(id, caller);
  }
}
