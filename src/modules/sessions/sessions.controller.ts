import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { SessionDto, toSessionDto } from './dto/session.dto';
import { sessionNotFound } from './sessions.errors';
import { SessionsService } from './sessions.service';

const sessionId = new IdPipe('sess', sessionNotFound);

@ApiTags('Sessions')
@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Get()
  @Operation({
    summary: 'List sessions',
    description:
      'Returns the sessions of all admins to callers with `studio:read`, and their own to other admins. Newest first; ended ' +
      'sessions are kept for a month.',
    access: 'sessions:read',
    answer: pageOf(SessionDto),
  })
  async listSessions(
    @Query() query: ListQueryDto,
    @Caller() caller: Principal,
  ): Promise<PageDto<SessionDto>> {
    return toPageDto(await this.sessions.list(caller, toPageRequest(query, 'sess')), toSessionDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Revoke a session',
    description:
      'Ends a session at once, in every process. Admins can end their own sessions; those of others need `studio:write`.',
    access: 'sessions:write',
    problems: [sessionNotFound],
  })
  async revokeSession(
    @Param('id', sessionId) id: string,
    @Caller() caller: Principal,
  ): Promise<void> {
    await this.sessions.revoke(id, caller);
  }
}
