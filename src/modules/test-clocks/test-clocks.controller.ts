import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor } from '../../platform/errors';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { IdempotentInPhases } from '../../platform/idempotency';
import {
  AdvanceTestClockDto,
  CreateTestClockDto,
  TestClockDto,
  toTestClockDto,
} from './dto/test-clock.dto';
import {
  testClockAdvancing,
  testClockCannotReach,
  testClockFailed,
  testClockNotFound,
} from './test-clocks.errors';
import { TestClocksService } from './test-clocks.service';

const testClockId = new IdPipe('clock', testClockNotFound);

@ApiTags('Test clocks')
@Controller('v1/test-clocks')
export class TestClocksController {
  constructor(private readonly clocks: TestClocksService) {}

  @Post()
  @Operation({
    summary: 'Create a test clock',
    description: 'Customers created with its id live on it: their subscriptions follow its time.',
    status: 201,
    answer: TestClockDto,
    reads: 'post',
  })
  async createTestClock(@Body() body: CreateTestClockDto): Promise<TestClockDto> {
    return toTestClockDto(await this.clocks.create(body.name, new Date(body.now)));
  }

  @Get()
  @Operation({
    summary: 'List test clocks',
    status: 200,
    answer: pageOf(TestClockDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listTestClocks(@Query() query: ListQueryDto): Promise<PageDto<TestClockDto>> {
    return toPageDto(await this.clocks.list(toPageRequest(query, 'clock')), toTestClockDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a test clock',
    status: 200,
    answer: TestClockDto,
    reads: 'path',
    problems: [testClockNotFound],
  })
  async getTestClock(@Param('id', testClockId) id: string): Promise<TestClockDto> {
    return toTestClockDto(await this.clocks.get(id));
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a test clock with all that lives on it',
    description:
      'Its customers go with their subscriptions, invoices, payments and refunds, their part of the books, and the events ' +
      'and deliveries that told of them. Numbers they were given are not given again.',
    status: 204,
    reads: 'path',
    problems: [testClockNotFound, testClockAdvancing],
  })
  async deleteTestClock(@Param('id', testClockId) id: string): Promise<void> {
    await this.clocks.delete(id);
  }

  @Post(':id/advance')
  @IdempotentInPhases()
  @Operation({
    summary: 'Move a test clock forwards',
    description:
      'Runs all that falls due on the way, in due order, with the code that runs by the real clock, and answers when it ' +
      'is done. The same story gives the same amounts, lines and number of events. A call that was cut off is repeated ' +
      'with the same `to`.',
    status: 200,
    answer: TestClockDto,
    reads: 'post',
    problems: [testClockNotFound, testClockCannotReach, testClockAdvancing, testClockFailed],
  })
  async advanceTestClock(
    @Param('id', testClockId) id: string,
    @Body() body: AdvanceTestClockDto,
  ): Promise<TestClockDto> {
    return toTestClockDto(await this.clocks.advance(id, new Date(body.to)));
  }
}
